// SPDX-License-Identifier: Apache-2.0
// A model set up on a device: weights, paged KV cache, offload engine and the lanes between them.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "backends/api/device.h"
#include "kernels/prefill/prefill.h"
#include "transfer/compatibility.h"
#include "transfer/engine.h"

namespace kvroof {

struct SessionSpec {
  DType dtype = DType::bf16;
  Layout layout = Layout::block_first;
  std::uint32_t block_tokens = 16, blocks = 0, blocks_per_chunk = 16;
  std::uint64_t host_tier_bytes = 0;
  std::uint32_t step_tokens = 8192;
  std::uint64_t seed = 1;
  bool backed = true;  // contents of KV exist; false only on a simulator with data off

  bool operator==(const SessionSpec&) const = default;
};

// Members are public: a session is a set of parts with one lifetime, destroyed last to first.
struct Session {
  Device& device;
  ModelShape shape;
  SessionSpec spec;
  KvLayout kv;
  std::unique_ptr<Buffer> cache;
  std::unique_ptr<Prefill> prefill;
  std::unique_ptr<Buffer> staging;  // pinned, for write_device and read_device
  std::unique_ptr<Queue> upload, download, scratch, cpu;  // copy_in, copy_out, compute, host
  std::unique_ptr<Engine> engine;

  static Result<std::unique_ptr<Session>> create(Device& device, const ModelShape& shape,
                                                 const SessionSpec& spec);
};

// Why a session of this size can't be had, or ok: the KV budget is 0.9 of the device's memory less
// weights, activations and what requests take (RequestBatch::device_bytes).
Status fits(const DeviceInfo& info, const ModelShape& shape, const SessionSpec& spec,
            std::uint64_t request_bytes);

// Submits one piece of work and waits for it; the lane must hold nothing else.
Status run_to_end(Device& device, Queue& queue, const Work& work);

// Reaps what has completed and returns the first failure among it.
Status drain(Queue& queue);

// Copies by way of the session's staging buffer, piece by piece; the device side must be backed.
Status write_device(Session& session, Span to, std::span<const std::byte> from);
Status read_device(Session& session, std::span<std::byte> to, Span from);

}  // namespace kvroof
