// SPDX-License-Identifier: Apache-2.0
// How long the engine takes for one offload and one load of a given shape, path by path, on the
// device's own clock.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/api/device.h"
#include "transfer/engine/engine.h"

namespace kvroof {

// Of one transfer: whole chunks of a cache, none of whose blocks is its neighbour's next.
struct TransferShape {
  KvLayout kv;
  std::uint32_t blocks_per_chunk = 16, chunks = 1;
  bool backed = true;

  std::uint32_t blocks() const { return blocks_per_chunk * chunks; }
  std::uint64_t regions() const { return std::uint64_t{kv.regions_per_block()} * blocks(); }
  std::uint64_t bytes() const { return kv.block_bytes() * blocks(); }
};

// By CopyPath. Seconds from the request to its end, one a pass, in the same order for all; a path
// without any has its reason in `unavailable`.
struct PathTimes {
  std::array<std::vector<double>, kCopyPaths> offload, load;
  std::array<std::string, kCopyPaths> unavailable;

  const std::array<std::vector<double>, kCopyPaths>& of(Direction direction) const {
    return direction == Direction::offload ? offload : load;
  }
};

// Why the device does not copy so; empty where it may. Staged copies cross the link by dma.
std::string why_not_copied(const DeviceInfo& info, CopyPath path);

// `passes` of each path that the device has, in turn, so that what slows the machine meets all; on
// a real clock one more goes before, and is not counted. Virtual time repeats itself: one pass.
// `cache` holds shape.kv, nothing else uses it, and its contents are lost. What a path is not able
// to do, or has no memory for, is its reason; any other failure is the answer.
Result<PathTimes> time_paths(Device& device, Buffer& cache, const TransferShape& shape,
                             std::uint32_t passes);

// The middle of what was timed, which must not be empty.
double median_seconds(std::vector<double> seconds);

// The path with the least median in one direction, the first of equals; empty where none was timed.
std::optional<CopyPath> fastest(const PathTimes& times, Direction direction);

}  // namespace kvroof
