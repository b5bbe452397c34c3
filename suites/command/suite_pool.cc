// SPDX-License-Identifier: Apache-2.0
#include "suites/command/suite_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "backends/registry/registry.h"
#include "suites/command/open_named.h"

namespace kvroof {

Status SuitePool::open(const std::string& link) {
  linked_.reset();
  link_ = link;
  if (link == "native") return {};
  auto device = open_named(with_option(job_.device_text, "link", link), job_.shape.ranks);
  if (device) linked_ = std::move(*device);
  return device.status();
}

Suite& SuitePool::get(const SuiteKind& kind, const std::string& link) {
  if (suite_ && &kind == kind_ && link == link_) return *suite_;
  suite_.reset();
  if (link != link_) linked_status_ = open(link);
  kind_ = &kind;
  Device& device = this->device();
  SuiteSetup setup{.device = device,
                   .shape = job_.shape,
                   .whole = job_.whole,
                   .seed = job_.seed,
                   .disk = job_.disk,
                   .unavailable = linked_status_};
  if (device.info().virtual_time && job_.draws > 0) {
    setup.draws = {job_.draws, [&device](std::uint64_t seed) { return redraw(device, seed); }};
  }
  std::ranges::copy_if(job_.groups, std::back_inserter(setup.groups),
                       [&](const ComparisonGroup& group) { return group.point.link == link; });
  suite_ = kind.make(std::move(setup));
  return *suite_;
}

}  // namespace kvroof
