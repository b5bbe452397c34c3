// SPDX-License-Identifier: Apache-2.0
// fault_schedules [--count N] [--first SEED] [--threads N]: runs schedules and prints what they
// met. fault_schedules --seed SEED: replays one. Exit code 1 where one is wrong, 2 for bad usage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "tests/schedules/workplace.h"

namespace kvroof::schedules {
namespace {

struct Totals {
  std::mutex lock;
  Outcomes outcomes;
  std::array<std::uint64_t, kFaults> faults{};
  std::uint64_t no_memory = 0, no_queue = 0, wrong = 0;

  void add(std::uint64_t seed, const Verdict& verdict) {
    const std::lock_guard held(lock);
    outcomes += verdict.outcomes;
    for (std::size_t i = 0; i < kFaults; ++i) faults[i] += verdict.faults.of[i];
    no_memory += verdict.faults.no_memory;
    no_queue += verdict.faults.no_queue;
    if (verdict.wrong.empty()) return;
    ++wrong;
    fmt::print("seed {}: {}\n", seed, verdict.wrong);
  }

  void print() const {
    const auto row = [](std::string_view what, std::uint64_t n) {
      fmt::print("  {:<28}{:>12}\n", what, n);
    };
    fmt::print("faults\n");
    for (std::size_t i = 1; i < kFaults; ++i) row(kFaultNames[i], faults[i]);
    row("no memory", no_memory);
    row("no queue", no_queue);
    fmt::print("outcomes\n");
    row("requests served", outcomes.requests);
    row("preemptions", outcomes.preemptions);
    row("blocks loaded, and right", outcomes.blocks_loaded_right);
    row("blocks computed", outcomes.blocks_computed);
    row("chunks failed", outcomes.chunks_failed);
    row("chunks evicted", outcomes.chunks_evicted);
    row("collisions seen", outcomes.chunks_collided);
    row("chunks fetched from disk", outcomes.chunks_fetched);
    row("transfers cancelled", outcomes.cancels);
    row("schedules that lost a lane", outcomes.lanes_lost);
    row("schedules that lost a device", outcomes.devices_lost);
    row("engines not created", outcomes.not_created);
  }
};

int run_many(std::uint64_t first, std::uint64_t count, unsigned threads) {
  Totals totals;
  std::atomic<std::uint64_t> next = first;
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < threads; ++i) {
      workers.emplace_back([&] {
        Workplace workplace;
        for (std::uint64_t seed; (seed = next++) < first + count;) {
          totals.add(seed, workplace.run(seed));
        }
      });
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  totals.print();
  fmt::print("{} schedules in {:.1f} s on {} threads ({:.0f} a second), seeds {} to {}: {} wrong\n",
             count, took.count(), threads, static_cast<double>(count) / took.count(), first,
             first + count - 1, totals.wrong);
  return totals.wrong == 0 ? 0 : 1;
}

void print(const Setting& s) {
  fmt::print("{} blocks a chunk, {}, {}, {}{}{}, {} steps\n", s.engine.blocks_per_chunk,
             name(s.engine.kv.layout), name(s.engine.eviction), name(s.engine.store),
             s.with_disk ? ", disk" : "", s.engine.check_tokens ? ", tokens checked" : "", s.steps);
}

int replay(std::uint64_t seed) {
  print(draw_setting(seed));
  Totals totals;
  const Verdict verdict = Workplace().run(seed);
  totals.add(seed, verdict);
  totals.print();
  if (verdict.wrong.empty()) fmt::print("seed {}: nothing wrong\n", seed);
  return verdict.wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace kvroof::schedules

int main(int argc, char** argv) {
  CLI::App app("Fault schedules for the offload engine: random serving, faults of every kind");
  std::uint64_t count = 100'000, first = 1, seed = 0;
  unsigned threads = 2;
  app.add_option("--count", count, "How many schedules")->check(CLI::PositiveNumber);
  app.add_option("--first", first, "The first one's seed");
  app.add_option("--threads", threads, "How many at once")->check(CLI::Range(1, 256));
  const auto* one = app.add_option("--seed", seed, "Replay this one alone");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return one->count() > 0 ? kvroof::schedules::replay(seed)
                          : kvroof::schedules::run_many(first, count, threads);
}
