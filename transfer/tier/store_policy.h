// SPDX-License-Identifier: Apache-2.0
// When a chunk that is offered to the host tier is stored there: at once, at its second use, or
// when the accelerator's cache evicts it, so that it is in one of the two alone.
#pragma once
#include <cstdint>
#include <string_view>

#include "transfer/eviction/ghost_list.h"

namespace kvroof {

enum class StorePolicy : std::uint8_t { immediate, second_use, on_evict };

constexpr std::string_view name(StorePolicy policy) {
  constexpr std::string_view kNames[] = {"immediate", "second-use", "on-evict"};
  return kNames[static_cast<std::size_t>(policy)];
}

// Why a caller offers blocks: they have just been computed or used, or the accelerator's cache is
// about to give their room away.
enum class Offer : std::uint8_t { used, evicted };

class StoreGate {
 public:
  // Remembers the keys of at most `most_noted` chunks that were offered once, at least one.
  StoreGate(StorePolicy policy, std::uint64_t most_noted);

  // Whether to store a chunk that the tier does not hold. Under second_use, an offer as `evicted`
  // is no use: it neither stores nor counts.
  bool wants(const ChunkKey& key, Offer offer);

  // Whether what was loaded leaves the tier: the accelerator has it now.
  bool is_exclusive() const { return policy_ == StorePolicy::on_evict; }

 private:
  bool used_before(const ChunkKey& key, Offer offer);

  StorePolicy policy_;
  std::uint64_t most_noted_;
  GhostList noted_;
};

}  // namespace kvroof
