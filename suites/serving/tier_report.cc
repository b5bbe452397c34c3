// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/tier_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "suites/serving/disk_report.h"

namespace kvroof {
namespace {

// As one tier: sizes add up, places and pages are the worst.
HostTierFacts whole_tier(const Session& s) {
  HostTierFacts whole = s.engines.front()->tier();
  for (std::size_t group = 1; group < s.engines.size(); ++group) {
    const HostTierFacts& one = s.engines[group]->tier();
    whole.bytes += one.bytes;
    whole.pinned_bytes += one.pinned_bytes;
    whole.bookkeeping_bytes += one.bookkeeping_bytes;
    whole.chunks += one.chunks;
    whole.slabs += one.slabs;
    whole.registrations += one.registrations;
    whole.page_bytes = std::min(whole.page_bytes, one.page_bytes);
    if (one.numa_node != whole.numa_node) whole.numa_node = -1;
    whole.backed = whole.backed && one.backed;
  }
  return whole;
}

std::uint64_t cache_bytes(const Session& s) {
  std::uint64_t bytes = 0;
  for (const KvLayout& kv : s.kv) bytes += kv.cache_bytes();
  return bytes;
}

double gb(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e9; }

EngineCounters counters(const Session& s) {
  EngineCounters all;
  for (const auto& engine : s.engines) {
    const EngineCounters& one = engine->counters();
    all.chunks_offloaded += one.chunks_offloaded;
    all.chunks_refused += one.chunks_refused;
    all.chunks_unwanted += one.chunks_unwanted;
    all.chunks_evicted += one.chunks_evicted;
    all.chunks_handed_over += one.chunks_handed_over;
    all.chunks_collided += one.chunks_collided;
    all.chunks_summed += one.chunks_summed;
    all.chunks_checked += one.chunks_checked;
    all.chunks_corrupt += one.chunks_corrupt;
  }
  return all;
}

}  // namespace

std::vector<std::string> tier_warnings(const SessionSpec& spec, const HostTierFacts& tier,
                                       std::uint64_t cache_bytes) {
  std::vector<std::string> said;
  // An exclusive tier holds what the cache does not.
  const bool holds_copies_alone = spec.store != StorePolicy::on_evict && spec.disk_bytes == 0;
  if (spec.host_tier_bounded && tier.bytes < cache_bytes && holds_copies_alone) {
    said.push_back(
        fmt::format("the host tier of {:.3g} GB is smaller than the accelerator's cache "
                    "of {:.3g} GB, which it only mirrors",
                    gb(tier.bytes), gb(cache_bytes)));
  }
  if (tier.pinned_bytes < tier.bytes) {
    said.push_back(
        fmt::format("of the host tier's {:.3g} GB only {:.3g} GB are pinned, and copies "
                    "of the rest may be slower: raise the limit of locked memory "
                    "(ulimit -l)",
                    gb(tier.bytes), gb(tier.pinned_bytes)));
  }
  if (tier.numa_node_asked >= 0 && tier.backed && tier.numa_node != tier.numa_node_asked) {
    said.push_back(fmt::format("the host tier does not lie on NUMA node {}, the device's, alone",
                               tier.numa_node_asked));
  }
  return said;
}

Json tier_json(const Session& s) {
  const HostTierFacts tier = whole_tier(s);
  const EngineCounters seen = counters(s);
  Json json = {{"bytes", tier.bytes},
               {"pinned_bytes", tier.pinned_bytes},
               {"page_bytes", tier.page_bytes},
               {"slabs", tier.slabs},
               {"registrations", tier.registrations},
               {"numa_node", tier.numa_node},
               {"numa_node_asked", tier.numa_node_asked},
               {"chunks", tier.chunks},
               {"bookkeeping_bytes", tier.bookkeeping_bytes},
               {"chunks_stored", seen.chunks_offloaded},
               {"chunks_evicted", seen.chunks_evicted},
               {"chunks_refused", seen.chunks_refused},
               {"chunks_unwanted", seen.chunks_unwanted},
               {"chunks_handed_over", seen.chunks_handed_over}};
  if (s.spec.check_tokens) json["chunks_collided"] = seen.chunks_collided;
  if (s.spec.checksum != Integrity::off) {
    json["chunks_summed"] = seen.chunks_summed;
    json["chunks_checked"] = seen.chunks_checked;
    json["chunks_corrupt"] = seen.chunks_corrupt;
  }
  if (Json disk = disk_json(s); !disk.is_null()) json["disk"] = std::move(disk);
  const auto said = tier_warnings(s.spec, tier, cache_bytes(s));
  if (!said.empty()) json["warnings"] = said;
  return json;
}

}  // namespace kvroof
