// SPDX-License-Identifier: Apache-2.0
// Look-ups in a full tier of a million chunks, each a hit: the index, then the policy.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "transfer/eviction/policy.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kChunks = 1'000'000;

ChunkKey key_of(std::uint64_t id) {
  std::mt19937_64 random(id);
  return {random(), random()};
}

void look_up(benchmark::State& state, Eviction eviction) {
  const auto policy = make_policy(eviction, kChunks);
  ChunkIndex index(kChunks);
  std::vector<ChunkKey> keys;
  for (SlotId slot = 0; slot < kChunks; ++slot) {
    keys.push_back(key_of(slot));
    index.insert(keys.back(), slot);
    policy->insert(slot, keys.back());
  }
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(1));
  std::size_t next = 0;
  for (auto _ : state) {
    policy->hit(index.find(keys[next]));
    next = next + 1 == keys.size() ? 0 : next + 1;
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(look_up, lru, Eviction::lru);
BENCHMARK_CAPTURE(look_up, arc, Eviction::arc);
BENCHMARK_CAPTURE(look_up, s3fifo, Eviction::s3fifo);

}  // namespace
}  // namespace kvroof

BENCHMARK_MAIN();
