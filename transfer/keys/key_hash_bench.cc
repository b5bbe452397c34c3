// SPDX-License-Identifier: Apache-2.0
// What keys cost the CPU, by hash: per_block (seconds) of 16 tokens, 16 blocks a chunk, 100 chunks.
#include <benchmark/benchmark.h>

#include <numeric>

#include "transfer/keys/chunk_key.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kBlockTokens = 16, kBlocksPerChunk = 16, kChunks = 100;

void bm_keys(benchmark::State& state, const KeyHash& hash) {
  std::vector<std::int32_t> tokens(kChunks * kBlocksPerChunk * kBlockTokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  const Digest128 root = digest({}, hash);
  std::vector<ChunkKey> keys;
  for (auto _ : state) {
    ++tokens[0];
    chunk_keys(root, tokens, kBlocksPerChunk * kBlockTokens, keys, hash);
    benchmark::DoNotOptimize(keys.data());
  }
  state.counters["per_block"] =
      benchmark::Counter(kChunks * kBlocksPerChunk, benchmark::Counter::kIsIterationInvariantRate |
                                                        benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(bm_keys, xxh3, KeyHash())->Name("keys/xxh3");
BENCHMARK_CAPTURE(bm_keys, siphash, KeyHash(HashSecret{}))->Name("keys/siphash");

}  // namespace
}  // namespace kvroof

BENCHMARK_MAIN();
