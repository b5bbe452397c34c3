// SPDX-License-Identifier: Apache-2.0
// Which path a transfer takes: one for all, or by thresholds of region bytes and number of regions.
#pragma once
#include <cstdint>
#include <vector>

#include "transfer/lanes/chunk_copy.h"

namespace kvroof {

// `path` from this many bytes a region and regions a transfer on, up to the next rule.
struct CopyRule {
  Direction direction = Direction::load;
  std::uint64_t region_bytes = 0, regions = 0;
  CopyPath path = CopyPath::dma;
  bool operator==(const CopyRule&) const = default;
};

class CopyChoice {
 public:
  CopyChoice(CopyPath always) : otherwise_(always) {}  // NOLINT(google-explicit-constructor)

  // Of the rules of its direction, a transfer follows the one with the largest region_bytes that it
  // reaches, and among those with the largest regions that it reaches; where it reaches none, dma.
  explicit CopyChoice(std::vector<CopyRule> rules);

  CopyPath choose(Direction direction, std::uint64_t region_bytes, std::uint64_t regions) const;

  // Whether any transfer in this direction may take `path`.
  bool may_take(Direction direction, CopyPath path) const;

  const std::vector<CopyRule>& rules() const { return rules_; }
  bool operator==(const CopyChoice&) const = default;

 private:
  CopyPath otherwise_ = CopyPath::dma;
  std::vector<CopyRule> rules_;  // by region_bytes, then regions, rising
};

}  // namespace kvroof
