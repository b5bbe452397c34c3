// SPDX-License-Identifier: Apache-2.0
// The policies once more, from their papers and as plainly as can be: over ids instead of slots,
// with a container a queue. For tests to compare with.
#pragma once
#include <cstdint>
#include <memory>

#include "transfer/eviction/policy.h"

namespace kvroof {

class PlainCache {
 public:
  virtual ~PlainCache() = default;
  // Whether `id` was there; it is now.
  virtual bool look_up(std::uint64_t id) = 0;
};

std::unique_ptr<PlainCache> plain_reference(Eviction eviction, std::size_t slots);

}  // namespace kvroof
