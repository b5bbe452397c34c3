// SPDX-License-Identifier: Apache-2.0
// Look-ups a second in a full host tier of a million chunks, each a hit, by requests of 128 keys in
// random places: `lookup` alone, and `lookup+use`, which also takes and gives back a reference to
// each chunk, so that the policy hears of the hit. `replace` stores chunks that are new instead,
// each of which evicts another.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "backends/conformance/null_device.h"
#include "transfer/tier/host_tier.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kChunks = 1'000'000;
constexpr std::uint64_t kChunkBytes = 4096;  // which nobody touches
constexpr std::size_t kRequest = 128;        // 32K tokens in chunks of 256

struct Bench {
  explicit Bench(Eviction eviction) : tier(make(*device, eviction)) {
    std::mt19937_64 random(1);
    while (keys.size() < kChunks) {
      keys.push_back({random(), random()});
      store(keys.back());
    }
    std::shuffle(keys.begin(), keys.end(), random);
  }

  static HostTier make(Device& device, Eviction eviction) {
    auto tier = HostTier::create(device, {.chunk_bytes = kChunkBytes,
                                          .bytes = kChunks * kChunkBytes,
                                          .backed = false,
                                          .eviction = eviction});
    if (!tier.ok()) std::abort();
    return std::move(*tier);
  }

  void store(const ChunkKey& key) {
    const SlotId slot = tier.reserve(key);
    if (slot == kNoSlot) std::abort();
    tier.commit(slot);
    tier.release(slot);
  }

  std::span<const ChunkKey> next_request() {
    if (at + kRequest > keys.size()) at = 0;
    return std::span(keys).subspan(std::exchange(at, at + kRequest), kRequest);
  }

  std::unique_ptr<Device> device = make_null_device();
  HostTier tier;
  std::vector<ChunkKey> keys;
  std::size_t at = 0;
};

void lookup(benchmark::State& state, Eviction eviction) {
  Bench bench(eviction);
  for (auto _ : state) {
    if (bench.tier.lookup(bench.next_request()) != kRequest) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRequest));
}

void lookup_and_use(benchmark::State& state, Eviction eviction) {
  Bench bench(eviction);
  std::vector<SlotId> slots(kRequest);
  for (auto _ : state) {
    if (bench.tier.lookup(bench.next_request(), slots) != kRequest) std::abort();
    for (const SlotId slot : slots) bench.tier.acquire(slot);
    std::reverse(slots.begin(), slots.end());  // of a prefix, the end goes first
    bench.tier.release(slots);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRequest));
}

void replace(benchmark::State& state, Eviction eviction) {
  Bench bench(eviction);
  std::mt19937_64 random(2);
  for (auto _ : state) bench.store({random(), random()});
  state.SetItemsProcessed(state.iterations());
}

struct Kind {
  const char* name;
  void (*run)(benchmark::State& state, Eviction eviction);
};
constexpr Kind kKinds[] = {
    {"lookup", lookup}, {"lookup+use", lookup_and_use}, {"replace", replace}};

const bool kRegistered = [] {
  for (const Eviction eviction : {Eviction::lru, Eviction::arc, Eviction::s3fifo}) {
    for (const Kind& kind : kKinds) {
      const std::string full = std::string(kind.name) + "/" + std::string(name(eviction));
      benchmark::RegisterBenchmark(full.c_str(), kind.run, eviction);
    }
  }
  return true;
}();

}  // namespace
}  // namespace kvroof

BENCHMARK_MAIN();
