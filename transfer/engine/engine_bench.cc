// SPDX-License-Identifier: Apache-2.0
// What the engine costs the CPU, over a device that does nothing at once: key hashing, lookup,
// planning, submitting and reaping. per_block (seconds of CPU) is the figure; a scattered 8B model,
// 16 blocks a chunk, 100 chunks a request.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "backends/conformance/null_device.h"
#include "transfer/engine/engine.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kBlocksPerChunk = 16, kBlockTokens = 16, kChunks = 100, kRequests = 8;
constexpr std::uint32_t kBlocks = kChunks * kBlocksPerChunk;  // of a request

KvLayout llama_8b(Layout layout) {
  return {.layout = layout,
          .dtype = DType::bf16,
          .layers = 32,
          .kv_heads = 8,
          .head_dim = 128,
          .block_tokens = kBlockTokens,
          .blocks = kBlocks * kRequests};
}

template <class T>
T must(Result<T> result) {
  if (!result.ok()) std::abort();
  return std::move(*result);
}

// Requests take turns, so that each offload is new to a tier that holds all but one of them.
struct Bench {
  explicit Bench(Layout layout, bool check_tokens = false)
      : check(check_tokens), device(make_null_device()) {
    const KvLayout kv = llama_8b(layout);
    cache = must(device->allocate({.kind = MemoryKind::device, .bytes = kv.cache_bytes()}));
    compute = must(device->open_queue(QueueKind::compute, Priority::normal));
    EngineConfig config{.kv = kv, .blocks_per_chunk = kBlocksPerChunk};
    config.host_tier_bytes = kv.cache_bytes() / kRequests * (kRequests - 1);
    config.check_tokens = check;
    engine = must(Engine::create(*device, *cache, config));
    blocks.resize(kv.blocks);
    std::iota(blocks.begin(), blocks.end(), 0u);
    std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));
    wrote = {compute.get(),
             must(compute->submit({.fences = {}, .body = Fill{{cache.get(), 0, 1}}}))};
    engine->note_write(blocks, wrote);
    tokens.resize(kBlocks * kBlockTokens);
  }

  std::span<const BlockId> blocks_of(std::uint32_t request) const {
    return std::span(blocks).subspan(std::size_t{request} * kBlocks, kBlocks);
  }

  void hash(std::uint32_t request) {
    tokens[0] = static_cast<std::int32_t>(request);  // another prefix altogether
    chunk_keys(record, tokens, kBlocksPerChunk * kBlockTokens, keys);
    if (check) hasher(tokens, kBlocksPerChunk * kBlockTokens, prefixes);
  }

  ChunkTokens checked() const { return check ? ChunkTokens{tokens, prefixes} : ChunkTokens{}; }

  void offload(std::uint32_t request) {
    hash(request);
    const TransferId id = must(engine->offload(keys, blocks_of(request), {.tokens = checked()}));
    if (must(engine->wait(id, Nanos::max())).bytes == 0) std::abort();
  }

  void load(std::uint32_t request) {
    hash(request);
    if (engine->lookup(keys, checked()) != kChunks) std::abort();
    const TransferId id = must(engine->load(keys, blocks_of(request), {.tokens = checked()}));
    if (must(engine->wait(id, Nanos::max())).bytes == 0) std::abort();
  }

  bool check;
  std::unique_ptr<Device> device;
  std::unique_ptr<Buffer> cache;
  std::unique_ptr<Queue> compute;
  std::unique_ptr<Engine> engine;
  std::vector<BlockId> blocks;
  Point wrote;
  std::vector<std::int32_t> tokens;
  std::vector<ChunkKey> keys;
  std::vector<PrefixHash> prefixes;
  PrefixHasher hasher{CompatibilityRecord{}};
  Digest128 record = digest(CompatibilityRecord{});
};

void count_blocks(benchmark::State& state, double blocks) {
  state.counters["per_block"] = benchmark::Counter(
      blocks, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void bm_hash(benchmark::State& state) {
  Bench bench(Layout::block_first);
  for (auto _ : state) bench.hash(0);
  count_blocks(state, kBlocks);
}

void bm_offload(benchmark::State& state, Layout layout) {
  Bench bench(layout);
  std::uint32_t request = 0;
  for (auto _ : state) bench.offload(request++ % kRequests);
  count_blocks(state, kBlocks);
}

void bm_load(benchmark::State& state, Layout layout) {
  Bench bench(layout);
  for (std::uint32_t request = 0; request < kRequests - 1; ++request) bench.offload(request);
  std::uint32_t request = 0;
  for (auto _ : state) bench.load(request++ % (kRequests - 1));
  count_blocks(state, kBlocks);
}

// A block's whole round: offloaded once, loaded once.
void bm_offload_and_load(benchmark::State& state, Layout layout, bool check_tokens) {
  Bench bench(layout, check_tokens);
  std::uint32_t request = 0;
  for (auto _ : state) {
    bench.offload(request % kRequests);
    bench.load(request % kRequests);
    ++request;
  }
  count_blocks(state, kBlocks);
}

BENCHMARK(bm_hash)->Name("hash");
BENCHMARK_CAPTURE(bm_offload, block_first, Layout::block_first)->Name("offload/block_first");
BENCHMARK_CAPTURE(bm_load, block_first, Layout::block_first)->Name("load/block_first");
BENCHMARK_CAPTURE(bm_offload_and_load, block_first, Layout::block_first, false)
    ->Name("offload+load/block_first");
BENCHMARK_CAPTURE(bm_offload_and_load, check_tokens, Layout::block_first, true)
    ->Name("offload+load+check_tokens/block_first");
BENCHMARK_CAPTURE(bm_offload, layer_first, Layout::layer_first)->Name("offload/layer_first");
BENCHMARK_CAPTURE(bm_load, layer_first, Layout::layer_first)->Name("load/layer_first");
BENCHMARK_CAPTURE(bm_offload_and_load, layer_first, Layout::layer_first, false)
    ->Name("offload+load/layer_first");

}  // namespace
}  // namespace kvroof

BENCHMARK_MAIN();
