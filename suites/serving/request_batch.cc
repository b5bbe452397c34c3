// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/request_batch.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace kvroof {
namespace {

template <class T>
Status to_device(Session& s, const std::vector<T>& values, std::unique_ptr<Buffer>& to) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
  auto buffer = s.device.allocate({MemoryKind::device, bytes.size(), -1, true});
  if (!buffer) return buffer.status();
  to = std::move(*buffer);
  return write_device(s, {to.get(), 0, bytes.size()}, bytes);
}

// `rows` of logits: its own, and one for each sequence that decodes in its last step.
Status place(Session& s, std::uint32_t rows, Request& r) {
  if (Status e = to_device(s, r.tokens, r.ids); !e.ok()) return e;
  auto logits =
      s.device.allocate({MemoryKind::device, rows * s.shape.vocab * sizeof(float), -1, true});
  if (!logits) return logits.status();
  r.logits = std::move(*logits);
  return {};
}

// One block table for the same group of all of `requests`, a row each.
Status place_table(Session& s, std::span<Request> requests, std::size_t group,
                   std::vector<std::unique_ptr<Buffer>>& tables) {
  std::vector<BlockId> rows;
  for (const Request& r : requests) {
    rows.insert(rows.end(), r.kv[group].blocks.begin(), r.kv[group].blocks.end());
  }
  if (Status e = to_device(s, rows, tables.emplace_back()); !e.ok()) return e;
  std::uint64_t offset = 0;
  for (Request& r : requests) {
    const std::uint64_t bytes = r.kv[group].blocks.size() * sizeof(BlockId);
    r.kv[group].table = {tables.back().get(), offset, bytes};
    offset += bytes;
  }
  return {};
}

std::vector<std::int32_t> random_tokens(std::uint32_t count, std::uint32_t vocab,
                                        std::mt19937_64& random) {
  std::uniform_int_distribution<std::int32_t> any(0, static_cast<std::int32_t>(vocab) - 1);
  std::vector<std::int32_t> tokens(count);
  std::generate(tokens.begin(), tokens.end(), [&] { return any(random); });
  return tokens;
}

std::vector<BlockId> shuffled_blocks(std::uint32_t count, std::mt19937_64& random) {
  std::vector<BlockId> blocks(count);
  std::iota(blocks.begin(), blocks.end(), 0u);
  std::shuffle(blocks.begin(), blocks.end(), random);
  return blocks;
}

// What the group's chunks of these tokens are known by.
void know(const Session& s, std::size_t group, std::span<const std::int32_t> tokens,
          RequestKv& kv) {
  const CompatibilityRecord record = session_record(s, group);
  kv.keys = chunk_keys(record, tokens, s.chunk_tokens(), s.spec.key_hash);
  if (!s.spec.check_tokens) return;
  const PrefixHasher hasher(record);
  hasher(tokens, s.chunk_tokens(), kv.prefixes);
}

// Gives the sequences of one cache their blocks, in a shuffled order.
class BlockDealer {
 public:
  BlockDealer(const Session& session, std::size_t group, std::mt19937_64& random)
      : s_(session),
        kv_(session.kv[group]),
        order_(shuffled_blocks(session.kv[group].blocks, random)) {}

  Result<std::vector<BlockId>> deal(std::uint32_t tokens) {
    const std::uint32_t logical = (tokens + kv_.block_tokens - 1) / kv_.block_tokens;
    const WindowBlocks own =
        kv_.window > 0 ? window_blocks(s_.spec, kv_.window, tokens) : WindowBlocks{0, logical};
    if (own.total() > order_.size() - dealt_) {
      return Status{Code::invalid, "the cache has fewer blocks than the batch needs"};
    }
    const auto mine = std::span(order_).subspan(dealt_, own.total());
    dealt_ += own.total();
    std::vector<BlockId> blocks(logical);
    const std::uint32_t before_end = logical - own.end;
    for (std::uint32_t i = 0; i < logical; ++i) {
      blocks[i] = i < before_end ? mine[i % own.ring] : mine[own.ring + i - before_end];
    }
    return blocks;
  }

 private:
  const Session& s_;
  const KvLayout& kv_;
  const std::vector<BlockId> order_;
  std::size_t dealt_ = 0;
};

}  // namespace

PrefillRequest Request::prefill(Session& session, std::uint32_t past) const {
  const std::uint32_t rest = static_cast<std::uint32_t>(tokens.size()) - past;
  PrefillRequest made;
  made.token_ids = {ids.get(), past * sizeof(std::int32_t), rest * sizeof(std::int32_t)};
  for (std::size_t group = 0; group < kv.size(); ++group) {
    made.kv.push_back(
        {{session.caches[group].get(), 0, session.kv[group].cache_bytes()}, kv[group].table});
  }
  made.past = past;
  made.tokens = rest;
  made.logits = {logits.get(), 0, session.shape.vocab * sizeof(float)};
  return made;
}

