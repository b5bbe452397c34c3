// SPDX-License-Identifier: Apache-2.0
#include "backends/faults/damage.h"

#include <algorithm>

namespace kvroof::faults {
namespace {

const Span& side(const Region& region) { return region.source; }
const Span& side(const Span& span) { return span; }

void shorten(Region& region, std::uint64_t bytes) {
  region.source.bytes = region.destination.bytes = bytes;
}
void shorten(Span& span, std::uint64_t bytes) { span.bytes = bytes; }

// As many of the first bytes as `draw` says: at least none, at most all but one.
template <class Part>
void cut(std::span<const Part> whole, std::uint64_t draw, std::vector<Part>& kept) {
  std::uint64_t bytes = 0;
  for (const Part& part : whole) bytes += side(part).bytes;
  std::uint64_t left = bytes == 0 ? 0 : draw % bytes;
  for (Part part : whole) {
    if (left == 0) return;
    shorten(part, std::min(left, side(part).bytes));
    left -= side(part).bytes;
    kept.push_back(part);
  }
}

}  // namespace

bool damages(Fault fault) {
  return fault == Fault::failed || fault == Fault::cut_short || fault == Fault::garbled ||
         fault >= Fault::silent_nothing;
}

Body Damage::body(const Body& whole) {
  return std::visit([this](const auto& each) { return change(each); }, whole);
}

Body Damage::change(const Regions& copy) {
  if (garbles() && !copy.list.empty()) {
    const Region& one = copy.list[draw_ % copy.list.size()];
    return Fill{one.destination, static_cast<std::uint8_t>(draw_ >> 32)};
  }
  if (cuts()) cut(copy.list, draw_, regions_);
  return Regions{regions_, copy.method};
}

Body Damage::change(const Fill& fill) const {
  Fill changed = fill;
  if (garbles()) {
    changed.value = static_cast<std::uint8_t>(fill.value + 1 + draw_ % 255);
    return changed;
  }
  changed.span.bytes = draw_ % fill.span.bytes;
  if (!cuts() || changed.span.bytes == 0) return Regions{};
  return changed;
}

Body Damage::change(const ReadFile& file) {
  if (cuts()) cut(file.pieces, draw_, pieces_);
  if (garbles()) pieces_.assign(file.pieces.rbegin(), file.pieces.rend());
  if (pieces_.empty()) return Regions{};
  return ReadFile{file.directory, file.name, pieces_};
}

Body Damage::change(const WriteFile& file) {
  if (fault_ == Fault::silent_short) cut(file.pieces, draw_, pieces_);
  if (fault_ == Fault::silent_garbled) pieces_.assign(file.pieces.rbegin(), file.pieces.rend());
  if (pieces_.empty()) return Regions{};
  return WriteFile{file.directory, file.temporary, file.name, pieces_};
}

}  // namespace kvroof::faults
