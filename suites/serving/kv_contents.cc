// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/kv_contents.h"

#include <xxhash.h>

#include <algorithm>
#include <span>

namespace kvroof {
namespace {

// Waits for a transfer of whole chunks; its own failure counts.
Status end_well(Session& s, const Result<TransferId>& id) {
  if (!id) return id.status();
  const auto ended = s.engine->wait(*id, Nanos::max());
  return ended ? ended->status : ended.status();
}

}  // namespace

Status offload(Session& s, const RequestBatch& batch) {
  for (const Request& request : batch.requests) {
    if (request.keys.empty()) continue;
    const auto blocks = std::span(request.blocks).first(batch.loaded_blocks);
    if (Status e = end_well(s, s.engine->offload(request.keys, blocks)); !e.ok()) return e;
  }
  return {};
}

Status load(Session& s, const RequestBatch& batch) {
  for (const Request& request : batch.requests) {
    if (request.keys.empty()) continue;
    const auto blocks = std::span(request.blocks).first(batch.loaded_blocks);
    if (Status e = end_well(s, s.engine->load(request.keys, blocks)); !e.ok()) return e;
  }
  return {};
}

Status wipe(Session& s, const RequestBatch& batch) {
  if (!s.spec.backed) return {};
  const auto ticket = s.scratch->submit({{}, Fill{{s.cache.get(), 0, s.kv.cache_bytes()}, 0xFF}});
  if (!ticket) return ticket.status();
  const Point by{s.scratch.get(), *ticket};
  for (const Request& request : batch.requests) s.engine->note_write(request.blocks, by);
  if (const auto waited = s.device.wait_any({&by, 1}, Nanos::max()); !waited)
    return waited.status();
  return drain(*s.scratch);
}

Status write_pattern(Session& s) {
  constexpr std::uint64_t kPiece = 8ull << 20;
  std::vector<std::uint64_t> words(kPiece / 8);
  const std::uint64_t total = s.kv.cache_bytes();
  for (std::uint64_t at = 0; at < total; at += kPiece) {
    for (std::uint64_t i = 0; i < words.size(); ++i)
      words[i] = (at / 8 + i) * 0x9E3779B97F4A7C15ull;
    const auto bytes = std::as_bytes(std::span(words)).first(std::min(kPiece, total - at));
    if (Status e = write_device(s, {s.cache.get(), at, bytes.size()}, bytes); !e.ok()) return e;
  }
  return {};
}

Result<std::vector<std::uint64_t>> digest(Session& s, const RequestBatch& batch) {
  std::vector<std::uint64_t> digests;
  std::vector<std::byte> bytes(s.kv.region_bytes());
  for (const Request& request : batch.requests) {
    for (std::uint32_t b = 0; b < batch.loaded_blocks; ++b) {
      for (std::uint32_t r = 0; r < s.kv.regions_per_block(); ++r) {
        const Span from{s.cache.get(), s.kv.region_offset(request.blocks[b], r), bytes.size()};
        if (Status e = read_device(s, bytes, from); !e.ok()) return e;
        digests.push_back(XXH3_64bits(bytes.data(), bytes.size()));
      }
    }
  }
  return digests;
}

}  // namespace kvroof