PrefillRequest Request::prefill_front(Session& session, std::uint32_t count) const {
  PrefillRequest front = prefill(session, 0);
  front.token_ids.bytes = count * sizeof(std::int32_t);
  front.tokens = count;
  front.logits = {};
  return front;
}

std::uint64_t RequestBatch::device_bytes(const ModelShape& shape, const SessionSpec& spec,
                                         std::uint64_t context_tokens, std::uint32_t batch,
                                         std::uint32_t live) {
  const std::uint64_t sequences = std::uint64_t{batch} + live;
  const std::uint64_t blocks = (context_tokens + spec.block_tokens - 1) / spec.block_tokens;
  const std::uint64_t logits = batch * (1ull + live) + live;  // rows
  return sequences * (context_tokens * sizeof(std::int32_t) +
                      kv_groups(shape).size() * blocks * sizeof(BlockId)) +
         logits * shape.vocab * sizeof(float);
}

Result<RequestBatch> RequestBatch::create(Session& s, std::uint32_t context_tokens,
                                          std::uint32_t batch, std::uint64_t seed,
                                          std::uint32_t live) {
  std::mt19937_64 random(seed);
  RequestBatch made;
  made.context_tokens = context_tokens;
  made.offloaded = made.chunks = context_tokens / s.chunk_tokens();
  made.cached_tokens = made.chunks * s.chunk_tokens();
  std::vector<BlockDealer> dealers;
  for (std::size_t group = 0; group < s.kv.size(); ++group) dealers.emplace_back(s, group, random);
  for (std::uint32_t i = 0; i < batch + live; ++i) {
    Request r;
    r.tokens = random_tokens(context_tokens, s.shape.vocab, random);
    for (std::size_t group = 0; group < s.kv.size(); ++group) {
      auto blocks = dealers[group].deal(context_tokens);
      if (!blocks) return blocks.status();
      RequestKv kv;
      kv.blocks = std::move(*blocks);
      if (i < batch) {
        know(s, group, r.tokens, kv);
      }
      r.kv.push_back(std::move(kv));
    }
    if (Status e = place(s, i < batch ? 1 + live : 1, r); !e.ok()) return e;
    for (std::size_t group = 0; i < batch && group < s.kv.size(); ++group) {
      if (Status e = place_table(s, {&r, 1}, group, made.tables); !e.ok()) return e;
    }
    (i < batch ? made.requests : made.live).push_back(std::move(r));
  }
  for (std::size_t group = 0; live > 0 && group < s.kv.size(); ++group) {
    if (Status e = place_table(s, made.live, group, made.tables); !e.ok()) return e;
  }
  return made;
}

ChunkRange all_chunks(const RequestBatch& batch) { return {0, batch.chunks}; }

std::uint32_t past_after(const Session& s, const RequestBatch& batch, ChunkRange range) {
  if (range.count == 0) return 0;
  return std::min((range.first + range.count) * s.chunk_tokens(), batch.context_tokens - 1);
}

ChunkRange needed_chunks(const Session& s, const RequestBatch& batch, ChunkRange range,
                         std::size_t group) {
  const std::uint32_t window = s.kv[group].window, past = past_after(s, batch, range);
  if (window == 0 || past + 1 <= window) return range;
  const std::uint32_t first = std::max(range.first, (past + 1 - window) / s.chunk_tokens());
  return {first, range.first + range.count - std::min(first, range.first + range.count)};
}

Chunks chunks_of(const Session& s, const Request& request, ChunkRange range, std::size_t group) {
  const RequestKv& kv = request.kv[group];
  Chunks chunks{.keys = std::span(kv.keys).subspan(range.first, range.count),
                .blocks = blocks_of(s, request, range, group),
                .tokens = {}};
  if (kv.prefixes.empty()) return chunks;
  const std::size_t whole = kv.keys.size() * s.chunk_tokens();
  chunks.tokens =
      ChunkTokens{std::span(request.tokens).first(whole), kv.prefixes}.of(range.first, range.count);
  return chunks;
}

std::span<const BlockId> blocks_of(const Session& s, const Request& request, ChunkRange range,
                                   std::size_t group) {
  const std::uint32_t each = s.spec.blocks_per_chunk;
  return std::span(request.kv[group].blocks).subspan(range.first * each, range.count * each);
}

}  // namespace kvroof
