// SPDX-License-Identifier: Apache-2.0
#include "tests/schedules/serving.h"

#include <algorithm>
#include <utility>

namespace kvroof::schedules {
namespace {

constexpr std::uint32_t kConversations = 5, kMostChunks = 4;

}  // namespace

Serving::Serving(FaultyDevice& device, Accelerator& accelerator, Engine& engine,
                 const Setting& setting, std::uint64_t seed, Outcomes& outcomes)
    : device_(device),
      accelerator_(accelerator),
      engine_(engine),
      setting_(setting),
      random_(seed),
      outcomes_(outcomes),
      blocks_(setting.engine.kv.blocks) {
  const std::uint32_t chunk_tokens =
      setting.engine.kv.block_tokens * setting.engine.blocks_per_chunk;
  for (std::uint32_t i = 0; i < kConversations; ++i) {
    conversations_.emplace_back(i, kMostChunks, chunk_tokens, setting.narrow_keys);
  }
}

std::span<const ChunkKey> Serving::keys(const Request& request) const {
  return std::span(conversations_[request.conversation].keys).first(request.chunks);
}

ChunkTokens Serving::tokens(const Request& request, std::size_t chunks) const {
  if (!setting_.engine.check_tokens) return {};
  return conversations_[request.conversation].tokens(chunks);
}

Nanos Serving::deadline() {
  return below(6) == 0 ? device_.now() + Nanos(below(200'000)) : Nanos::max();
}

void Serving::step() {
  const bool any = !requests_.empty();
  const std::size_t one = any ? below(requests_.size()) : 0;
  switch (below(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      serve();
      break;
    case 4:
    case 5:
      if (any) look_at(one);
      break;
    case 6:
      if (any) preempt(one);
      break;
    case 7:
      if (any) finish(one);
      break;
    case 8:
      cancel_one();
      break;
    case 9:
      prefetch_some();
      break;
    case 10:
      protect_one();
      break;
    default:
      let_time_pass();
  }
  take_results();
}

// What the tier holds of it is loaded, the rest computed, and all of it offered to the tier.
void Serving::serve() {
  Request request{.conversation = below(kConversations), .chunks = 1 + below(kMostChunks)};
  const std::size_t count = request.chunks * setting_.engine.blocks_per_chunk;
  auto blocks = take_blocks(count);
  if (!blocks && !requests_.empty()) {
    preempt(below(requests_.size()));
    blocks = take_blocks(count);
  }
  if (!blocks || over()) return;
  request.blocks = std::move(*blocks);
  ++outcomes_.requests;
  std::vector<bool> missing(count, true);
  load_hits(request, missing);
  compute(request, missing);
  if (!over()) store(request, Offer::used);
  requests_.push_back(std::move(request));
}

// Sometimes without the first blocks, as if the cache had them, or without the last ones.
std::uint32_t Serving::load_hits(const Request& request, std::vector<bool>& missing) {
  const std::uint32_t each = setting_.engine.blocks_per_chunk;
  const std::uint32_t hits = engine_.lookup(keys(request), tokens(request, request.chunks));
  if (hits == 0) return 0;
  const std::uint32_t chunks = 1 + below(hits);
  const std::uint32_t skip = below(4) == 0 ? below(each) : 0;
  std::uint32_t end = chunks * each;
  if (below(4) == 0) end -= std::min(below(each), end - skip - 1);
  if (end <= (chunks - 1) * each || end <= skip) return 0;
  const auto blocks = std::span(request.blocks).subspan(skip, end - skip);
  const bool apart = setting_.engine.kv.layers_apart();
  const bool staged = setting_.engine.copy.may_take(Direction::load, CopyPath::staged);
  const auto id = engine_.load(keys(request).first(chunks), blocks,
                               {.skip_blocks = skip,
                                .deadline = deadline(),
                                .tokens = tokens(request, chunks),
                                .by_layer = apart && !staged && below(2) == 0});
  accept(id, "load");
  if (!id.ok()) return 0;
  for (std::uint32_t i = skip; i < end; ++i) {
    missing[i] = false;
    blocks_[request.blocks[i]].written.reset();
  }
  return chunks;
}

void Serving::compute(const Request& request, const std::vector<bool>& missing) {
  for (std::uint32_t i = 0; i < missing.size() && !over(); ++i) {
    if (missing[i]) (void)compute(request.blocks[i], {request.conversation, i});
  }
}

// What is refused half way is noted too: it must end before anything else writes there. False where
// the block does not hold the piece, nor will.
bool Serving::compute(BlockId block, const Piece& piece) {
  const std::vector<BlockId> one = {block};
  const auto fences = ask([&] { return engine_.fences_for_write(one); });
  if (over()) return false;
  if (!fences.ok()) {
    blocks_[block].lost = true;
    return false;
  }
  const auto written = accelerator_.write(block, piece, *fences);
  // A block that is only half written must not be taken for the piece: no caller would offer it.
  blocks_[block].lost = blocks_[block].lost || !written;
  const Point by = written ? *written : accelerator_.last();
  if (by.ticket == 0) return false;
  engine_.note_write(one, by);
  blocks_[block].written = by;
  outcomes_.blocks_computed += written ? 1 : 0;
  return written.has_value();
}

void Serving::store(const Request& request, Offer offer) {
  const bool whole =
      std::ranges::none_of(request.blocks, [&](BlockId b) { return blocks_[b].lost; });
  if (!whole) return;
  accept(engine_.offload(
             keys(request), request.blocks,
             {.offer = offer, .deadline = deadline(), .tokens = tokens(request, request.chunks)}),
         "offload");
}

void Serving::preempt(std::size_t index) {
  store(requests_[index], Offer::evicted);
  ++outcomes_.preemptions;
  finish(index);
}

void Serving::finish(std::size_t index) {
  give_back(requests_[index]);
  requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(index));
}

// Every block of it, and what had failed is computed again, and then must be there.
void Serving::look_at(std::size_t index) {
  const Request& request = requests_[index];
  for (std::uint32_t i = 0; i < request.blocks.size() && !over(); ++i) {
    const BlockId block = request.blocks[i];
    if (blocks_[block].lost) continue;
    const bool loaded = !blocks_[block].written.has_value();
    const Piece piece{request.conversation, i};
    if (is_right(block, piece)) {
      outcomes_.blocks_loaded_right += loaded ? 1 : 0;
    } else if (!over()) {
      (void)compute(block, piece);
    }
  }
}

// False where the engine or the accelerator says that the block is not good. Other bytes than the
// piece's are the engine's fault.
bool Serving::is_right(BlockId block, const Piece& piece) {
  const std::vector<BlockId> one = {block};
  auto fences = ask([&] { return engine_.fences_for_read(one); });
  if (over()) return false;
  if (!fences.ok()) {
    blocks_[block].lost |= fences.code() == Code::lost;
    return false;
  }
  if (const auto& written = blocks_[block].written) fences->push_back(*written);
  const auto read = accelerator_.read(block, 0, *fences);
  if (!read) {
    if (accelerator_.last().ticket > 0) engine_.note_read(one, accelerator_.last());
    return false;
  }
  engine_.note_read(one, *read);
  const auto outcome = outcome_of(*read);
  if (!outcome || !outcome->ok()) return false;
  if (accelerator_.is(0, piece)) return true;
  fault("block " + std::to_string(block) + " holds other bytes than conversation " +
        std::to_string(piece.conversation) + "'s block " + std::to_string(piece.block) +
        (blocks_[block].written ? " (computed)" : " (loaded)"));
  return false;
}

void Serving::cancel_one() {
  if (open_.empty()) return;
  const auto which = std::next(open_.begin(), below(open_.size()));
  outcomes_.cancels += engine_.cancel(*which).ok() ? 1 : 0;
}

void Serving::prefetch_some() {
  if (!setting_.with_disk) return;
  const Request wanted{.conversation = below(kConversations), .chunks = kMostChunks};
  accept(engine_.prefetch(keys(wanted)), "prefetch");
  ++outcomes_.prefetches;
}

void Serving::protect_one() {
  const Request any{.conversation = below(kConversations), .chunks = kMostChunks};
  (void)engine_.protect(keys(any)[below(kMostChunks)], below(2) == 0);
}

void Serving::let_time_pass() {
  hear(engine_.poll());
  (void)device_.wait_any({}, device_.now() + Nanos(below(100'000)));
}

}  // namespace kvroof::schedules
