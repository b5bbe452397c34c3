// SPDX-License-Identifier: Apache-2.0
// What the copy lanes reach through the seam, against the best copy of as many threads that this
// process can do without it. Lane and baselines take turns, so that a noisy machine disturbs both.
//   ratio = the least, over the baselines, of the median over the rounds of baseline / lane time;
// the aim is 0.90. The rates beside it are medians of their own.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "backends/host/adapter.h"
#include "backends/host/copy.h"
#include "backends/host/info.h"

namespace kvroof::host {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kPassBytes = 512 * kMiB;
constexpr std::uint64_t kSubmissionBytes = 32 * kMiB;  // a chunk of 16 blocks of 2 MiB
constexpr int kPasses = 15;

double seconds_of(const std::function<void()>& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Threads that stay, each copying one contiguous share: no queue, no slices, no wake-ups but one.
class SharedOut {
 public:
  using Copy = void (*)(std::byte*, const std::byte*, std::uint64_t);

  SharedOut(unsigned threads, std::byte* to, const std::byte* from)
      : share_(kPassBytes / threads / 4096 * 4096), start_(threads + 1), end_(threads + 1) {
    for (unsigned i = 0; i < threads; ++i) {
      const std::uint64_t at = i * share_, bytes = i + 1 < threads ? share_ : kPassBytes - at;
      threads_.emplace_back([=, this] {
        for (start_.arrive_and_wait(); copy_ != nullptr; start_.arrive_and_wait()) {
          copy_(to + at, from + at, bytes);
          end_.arrive_and_wait();
        }
      });
    }
  }
  ~SharedOut() {
    copy_ = nullptr;
    start_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }

  double run(Copy copy) {
    copy_ = copy;
    return seconds_of([this] {
      start_.arrive_and_wait();
      end_.arrive_and_wait();
    });
  }

 private:
  std::uint64_t share_;
  std::barrier<> start_, end_;
  Copy copy_ = nullptr;
  std::vector<std::thread> threads_;
};

void libc_copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  std::memcpy(to, from, bytes);
}

// Pages side by side, which opens more DRAM rows at once than one stream does.
void paged_stream(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  constexpr std::uint64_t kStep = 2048;
  const std::uint64_t half = bytes / 2 / kStep * kStep;
  for (std::uint64_t at = 0; at < half; at += kStep) {
    stream_copy(to + at, from + at, kStep);
    stream_copy(to + half + at, from + half + at, kStep);
  }
  stream_copy(to + 2 * half, from + 2 * half, bytes - 2 * half);
}

struct Rig {
  std::unique_ptr<Device> device;
  std::unique_ptr<Buffer> host, target, memory;
  std::unique_ptr<Queue> lane;

  explicit Rig(QueueKind kind) : device(std::move(*open({"host", "", {}, ""}))) {
    host = std::move(*device->allocate({MemoryKind::pinned, kPassBytes}));
    target = std::move(*device->allocate({MemoryKind::pinned, kPassBytes}));
    memory = std::move(*device->allocate({MemoryKind::device, kPassBytes}));
    lane = std::move(*device->open_queue(kind, Priority::normal));
  }

  double pass(std::uint64_t region_bytes) {
    std::vector<Region> regions;
    Buffer& source = lane->kind() == QueueKind::copy_in ? *host : *memory;
    Buffer& sink = lane->kind() == QueueKind::copy_in ? *memory : *host;
    for (std::uint64_t at = 0; at < kPassBytes; at += region_bytes) {
      regions.push_back({{&source, at, region_bytes}, {&sink, at, region_bytes}});
    }
    const std::uint64_t a_time = std::max<std::uint64_t>(1, kSubmissionBytes / region_bytes);
    return seconds_of([&] {
      Point last{lane.get(), 0};
      for (std::uint64_t i = 0; i < regions.size(); i += a_time) {
        last.ticket = *lane->submit({{}, Regions{std::span(regions).subspan(i, a_time)}});
      }
      (void)*device->wait_any({&last, 1}, Nanos::max());
      std::array<Completion, 512> done;
      (void)*lane->reap(done);
    });
  }
};

void copy_lane(benchmark::State& state, QueueKind kind) {
  Rig rig(kind);
  SharedOut baseline(copy_workers(), rig.target->host().data(), rig.host->host().data());
  constexpr SharedOut::Copy kCopies[] = {stream_copy, paged_stream, libc_copy};
  const auto region_bytes = static_cast<std::uint64_t>(state.range(0)) * kMiB;
  std::vector<double> lane, best(std::size(kCopies));
  double ratio = 0;
  for (auto _ : state) {
    std::vector<std::vector<double>> plain(std::size(kCopies));
    lane.clear();
    for (int pass = 0; pass < kPasses; ++pass) {
      lane.push_back(rig.pass(region_bytes));
      for (std::size_t i = 0; i < plain.size(); ++i) plain[i].push_back(baseline.run(kCopies[i]));
    }
    ratio = 1e9;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      best[i] = median(plain[i]);
      for (int pass = 0; pass < kPasses; ++pass) plain[i][pass] /= lane[pass];
      ratio = std::min(ratio, median(plain[i]));
    }
    state.SetIterationTime(median(lane));
  }
  const auto rate = [](double seconds) { return kPassBytes / seconds / 1e9; };
  state.counters["lane_GBps"] = rate(median(lane));
  state.counters["stream_GBps"] = rate(best[0]);
  state.counters["paged_GBps"] = rate(best[1]);
  state.counters["memcpy_GBps"] = rate(best[2]);
  state.counters["ratio"] = ratio;
}

BENCHMARK_CAPTURE(copy_lane, in, QueueKind::copy_in)
    ->Arg(2)
    ->Arg(8)
    ->Arg(64)
    ->ArgName("region_MiB")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(copy_lane, out, QueueKind::copy_out)
    ->Arg(2)
    ->ArgName("region_MiB")
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kvroof::host

BENCHMARK_MAIN();
