// SPDX-License-Identifier: Apache-2.0
#include "transfer/eviction/policy.h"

#include "transfer/eviction/arc.h"
#include "transfer/eviction/lru.h"
#include "transfer/eviction/s3fifo.h"

namespace kvroof {

std::unique_ptr<EvictionPolicy> make_policy(Eviction eviction, std::uint32_t slots) {
  switch (eviction) {
    case Eviction::lru:
      break;
    case Eviction::arc:
      return std::make_unique<Arc>(slots);
    case Eviction::s3fifo:
      return std::make_unique<S3Fifo>(slots);
  }
  return std::make_unique<Lru>(slots);
}

}  // namespace kvroof
