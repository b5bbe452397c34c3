// SPDX-License-Identifier: Apache-2.0
// The simulator's memory: an account of what each kind has left, and buffers with or without bytes.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "backends/api/buffer.h"
#include "backends/api/status.h"
#include "backends/queues/owned_buffer.h"

namespace kvroof::sim {

// Bytes that can still be handed out; outlives the buffers that were taken from it.
class Budget {
 public:
  explicit Budget(std::uint64_t bytes) : left_(bytes) {}

  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { left_ += bytes; }
  std::uint64_t left() const { return left_; }

 private:
  std::atomic<std::uint64_t> left_;
};

class SimBuffer final : public queues::OwnedBuffer {
 public:
  // Backed contents start zeroed. `owner` is the device, to tell its buffers from others'.
  static Result<std::unique_ptr<Buffer>> create(const void* owner, Budget& budget,
                                                const BufferSpec& spec);
  static std::unique_ptr<Buffer> adopt(const void* owner, void* host, std::uint64_t bytes);

  ~SimBuffer() override;
  SimBuffer(const SimBuffer&) = delete;
  SimBuffer& operator=(const SimBuffer&) = delete;

  const BufferFacts& facts() const noexcept override { return facts_; }
  std::span<std::byte> host() noexcept override;

  // The bytes behind any kind of buffer, for landing; empty where nothing backs it.
  std::span<std::byte> contents();

 private:
  SimBuffer(const void* owner, Budget* budget, const BufferFacts& facts, std::byte* memory)
      : OwnedBuffer(owner), budget_(budget), facts_(facts), memory_(memory) {}

  Budget* budget_;  // null: adopted, so that neither the bytes nor their account are ours
  BufferFacts facts_;
  std::byte* memory_;  // null where nothing backs it
};

}  // namespace kvroof::sim
