// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/kv_contents.h"

#include <xxhash.h>

#include <algorithm>
#include <span>

#include "kernels/model/kv_pattern.h"
#include "suites/serving/two_hops.h"

namespace kvroof {
namespace {

// Waits for a transfer of whole chunks; its own failure counts.
Status end_well(Session& s, std::size_t group, const Result<TransferId>& id) {
  if (!id) return id.status();
  const auto ended = s.engines[group]->wait(*id, Nanos::max());
  return ended ? ended->status : ended.status();
}

// `visit(request, group)` until one fails.
template <class Visit>
Status for_each_group(const Session& s, const RequestBatch& batch, Visit visit) {
  for (const Request& request : batch.requests) {
    for (std::size_t group = 0; group < s.kv.size(); ++group) {
      if (Status e = visit(request, group); !e.ok()) return e;
    }
  }
  return {};
}

// What a group needs of the chunks of `all`.
Chunks whole_chunks(const Session& s, const RequestBatch& batch, const Request& request,
                    ChunkRange all, std::size_t group) {
  return chunks_of(s, request, needed_chunks(s, batch, all, group), group);
}

// Of a whole cache, block by block.
Status draw_pattern(const KvLayout& kv, std::uint32_t first_layer, std::span<std::byte> image) {
  std::vector<std::byte> copy(kv.block_bytes());
  for (BlockId block = 0; block < kv.blocks; ++block) {
    if (Status e = write_pattern(kv, {block, first_layer}, copy); !e.ok()) return e;
    for (std::uint32_t r = 0; r < kv.regions_per_block(); ++r) {
      const auto region = std::span(copy).subspan(r * kv.region_bytes(), kv.region_bytes());
      std::ranges::copy(region, &image[kv.region_offset(block, r)]);
    }
  }
  return {};
}

// What the host tier has room for at once, and then the files.
Status offer_to_disk(Session& s, const RequestBatch& batch, Offer as) {
  Engine& engine = *s.engines.front();
  const std::uint32_t most = std::max(1u, engine.tier().chunks / 2);
  for (const Request& request : batch.requests) {
    for (std::uint32_t at = 0; at < batch.offloaded; at += most) {
      const ChunkRange range{at, std::min(most, batch.offloaded - at)};
      const Chunks some = chunks_of(s, request, range, 0);
      const OffloadOptions options{.offer = as, .tokens = some.tokens};
      if (Status e = end_well(s, 0, engine.offload(some.keys, some.blocks, options)); !e.ok()) {
        return e;
      }
      if (Status e = settle(s, engine); !e.ok()) return e;
    }
  }
  return {};
}

Status offer(Session& s, const RequestBatch& batch, Offer as) {
  if (s.spec.disk_bytes > 0) return offer_to_disk(s, batch, as);
  return for_each_group(s, batch, [&](const Request& request, std::size_t group) {
    const Chunks all = whole_chunks(s, batch, request, {0, batch.offloaded}, group);
    if (all.keys.empty()) return Status{};
    const OffloadOptions options{.offer = as, .tokens = all.tokens};
    return end_well(s, group, s.engines[group]->offload(all.keys, all.blocks, options));
  });
}

}  // namespace

Status offload(Session& s, const RequestBatch& batch) {
  const StorePolicy store = s.spec.store;
  const Offer as = store == StorePolicy::on_evict ? Offer::evicted : Offer::used;
  if (store == StorePolicy::second_use) {
    if (Status e = offer(s, batch, as); !e.ok()) return e;
  }
  return offer(s, batch, as);
}

ChunkRange held_chunks(const Session& s, const RequestBatch& batch) {
  std::uint32_t held = batch.chunks;
  bool windows = false;
  for (const Request& request : batch.requests) {
    for (std::size_t group = 0; group < s.kv.size(); ++group) {
      windows |= s.kv[group].window > 0;
      const ChunkRange range = needed_chunks(s, batch, all_chunks(batch), group);
      const Chunks wanted = chunks_of(s, request, range, group);
      Engine& engine = *s.engines[group];
      const std::uint32_t hits = s.spec.disk_bytes > 0 ? engine.reachable(wanted.keys)
                                                       : engine.lookup(wanted.keys, wanted.tokens);
      if (hits < range.count) held = std::min(held, range.first + hits);
    }
  }
  return {0, windows && held < batch.chunks ? 0 : held};
}

Status load(Session& s, const RequestBatch& batch, ChunkRange range) {
  if (s.spec.disk_bytes > 0) {
    TwoHops hops(s);
    for (const Request& request : batch.requests) hops.begin(request, range);
    return hops.finish();
  }
  return for_each_group(s, batch, [&](const Request& request, std::size_t group) {
    const Chunks some = whole_chunks(s, batch, request, range, group);
    if (some.keys.empty()) return Status{};
    return end_well(s, group,
                    s.engines[group]->load(some.keys, some.blocks, {.tokens = some.tokens}));
  });
}

Status offer_evicted(Session& s, const RequestBatch& batch) {
  return s.spec.store == StorePolicy::on_evict ? offload(s, batch) : Status{};
}

Status evict(Session& s, const RequestBatch& batch) {
  if (Status e = offer_evicted(s, batch); !e.ok()) return e;
  return wipe(s, batch);
}

Status wipe(Session& s, const RequestBatch& batch) {
  if (!s.spec.backed) return {};
  for (std::size_t group = 0; group < s.kv.size(); ++group) {
    const Span cache{s.caches[group].get(), 0, s.kv[group].cache_bytes()};
    const auto ticket = s.scratch->submit({{}, Fill{cache, 0xFF}});
    if (!ticket) return ticket.status();
    const Point by{s.scratch.get(), *ticket};
    for (const Request& request : batch.requests) {
      s.engines[group]->note_write(request.kv[group].blocks, by);
    }
    if (const auto waited = s.device.wait_any({&by, 1}, Nanos::max()); !waited) {
      return waited.status();
    }
  }
  return drain(*s.scratch);
}

Status write_pattern(Session& s) {
  std::uint32_t first_layer = 0;
  for (std::size_t group = 0; group < s.kv.size(); ++group) {
    std::vector<std::byte> image(s.kv[group].cache_bytes());
    if (Status e = draw_pattern(s.kv[group], first_layer, image); !e.ok()) return e;
    const Span all{s.caches[group].get(), 0, image.size()};
    if (Status e = write_device(s, all, image); !e.ok()) return e;
    first_layer += s.kv[group].layers;
  }
  return {};
}

Result<std::vector<std::uint64_t>> digest(Session& s, const RequestBatch& batch, ChunkRange range) {
  std::vector<std::uint64_t> digests;
  std::vector<std::byte> bytes;
  Status status = for_each_group(s, batch, [&](const Request& request, std::size_t group) {
    const KvLayout& kv = s.kv[group];
    bytes.resize(kv.region_bytes());
    for (const BlockId block : whole_chunks(s, batch, request, range, group).blocks) {
      for (std::uint32_t r = 0; r < kv.regions_per_block(); ++r) {
        const Span from{s.caches[group].get(), kv.region_offset(block, r), bytes.size()};
        if (Status e = read_device(s, bytes, from); !e.ok()) return e;
        digests.push_back(XXH3_64bits(bytes.data(), bytes.size()));
      }
    }
    return Status{};
  });
  if (!status.ok()) return status;
  return digests;
}

}  // namespace kvroof
