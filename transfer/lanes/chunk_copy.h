// SPDX-License-Identifier: Apache-2.0
// One chunk's copy: what it is, the steps that move it, and how it ended.
#pragma once
#include <cstdint>
#include <limits>
#include <string_view>

#include "backends/api/queue.h"
#include "transfer/tier/slot_id.h"

namespace kvroof {

// A lane numbers its copies 1, 2, 3... as they are pushed; 0 is "none".
using CopyNumber = std::uint64_t;

enum class Direction : std::uint8_t { offload, load, fetch };  // fetch: disk to host tier

// How chunks move: by one of the seam's methods straight between cache and tier, or by way of a
// staging buffer on the device, which ops fill or empty, so that what crosses the link is one
// region.
enum class CopyPath : std::uint8_t { dma, batch, kernel, staged };  // the first as in CopyMethod
constexpr std::size_t kCopyPaths = 4;

constexpr std::string_view name(CopyPath path) {
  constexpr std::string_view kNames[] = {"dma", "batch", "kernel", "staged"};
  return kNames[static_cast<std::size_t>(path)];
}

// A copy moves a chunk whole, or one layer of it.
constexpr std::uint32_t kAllLayers = std::numeric_limits<std::uint32_t>::max();

struct ChunkCopy {
  std::uint32_t transfer = 0;  // the engine's open transfer, and which of its chunks
  std::uint32_t chunk = 0;
  std::uint32_t layer = kAllLayers;
  SlotId slot = kNoSlot;
  std::uint32_t first_need = 0, end_need = 0;  // what it must come after, in the transfer's needs
  CopyPath path = CopyPath::dma;
  bool summed = false;   // its bytes are: to be kept with an offload, to be compared with a load
  bool dropped = false;  // it ended while it waited, and only its number is left
};

// Where a lane runs a step: on its copy queue, or on its own compute queue.
enum class Station : std::uint8_t { copies, ops };

// A step is one ticket of a copy, and waits for the step before it.
struct CopyStep {
  Station station = Station::copies;
  bool touches_cache = true;  // the first such step waits for the copy's fences
  bool converts = false;      // quantises or dequantises: at most one step of a copy
  decltype(Work::body) body;
};

// The station of the steps that touch the cache, the same for all of a copy.
constexpr Station cache_station(CopyPath path) {
  return path == CopyPath::staged ? Station::ops : Station::copies;
}

struct LandedCopy {
  ChunkCopy copy;
  CopyNumber number = 0;
  Status status;
  std::uint64_t regions = 0;  // submitted
  Nanos submitted{};
  Interval interval;   // device clock; from submission to reaping where it has no timestamps
  Nanos converting{};  // of the interval, in the step that converts
  bool may_still_land = false;  // given up while it was open: its memory must not be used again
};

}  // namespace kvroof
