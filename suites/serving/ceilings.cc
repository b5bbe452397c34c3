// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/ceilings.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "suites/harness/seconds.h"
#include "suites/serving/session.h"

namespace kvroof {
namespace {

constexpr int kPasses = 7;                           // the best of; the first warms up
constexpr std::uint32_t kRows = 1024, kSide = 2048;  // 8.6 GFLOP, past the knee of any CPU's curve
constexpr std::uint64_t kRegion = 1ull << 20;
// Of copies that fit in a cache between host and device, and of one that fits in none: the fastest
// is the roof, or small loads would seem faster than the link.
constexpr std::uint64_t kCopied[] = {2ull << 20, 8ull << 20, 32ull << 20, 128ull << 20};
constexpr std::uint64_t kMostCopied = 128ull << 20;
constexpr double kTimeoutMultiple = 100;
constexpr Nanos kLeastTimeout = std::chrono::seconds(30);

Result<double> best_seconds(Device& device, Queue& queue, const Work& work) {
  double best = 1e30;
  for (int pass = 0; pass < kPasses; ++pass) {
    const Nanos begin = device.now();
    if (Status e = run_to_end(device, queue, work); !e.ok()) return e;
    best = std::min(best, seconds(device.now() - begin));
  }
  return best;
}

Result<double> best_gemm(Device& device, DType dtype) {
  auto queue = device.open_queue(QueueKind::compute, Priority::normal);
  if (!queue) return queue.status();
  const std::uint64_t a = std::uint64_t{kRows} * kSide * bytes_of(dtype);
  const std::uint64_t b = std::uint64_t{kSide} * kSide * bytes_of(dtype);
  auto memory = device.allocate({MemoryKind::device, 2 * a + b, -1, true});
  if (!memory) return memory.status();
  Buffer* m = memory->get();
  if (Status e = run_to_end(device, **queue, {{}, Fill{{m, 0, 2 * a + b}, 0}}); !e.ok()) return e;
  const Gemm gemm{{m, 0, a}, {m, a, b}, {m, a + b, a}, kRows, kSide, kSide, dtype, dtype};
  const auto seconds = best_seconds(device, **queue, {{}, Op{gemm}});
  if (!seconds) return seconds.status();
  return 2.0 * kRows * kSide * kSide / *seconds;
}

// The first `bytes` of one buffer to the other's, in regions.
std::vector<Region> regions_of(Buffer* from, Buffer* to, std::uint64_t bytes) {
  std::vector<Region> regions;
  for (std::uint64_t at = 0; at < bytes; at += kRegion) {
    regions.push_back({{from, at, kRegion}, {to, at, kRegion}});
  }
  return regions;
}

Result<double> best_copy(Device& device, QueueKind kind) {
  auto queue = device.open_queue(kind, Priority::normal);
  auto near = device.allocate({MemoryKind::device, kMostCopied, -1, true});
  auto far = device.allocate({MemoryKind::pinned, kMostCopied, -1, true});
  if (!queue) return queue.status();
  if (!near) return near.status();
  if (!far) return far.status();
  Buffer* from = kind == QueueKind::copy_in ? far->get() : near->get();
  Buffer* to = kind == QueueKind::copy_in ? near->get() : far->get();
  double best = 0;
  for (const std::uint64_t bytes : kCopied) {
    const std::vector<Region> regions = regions_of(from, to, bytes);
    const auto seconds = best_seconds(device, **queue, {{}, Regions{regions}});
    if (!seconds) return seconds.status();
    best = std::max(best, static_cast<double>(bytes) / *seconds);
  }
  return best;
}

}  // namespace

Nanos copy_timeout(const Ceilings& roofs, const ModelShape& shape, const SessionSpec& spec) {
  double chunk = 0;
  for (const KvLayout& kv : session_layouts(shape, spec)) {
    chunk = std::max(chunk, static_cast<double>(spec.blocks_per_chunk * kv.block_bytes()));
  }
  const std::uint64_t past =
      spec.sequence_tokens - std::min(spec.sequence_tokens, spec.step_tokens);
  const double step = prefill_flops(shape, past, spec.step_tokens) / roofs.flops;
  const double link = chunk / std::min(roofs.link_in, roofs.link_out);
  return kLeastTimeout + Nanos(std::llround(kTimeoutMultiple * (link + step) * 1e9));
}

Result<Ceilings> find_ceilings(Device& device, DType dtype) {
  const Peaks& peaks = device.info().peaks;
  bool measured = false;
  const auto known_or = [&measured](double peak, auto measure) -> Result<double> {
    if (peak > 0) return peak;
    measured = true;
    return measure();
  };
  const auto flops = known_or(dtype == DType::f32 ? peaks.flops_f32 : peaks.flops_bf16,
                              [&] { return best_gemm(device, dtype); });
  if (!flops) return flops.status();
  const auto in = known_or(peaks.link_in, [&] { return best_copy(device, QueueKind::copy_in); });
  if (!in) return in.status();
  const auto out = known_or(peaks.link_out, [&] { return best_copy(device, QueueKind::copy_out); });
  if (!out) return out.status();
  return Ceilings{*flops, *in, *out, measured};
}

}  // namespace kvroof
