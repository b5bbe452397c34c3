// SPDX-License-Identifier: Apache-2.0
#include "transfer/testing/test_rig.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "backends/sim/adapter.h"
#include "backends/sim/test_profile.h"

namespace kvroof {
namespace {

template <class T>
T must(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().text;
  return std::move(*result);
}

std::unique_ptr<Device> open_simulator() {
  DeviceSpec spec;
  spec.adapter = "sim";
  spec.profile_text = sim::test_profile();
  return must(sim::open(spec));
}

}  // namespace

Rig::Rig(const RigConfig& config, Faults faults)
    : device(open_simulator(), std::move(faults)),
      kv{.layout = config.layout,
         .dtype = DType::f32,
         .layers = 2,
         .kv_heads = 2,
         .head_dim = 4,
         .block_tokens = 4,
         .blocks = kBlocks},
      cache(allocate(MemoryKind::device, kv.cache_bytes())),
      seen_(allocate(MemoryKind::pinned, kv.cache_bytes())),
      staging_(allocate(MemoryKind::pinned, kv.cache_bytes())),
      compute(must(device.open_queue(QueueKind::compute, Priority::normal))),
      reader(must(device.open_queue(QueueKind::compute, Priority::normal))),
      writer(must(device.open_queue(QueueKind::compute, Priority::normal))) {
  const std::uint64_t chunk_bytes = kv.block_bytes() * kBlocksPerChunk;
  engine = must(Engine::create(device, *cache,
                               {.kv = kv,
                                .blocks_per_chunk = kBlocksPerChunk,
                                .host_tier_bytes = config.tier_chunks * chunk_bytes,
                                .lane_bytes_in_flight = config.lane_chunks * chunk_bytes,
                                .eviction = config.eviction,
                                .store = config.store,
                                .copy_timeout = config.copy_timeout,
                                .copy = config.copy,
                                .transfer_dtype = config.transfer_dtype,
                                .check_tokens = config.check_tokens,
                                .integrity = config.integrity,
                                .disk = config.disk}));
}

std::unique_ptr<Buffer> Rig::allocate(MemoryKind kind, std::uint64_t bytes) {
  return must(device.allocate({.kind = kind, .bytes = bytes}));
}

Point Rig::fill(std::span<const BlockId> blocks, std::uint8_t value,
                std::span<const Point> fences) {
  Ticket last = 0;
  for (const BlockId block : blocks) {
    for (std::uint32_t i = 0; i < kv.regions_per_block(); ++i) {
      const Span span{cache.get(), kv.region_offset(block, i), kv.region_bytes()};
      last = must(compute->submit({.fences = fences, .body = Fill{span, value}}));
    }
  }
  return {compute.get(), last};
}

Point Rig::hold(Gate gate) {
  return {compute.get(), must(compute->submit({.fences = {}, .body = Hold{gate}}))};
}

Point Rig::read(std::span<const BlockId> blocks, std::span<const Point> fences) {
  Ticket last = 0;
  std::uint64_t at = 0;
  for (const BlockId block : blocks) {
    for (std::uint32_t i = 0; i < kv.regions_per_block(); ++i) {
      const std::uint64_t bytes = kv.region_bytes();
      const Region region{{cache.get(), kv.region_offset(block, i), bytes},
                          {seen_.get(), std::exchange(at, at + bytes), bytes}};
      last = must(reader->submit({.fences = fences, .body = Regions{{&region, 1}}}));
    }
  }
  return {reader.get(), last};
}

std::span<const std::byte> Rig::seen() { return seen_->host(); }

void Rig::write_cache(std::span<const std::byte> bytes) {
  std::memcpy(staging_->host().data(), bytes.data(), bytes.size());
  const Region all{{staging_.get(), 0, bytes.size()}, {cache.get(), 0, bytes.size()}};
  wait({writer.get(), must(writer->submit({.fences = {}, .body = Regions{{&all, 1}}}))});
}

std::vector<std::byte> Rig::read_cache() {
  const std::uint64_t bytes = kv.cache_bytes();
  const Region all{{cache.get(), 0, bytes}, {seen_.get(), 0, bytes}};
  wait({reader.get(), must(reader->submit({.fences = {}, .body = Regions{{&all, 1}}}))});
  const auto host = seen();
  return {host.begin(), host.end()};
}

bool Rig::all_are(std::span<const BlockId> blocks, std::uint8_t value) {
  wait(read(blocks));
  const auto bytes = seen().first(blocks.size() * kv.block_bytes());
  return std::all_of(bytes.begin(), bytes.end(),
                     [&](std::byte byte) { return byte == std::byte{value}; });
}

void Rig::wait(Point point) { EXPECT_TRUE(device.wait_any({&point, 1}, Nanos::max()).ok()); }

void Rig::run() {
  for (;;) {
    EXPECT_TRUE(engine->poll().ok());
    const std::vector<Point> points = engine->open_points();
    if (points.empty() || !device.wait_any(points, Nanos::max()).ok()) return;
  }
}

void Rig::store(std::uint64_t n, std::span<const BlockId> blocks, std::uint8_t value) {
  engine->note_write(blocks, fill(blocks, value));
  const ChunkKey chunk = key(n);
  const TransferId id = must(engine->offload({&chunk, 1}, blocks));
  EXPECT_EQ(must(engine->wait(id, Nanos::max())).failed_chunks, 0u);
}

bool Rig::fetch(std::uint64_t n, std::span<const BlockId> blocks) {
  const ChunkKey chunk = key(n);
  const auto id = engine->load({&chunk, 1}, blocks);
  if (!id.ok()) return false;
  const auto result = engine->wait(*id, Nanos::max());
  return result.ok() && result->status.ok();
}

bool Rig::holds(std::uint64_t n) {
  const ChunkKey chunk = key(n);
  return engine->lookup({&chunk, 1}) == 1;
}

std::vector<ChunkKey> keys(std::uint64_t first, std::uint64_t count) {
  std::vector<ChunkKey> list;
  for (std::uint64_t n = first; n < first + count; ++n) list.push_back(Rig::key(n));
  return list;
}

Blocks range(BlockId first, BlockId count) {
  Blocks blocks(count);
  std::iota(blocks.begin(), blocks.end(), first);
  return blocks;
}

TransferResult finish(Rig& rig, Result<TransferId> id) {
  EXPECT_TRUE(id.ok()) << id.status().text;
  auto result = rig.engine->wait(*id, Nanos::max());
  EXPECT_TRUE(result.ok()) << result.status().text;
  return *result;
}

}  // namespace kvroof
