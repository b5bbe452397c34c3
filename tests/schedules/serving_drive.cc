// SPDX-License-Identifier: Apache-2.0
// Driving the engine, and what must hold of it whatever happens.
#include <algorithm>
#include <utility>

#include "tests/schedules/serving.h"

namespace kvroof::schedules {
namespace {

constexpr Nanos kHang{1'000'000'000};  // of virtual time: far longer than any timeout
constexpr Nanos kSlice{1'000'000};
constexpr int kMostTurns = 100'000;  // while no time passes

}  // namespace

void Serving::hear(const Status& status) {
  if (status.ok()) return;
  over_ = true;
  if (!device_.is_lost()) fault("the engine gave up: " + status.text);
}

// Work of the accelerator's that never ends is no fault of the engine's.
bool Serving::something_never_ends() const {
  return device_.counts().of[static_cast<std::size_t>(Fault::unending)] > 0;
}

std::optional<std::vector<BlockId>> Serving::take_blocks(std::size_t count) {
  std::vector<BlockId> free;
  for (BlockId block = 0; block < blocks_.size(); ++block) {
    if (!blocks_[block].used && !blocks_[block].lost) free.push_back(block);
  }
  if (free.size() < count) return std::nullopt;
  std::shuffle(free.begin(), free.end(), random_);
  free.resize(count);
  for (const BlockId block : free) blocks_[block].used = true;
  return free;
}

void Serving::give_back(const Request& request) {
  for (const BlockId block : request.blocks) blocks_[block].used = false;
}

// Of the engine, until it no longer is busy.
Result<std::vector<Point>> Serving::ask(const std::function<Result<std::vector<Point>>()>& fences) {
  const Nanos limit = device_.now() + kHang;
  for (int turn = 0; turn < kMostTurns && device_.now() < limit; ++turn) {
    auto answer = fences();
    if (answer.code() != Code::busy) return answer;
    if (!drive()) return answer;
  }
  fault("a copy waits for ever");
  return Status{Code::busy, ""};
}

// Until something ends or a while has passed, and so what takes too long can be given up.
bool Serving::drive(std::vector<Point> also) {
  hear(engine_.poll());
  if (over()) return false;
  for (const Point& point : engine_.open_points()) also.push_back(point);
  const Nanos until = device_.now() + kSlice;
  auto waited = device_.wait_any(also, until);
  if (waited.code() == Code::stuck) waited = device_.wait_any({}, until);
  if (waited.code() == Code::lost) hear(waited.status());
  return !over();
}

std::optional<Status> Serving::outcome_of(Point read) {
  const Nanos limit = device_.now() + kHang;
  for (int turn = 0; turn < kMostTurns && device_.now() < limit; ++turn) {
    if (auto ended = accelerator_.ended(read.ticket)) return ended;
    if (!drive({read})) return std::nullopt;
  }
  if (!something_never_ends()) fault("a read of loaded blocks never ended");
  over_ = true;
  return std::nullopt;
}

void Serving::accept(const Result<TransferId>& id, const char* what) {
  if (id.ok()) {
    if (!open_.insert(*id).second) fault(std::string(what) + " gave an id twice");
    return;
  }
  if (id.code() == Code::lost) {
    lane_lost_ = true;
    return;
  }
  fault(std::string(what) + " was refused: " + id.status().text);
}

void Serving::take_results() {
  for (const TransferResult& result : engine_.take_results()) take(result);
}

void Serving::take(const TransferResult& result) {
  if (open_.erase(result.id) == 0) fault("a result came twice, or for nobody");
  lane_lost_ |= result.status.code == Code::lost;
  const std::uint64_t others = std::uint64_t{result.failed_chunks} + result.chunks_held +
                               result.chunks_refused + result.chunks_unwanted +
                               result.chunks_collided;
  if (others > result.chunks) fault("a transfer's chunks don't add up");
  if ((result.failed_chunks > 0) == result.status.ok())
    fault("a failure is not counted, or is none");
}

void Serving::settle() {
  wait_for_all();
  for (std::size_t i = 0; i < requests_.size() && !over(); ++i) look_at(i);
  if (!over()) wait_for_all();
  if (!over()) look_for_leaks();
  if (!over()) look_at_the_tier();
  const EngineCounters& counters = engine_.counters();
  outcomes_.chunks_failed += counters.chunks_failed;
  outcomes_.chunks_evicted += counters.chunks_evicted;
  outcomes_.chunks_collided += counters.chunks_collided;
  outcomes_.chunks_fetched += counters.chunks_fetched;
  outcomes_.lanes_lost += lane_lost_ && !device_.is_lost() ? 1 : 0;
}

void Serving::wait_for_all() {
  take_results();
  while (!open_.empty() && !over()) {
    const auto result = engine_.wait(*open_.begin(), device_.now() + kHang);
    if (result.ok()) {
      take(*result);
    } else if (device_.is_lost()) {
      over_ = true;
    } else {
      fault("a transfer never ended: " + result.status().text);
    }
    take_results();
  }
}

void Serving::look_for_leaks() {
  // What may still land keeps its slot, as files on their way do.
  if (lane_lost_ || something_never_ends() || setting_.with_disk) return;
  const HostTierUse use = engine_.tier_use();
  if (use.referenced > 0 || use.reserved > 0 || use.dropped > 0) fault("a slot is held by nobody");
  if (use.free + use.visible != engine_.tier().chunks) fault("a slot is gone");
}

// All that the tier says it has comes back right.
void Serving::look_at_the_tier() {
  while (!requests_.empty()) finish(requests_.size() - 1);
  for (std::uint32_t conversation = 0; conversation < conversations_.size(); ++conversation) {
    Request request{.conversation = conversation,
                    .chunks = static_cast<std::uint32_t>(conversations_[conversation].keys.size())};
    request.chunks = engine_.lookup(keys(request), tokens(request, request.chunks));
    if (request.chunks == 0) continue;
    auto blocks = take_blocks(request.chunks * setting_.engine.blocks_per_chunk);
    if (!blocks) continue;
    request.blocks = std::move(*blocks);
    const auto id =
        engine_.load(keys(request), request.blocks, {.tokens = tokens(request, request.chunks)});
    accept(id, "load");
    if (id.ok()) {
      for (const BlockId block : request.blocks) blocks_[block].written.reset();
      requests_.push_back(request);
      look_at(requests_.size() - 1);
      wait_for_all();
    }
    if (over()) return;
    if (id.ok()) finish(requests_.size() - 1);
  }
}

}  // namespace kvroof::schedules
