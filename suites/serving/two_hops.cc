// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/two_hops.h"

#include <algorithm>
#include <utility>

namespace kvroof {
namespace {

constexpr std::uint32_t kMostPieceChunks = 16;
constexpr std::size_t kMostReading = 2;  // pieces: one's end does not leave the disk idle
constexpr std::uint32_t kMostMisses = 3;

// Three pieces fit where three chunks do.
std::uint32_t piece_of(std::uint32_t room) { return std::clamp(room / 3, 1u, kMostPieceChunks); }

Interval around(const std::optional<Interval>& one, const Interval& other) {
  if (!one) return other;
  return {std::min(one->begin, other.begin), std::max(one->end, other.end)};
}

Status wait_for(Device& device, const std::vector<Point>& points) {
  if (points.empty()) return {Code::failed, "The engine has nothing open, and a load has no end."};
  return device.wait_any(points, Nanos::max()).status();
}

}  // namespace

TwoHops::TwoHops(Session& session)
    : s_(session),
      engine_(*session.engines.front()),
      room_(engine_.tier().chunks),
      piece_chunks_(piece_of(room_)) {}

void TwoHops::begin(const Request& request, ChunkRange range) {
  ways_.push_back({.request = &request, .to_come = range.count, .loads = {}, .seen = {}});
  for (std::uint32_t at = 0; at < range.count; at += piece_chunks_) {
    const std::uint32_t count = std::min(piece_chunks_, range.count - at);
    waiting_.push_back({ways_.size() - 1, {range.first + at, count}, 0, {}});
  }
}

bool TwoHops::all_ended() const {
  for (std::size_t n = 0; n < ways_.size(); ++n) {
    if (!ended(n)) return false;
  }
  return true;
}

// Reads begin as the engine is polled.
Status TwoHops::drive() {
  for (bool asked = true; asked;) {
    if (Status e = engine_.poll(); !e.ok()) return e;
    asked = false;
    if (Status e = pass(asked); !e.ok()) return e;
  }
  return {};
}

Status TwoHops::pass(bool& asked) {
  take_in();
  if (Status e = load_what_is_there(asked); !e.ok()) return e;
  return read_more(asked);
}

void TwoHops::take_in() {
  for (const TransferResult& result : engine_.take_results()) {
    const auto read = std::ranges::find(reading_, result.id, &Piece::read);
    if (read != reading_.end()) {
      read->result = result;
      chunks_read_ += result.chunks - result.chunks_held - result.failed_chunks;
      last_read_ = s_.device.now();
      continue;
    }
    for (Way& way : ways_) {
      if (std::erase(way.loads, result.id) > 0) take_in_load(way, result);
    }
  }
}

void TwoHops::take_in_load(Way& way, const TransferResult& result) {
  in_use_ -= result.chunks;
  way.seen.bytes += result.bytes;
  way.seen.regions += result.regions;
  way.seen.chunks += result.chunks - result.failed_chunks;
  way.seen.interval = around(way.seen.interval, result.interval);
  if (!result.status.ok()) fail(way, result.status);
}

Status TwoHops::load_what_is_there(bool& asked) {
  const auto has_ended = [](const Piece& piece) { return piece.result.has_value(); };
  for (;;) {
    const auto ended = std::ranges::find_if(reading_, has_ended);
    if (ended == reading_.end()) return {};
    const Piece piece = std::move(*ended);
    reading_.erase(ended);
    in_use_ -= piece.range.count;
    asked = true;
    if (Status e = load_piece(piece); !e.ok()) return e;
  }
}

std::uint32_t TwoHops::here(const Piece& piece) {
  const Chunks all = chunks_of(s_, *ways_[piece.way].request, piece.range, 0);
  return engine_.lookup(all.keys, all.tokens);
}

Status TwoHops::load_piece(const Piece& piece) {
  Way& way = ways_[piece.way];
  if (way.to_come == 0) return {};  // it failed meanwhile
  const std::uint32_t hits = here(piece);
  if (hits > 0) {
    way.misses = 0;
    const Chunks some = chunks_of(s_, *way.request, {piece.range.first, hits}, 0);
    const auto id = engine_.load(some.keys, some.blocks, {.tokens = some.tokens});
    if (!id) return id.status();
    way.loads.push_back(*id);
    way.to_come -= hits;
    in_use_ += hits;
  } else if (++way.misses >= kMostMisses) {
    const Status& why = piece.result->status;
    fail(way, why.ok() ? Status{Code::failed, "A chunk left the host tier as it came."} : why);
    return {};
  }
  if (hits == piece.range.count) return {};
  const ChunkRange rest{piece.range.first + hits, piece.range.count - hits};
  waiting_.push_front({piece.way, rest, 0, {}});
  return {};
}

Status TwoHops::read_more(bool& asked) {
  while (!waiting_.empty() && reading_.size() < kMostReading) {
    Piece piece = waiting_.front();
    if (in_use_ + piece.range.count > room_) return {};
    if (here(piece) > 0) {  // its beginning must not go for what is read meanwhile
      waiting_.pop_front();
      asked = true;
      if (Status e = load_piece(piece); !e.ok()) return e;
      continue;
    }
    const Chunks wanted = chunks_of(s_, *ways_[piece.way].request, piece.range, 0);
    const auto id = engine_.prefetch(wanted.keys);
    if (!id) return id.status();
    if (first_asked_ == Nanos{}) first_asked_ = last_read_ = s_.device.now();
    in_use_ += piece.range.count;
    piece.read = *id;
    reading_.push_back(std::move(piece));
    waiting_.pop_front();
    asked = true;
  }
  return {};
}

// What is open of it ends by itself.
void TwoHops::fail(Way& way, const Status& why) {
  if (way.seen.status.ok()) way.seen.status = why;
  way.to_come = 0;
  std::erase_if(waiting_, [&](const Piece& piece) { return &ways_[piece.way] == &way; });
}

Status TwoHops::finish() {
  for (;;) {
    if (Status e = drive(); !e.ok()) return e;
    if (all_ended()) break;
    if (Status e = wait_for(s_.device, engine_.open_points()); !e.ok()) return e;
  }
  for (const Way& way : ways_) {
    if (!way.seen.status.ok()) return way.seen.status;
  }
  return {};
}

Status settle(Session& session, Engine& engine) {
  for (;;) {
    if (Status e = engine.poll(); !e.ok()) return e;
    const std::vector<Point> points = engine.open_points();
    if (points.empty()) return {};
    if (Status e = wait_for(session.device, points); !e.ok()) return e;
  }
}

}  // namespace kvroof
