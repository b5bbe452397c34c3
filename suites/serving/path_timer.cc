// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/path_timer.h"

#include <algorithm>
#include <utility>

#include "suites/harness/seconds.h"

namespace kvroof {
namespace {

constexpr std::array kPaths = {CopyPath::dma, CopyPath::batch, CopyPath::kernel, CopyPath::staged};
static_assert(kPaths.size() == kCopyPaths);

std::size_t at(CopyPath path) { return static_cast<std::size_t>(path); }

// A path that this device or its memory has no room for is no failure of the run.
bool is_reason(const Status& status) {
  return status.code == Code::unsupported || status.code == Code::no_memory;
}

// Odd blocks, then even ones: neighbours would cross as one region.
std::vector<BlockId> scattered(std::uint32_t blocks) {
  std::vector<BlockId> ids;
  for (const std::uint32_t first : {1u, 0u}) {
    for (std::uint32_t block = first; block < blocks; block += 2) ids.push_back(block);
  }
  return ids;
}

EngineConfig engine_config(const TransferShape& shape, CopyPath path) {
  EngineConfig config;
  config.kv = shape.kv;
  config.blocks_per_chunk = shape.blocks_per_chunk;
  config.host_tier_bytes = shape.bytes();
  config.copy = path;
  config.backed = shape.backed;
  return config;
}

// One path's engine, and what is asked of it.
class PathTimer {
 public:
  PathTimer(Device& device, const TransferShape& shape, std::unique_ptr<Engine> engine)
      : device_(device),
        blocks_(scattered(shape.blocks())),
        keys_(shape.chunks),
        engine_(std::move(engine)) {}

  struct Pass {
    double offload = 0, load = 0;  // seconds
  };

  // Under keys that the tier does not hold.
  Result<Pass> run() {
    ++passes_;
    for (std::uint32_t chunk = 0; chunk < keys_.size(); ++chunk) keys_[chunk] = {chunk, passes_};
    const auto offload = time([&] { return engine_->offload(keys_, blocks_); });
    if (!offload) return offload.status();
    const auto load = time([&] { return engine_->load(keys_, blocks_); });
    if (!load) return load.status();
    return Pass{*offload, *load};
  }

 private:
  template <class Ask>
  Result<double> time(Ask ask) {
    const Nanos begin = device_.now();
    const Result<TransferId> id = ask();
    if (!id) return id.status();
    const auto ended = engine_->wait(*id, Nanos::max());
    if (!ended) return ended.status();
    if (!ended->status.ok()) return ended->status;
    return seconds(device_.now() - begin);
  }

  Device& device_;
  std::vector<BlockId> blocks_;
  std::vector<ChunkKey> keys_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t passes_ = 0;
};

using Timers = std::array<std::unique_ptr<PathTimer>, kCopyPaths>;

Status open(Device& device, Buffer& cache, const TransferShape& shape, CopyPath path,
            Timers& timers) {
  const std::string why = why_not_copied(device.info(), path);
  if (!why.empty()) return {Code::unsupported, why};
  auto engine = Engine::create(device, cache, engine_config(shape, path));
  if (!engine) return engine.status();
  timers[at(path)] = std::make_unique<PathTimer>(device, shape, std::move(*engine));
  return {};
}

Status run_pass(Timers& timers, CopyPath path, bool counted, PathTimes& times) {
  if (!timers[at(path)]) return {};
  const auto pass = timers[at(path)]->run();
  if (!pass) {
    timers[at(path)].reset();
    return pass.status();
  }
  if (!counted) return {};
  times.offload[at(path)].push_back(pass->offload);
  times.load[at(path)].push_back(pass->load);
  return {};
}

// Takes a path out whose failure is a reason, and passes on any other.
Status put_down(const Status& status, CopyPath path, PathTimes& times) {
  if (!is_reason(status)) return status;
  times.unavailable[at(path)] = status.text;
  times.offload[at(path)].clear();
  times.load[at(path)].clear();
  return {};
}

}  // namespace

std::string why_not_copied(const DeviceInfo& info, CopyPath path) {
  const CopyPath crosses = path == CopyPath::staged ? CopyPath::dma : path;
  return info.copy_unavailable[at(crosses)];
}

Result<PathTimes> time_paths(Device& device, Buffer& cache, const TransferShape& shape,
                             std::uint32_t passes) {
  PathTimes times;
  Timers timers;
  for (const CopyPath path : kPaths) {
    const Status opened = open(device, cache, shape, path, timers);
    if (Status e = put_down(opened, path, times); !e.ok()) return e;
  }
  const std::uint32_t warm_ups = device.info().virtual_time ? 0 : 1;
  const std::uint32_t counted = device.info().virtual_time ? 1 : passes;
  for (std::uint32_t pass = 0; pass < warm_ups + counted; ++pass) {
    for (const CopyPath path : kPaths) {
      const Status done = run_pass(timers, path, pass >= warm_ups, times);
      if (Status e = put_down(done, path, times); !e.ok()) return e;
    }
  }
  return times;
}

double median_seconds(std::vector<double> seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

std::optional<CopyPath> fastest(const PathTimes& times, Direction direction) {
  std::optional<CopyPath> best;
  double least = 0;
  for (const CopyPath path : kPaths) {
    const std::vector<double>& seen = times.of(direction)[at(path)];
    if (seen.empty()) continue;
    const double seconds = median_seconds(seen);
    if (best && seconds >= least) continue;
    best = path;
    least = seconds;
  }
  return best;
}

}  // namespace kvroof
