// SPDX-License-Identifier: Apache-2.0
// Tests only: a disk tier over a directory of its own, and the disk queues of the CPU host that
// write and read its files.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "backends/conformance/scratch.h"
#include "backends/host/adapter.h"
#include "backends/registry/device_spec.h"
#include "transfer/disk/disk_tier.h"

namespace kvroof {

class DiskRig {
 public:
  static constexpr std::uint64_t kChunk = 2 * 4096, kFile = kChunkHeaderBytes + kChunk;

  DiskRig()
      : device_(std::move(*host::open({"host", "", {}, ""}))),
        header_(std::move(*device_->allocate({MemoryKind::pinned, kChunkHeaderBytes}))),
        data_(std::move(*device_->allocate({MemoryKind::pinned, kChunk}))),
        writes_(std::move(*device_->open_queue(QueueKind::disk_write, Priority::normal))),
        reads_(std::move(*device_->open_queue(QueueKind::disk_read, Priority::normal))) {}

  DiskTierConfig config(std::uint64_t files = 8) const {
    return {.path = scratch.path().string(),
            .bytes = files * kFile,
            .chunk_bytes = kChunk,
            .record = {7, 8}};
  }
  DiskTier open(std::uint64_t files = 8) const { return open(config(files)); }
  static DiskTier open(const DiskTierConfig& config) {
    auto tier = DiskTier::open(config);
    EXPECT_TRUE(tier.ok()) << tier.status().text;
    return std::move(*tier);
  }

  static ChunkKey key(std::uint64_t n) { return {n * 0x9e3779b97f4a7c15, n}; }
  std::filesystem::path file(std::uint64_t n) const { return scratch / chunk_file_name(key(n)); }

  // Writes key(n)'s chunk, every byte of it `n`, after what has to go first.
  Status write(DiskTier& tier, std::uint64_t n) {
    const auto write = tier.begin_write(key(n));
    if (!write) return {Code::busy, "refused"};
    return finish(tier, n, *write);
  }
  Status finish(DiskTier& tier, std::uint64_t n, const DiskWrite& write) {
    std::ranges::fill(data_->host(), static_cast<std::byte>(n));
    tier.write_header(write, 0, data_->host(), header_->host());
    remove(tier);
    const Status ended = run(*writes_, {.fences = {}, .body = tier.body(write, pieces())});
    tier.end_write(write, ended);
    return ended;
  }

  // Reads it and checks that its bytes are those.
  Status read(DiskTier& tier, std::uint64_t n) {
    const auto read = tier.begin_read(key(n));
    if (!read) return {Code::failed, "not there"};
    const Status status = finish(tier, *read);
    if (status.ok()) {
      EXPECT_TRUE(std::ranges::all_of(data_->host(), [n](std::byte byte) {
        return byte == static_cast<std::byte>(n);
      })) << n;
    }
    return status;
  }
  Status finish(DiskTier& tier, const DiskRead& read) {
    std::ranges::fill(data_->host(), std::byte{});
    const Status ended = run(*reads_, {.fences = {}, .body = tier.body(read, pieces())});
    const Status status = tier.end_read(read, ended, header_->host(), data_->host());
    remove(tier);
    return status;
  }

  void remove(DiskTier& tier) {
    for (const std::string& name : tier.take_removals()) {
      EXPECT_TRUE(run(*writes_, {.fences = {}, .body = tier.body(name)}).ok()) << name;
    }
  }

  const conformance::Scratch scratch;

 private:
  std::array<Span, 2> pieces() const {
    return {Span{header_.get(), 0, kChunkHeaderBytes}, Span{data_.get(), 0, kChunk}};
  }

  Status run(Queue& queue, const Work& work) {
    const auto ticket = queue.submit(work);
    if (!ticket) return ticket.status();
    const Point point{&queue, *ticket};
    Completion done;
    EXPECT_TRUE(device_->wait_any({&point, 1}, Nanos::max()).ok());
    EXPECT_EQ(*queue.reap({&done, 1}), 1u);
    return done.status;
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Buffer> header_, data_;
  std::unique_ptr<Queue> writes_, reads_;
};

}  // namespace kvroof
