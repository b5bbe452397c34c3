// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/copy_choice.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kvroof {

CopyChoice::CopyChoice(std::vector<CopyRule> rules) : rules_(std::move(rules)) {
  std::stable_sort(rules_.begin(), rules_.end(), [](const CopyRule& a, const CopyRule& b) {
    return std::tie(a.region_bytes, a.regions) < std::tie(b.region_bytes, b.regions);
  });
}

CopyPath CopyChoice::choose(Direction direction, std::uint64_t region_bytes,
                            std::uint64_t regions) const {
  CopyPath chosen = otherwise_;
  for (const CopyRule& rule : rules_) {
    const bool reached = rule.region_bytes <= region_bytes && rule.regions <= regions;
    if (rule.direction == direction && reached) chosen = rule.path;
  }
  return chosen;
}

bool CopyChoice::may_take(Direction direction, CopyPath path) const {
  if (otherwise_ == path) return true;
  return std::any_of(rules_.begin(), rules_.end(), [&](const CopyRule& rule) {
    return rule.direction == direction && rule.path == path;
  });
}

}  // namespace kvroof
