// SPDX-License-Identifier: Apache-2.0
#include "backends/faults/damage.h"

#include <algorithm>

namespace kvroof::faults {
namespace {

bool cuts(Fault fault) { return fault == Fault::cut_short || fault == Fault::silent_short; }
bool garbles(Fault fault) { return fault == Fault::garbled || fault == Fault::silent_garbled; }

// As many of the first bytes as `draw` says: at least none, at most all but one.
void cut(std::span<const Region> list, std::uint64_t draw, std::vector<Region>& kept) {
  std::uint64_t bytes = 0;
  for (const Region& region : list) bytes += region.source.bytes;
  std::uint64_t left = bytes == 0 ? 0 : draw % bytes;
  for (Region region : list) {
    if (left == 0) break;
    region.source.bytes = region.destination.bytes = std::min(left, region.source.bytes);
    left -= region.source.bytes;
    kept.push_back(region);
  }
}

Body damaged(const Regions& copy, Fault fault, std::uint64_t draw, std::vector<Region>& regions) {
  if (garbles(fault) && !copy.list.empty()) {
    const Region& one = copy.list[draw % copy.list.size()];
    return Fill{one.destination, static_cast<std::uint8_t>(draw >> 32)};
  }
  if (cuts(fault)) cut(copy.list, draw, regions);
  return Regions{regions, copy.method};
}

Body damaged(const Fill& fill, Fault fault, std::uint64_t draw) {
  Fill changed = fill;
  if (garbles(fault)) {
    changed.value = static_cast<std::uint8_t>(fill.value + 1 + draw % 255);
    return changed;
  }
  changed.span.bytes = draw % fill.span.bytes;
  if (!cuts(fault) || changed.span.bytes == 0) return Regions{};
  return changed;
}

}  // namespace

bool damages(Fault fault) {
  return fault == Fault::failed || fault == Fault::cut_short || fault == Fault::garbled ||
         fault >= Fault::silent_nothing;
}

Body damaged(const Body& body, Fault fault, std::uint64_t draw, std::vector<Region>& regions) {
  regions.clear();
  if (const auto* copy = std::get_if<Regions>(&body)) return damaged(*copy, fault, draw, regions);
  if (const auto* fill = std::get_if<Fill>(&body)) return damaged(*fill, fault, draw);
  if (std::holds_alternative<Hold>(body)) return body;
  return Regions{};
}

}  // namespace kvroof::faults
