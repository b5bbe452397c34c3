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

Status place(Session& s, Request& r) {
  if (Status e = to_device(s, r.tokens, r.ids); !e.ok()) return e;
  if (Status e = to_device(s, r.blocks, r.table); !e.ok()) return e;
  auto logits = s.device.allocate({MemoryKind::device, s.shape.vocab * sizeof(float), -1, true});
  if (!logits) return logits.status();
  r.logits = std::move(*logits);
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

}  // namespace

PrefillRequest Request::prefill(Session& session, std::uint32_t past) const {
  const std::uint32_t rest = static_cast<std::uint32_t>(tokens.size()) - past;
  return {{ids.get(), past * sizeof(std::int32_t), rest * sizeof(std::int32_t)},
          {session.cache.get(), 0, session.kv.cache_bytes()},
          {table.get(), 0, blocks.size() * sizeof(BlockId)},
          past,
          rest,
          {logits.get(), 0, session.shape.vocab * sizeof(float)}};
}

PrefillRequest Request::prefill_front(Session& session, std::uint32_t count) const {
  PrefillRequest front = prefill(session, 0);
  front.token_ids.bytes = count * sizeof(std::int32_t);
  front.tokens = count;
  front.logits = {};
  return front;
}

std::uint64_t RequestBatch::device_bytes(const ModelShape& shape, const SessionSpec& spec,
                                         std::uint64_t context_tokens, std::uint32_t batch) {
  const std::uint64_t blocks = (context_tokens + spec.block_tokens - 1) / spec.block_tokens;
  return batch * (context_tokens * sizeof(std::int32_t) + blocks * sizeof(BlockId) +
                  shape.vocab * sizeof(float));
}

Result<RequestBatch> RequestBatch::create(Session& s, std::uint32_t context_tokens,
                                          std::uint32_t batch, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RequestBatch made;
  const std::uint32_t chunk_tokens = s.kv.block_tokens * s.spec.blocks_per_chunk;
  made.context_tokens = context_tokens;
  made.cached_tokens = context_tokens / chunk_tokens * chunk_tokens;
  made.loaded_blocks = made.cached_tokens / s.kv.block_tokens;
  const std::uint32_t blocks_each = (context_tokens + s.kv.block_tokens - 1) / s.kv.block_tokens;
  if (std::uint64_t{blocks_each} * batch > s.kv.blocks) {
    return Status{Code::invalid, "the cache has fewer blocks than the batch needs"};
  }
  const std::vector<BlockId> blocks = shuffled_blocks(s.kv.blocks, random);
  const CompatibilityRecord record = make_record(s.shape, s.kv, s.spec.blocks_per_chunk);
  for (std::uint32_t i = 0; i < batch; ++i) {
    Request r;
    r.tokens = random_tokens(context_tokens, s.shape.vocab, random);
    r.blocks.assign(blocks.begin() + i * blocks_each, blocks.begin() + (i + 1) * blocks_each);
    r.keys = chunk_keys(record, r.tokens, chunk_tokens);
    if (Status e = place(s, r); !e.ok()) return e;
    made.requests.push_back(std::move(r));
  }
  return made;
}

}  // namespace kvroof
