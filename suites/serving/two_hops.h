// SPDX-License-Identifier: Apache-2.0
// Loads of a session with a disk tier: what the host tier lacks is read into it, piece by piece,
// and each piece goes on to the device as soon as it is there.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "suites/serving/request_batch.h"
#include "suites/serving/session.h"

namespace kvroof {

// What became of one request's load.
struct TwoHopLoad {
  Status status;                         // the first failure; the request is to be recomputed
  std::uint64_t bytes = 0, regions = 0;  // that reached the device
  std::uint32_t chunks = 0;
  std::optional<Interval> interval;  // of the copies to the device
};

// Requests in the order in which they begin. Pieces are small enough for one to be read while
// another is copied, also where the host tier has room for two chunks alone; with room for one,
// hops take turns. Of sessions with one group of layers.
class TwoHops {
 public:
  explicit TwoHops(Session& session);

  void begin(const Request& request, ChunkRange range);

  // Takes in what has ended and asks the engine for all that there is room for. Never blocks.
  Status drive();

  // Of the n-th request: whether the engine has been asked for all of its copies to the device, and
  // whether they have ended. True too where it failed and nothing more will come.
  bool handed_over(std::size_t n) const { return ways_[n].to_come == 0; }
  bool ended(std::size_t n) const { return handed_over(n) && ways_[n].loads.empty(); }
  bool all_ended() const;

  const TwoHopLoad& load(std::size_t n) const { return ways_[n].seen; }
  std::uint32_t chunks_read() const { return chunks_read_; }   // from disk
  Nanos reading() const { return last_read_ - first_asked_; }  // first asked for to last one seen

  // Drives all to their end; the first failure.
  Status finish();

 private:
  struct Way {
    const Request* request;
    std::uint32_t to_come = 0;      // chunks not yet asked to be copied to the device
    std::uint32_t misses = 0;       // pieces of which nothing was there
    std::vector<TransferId> loads;  // open
    TwoHopLoad seen;
  };
  struct Piece {
    std::size_t way;
    ChunkRange range;
    TransferId read = 0;
    std::optional<TransferResult> result;
  };

  Status pass(bool& asked);
  void take_in();
  void take_in_load(Way& way, const TransferResult& result);
  Status load_what_is_there(bool& asked);
  std::uint32_t here(const Piece& piece);  // its leading chunks that the host tier has
  Status load_piece(const Piece& piece);
  Status read_more(bool& asked);
  void fail(Way& way, const Status& why);

  Session& s_;
  Engine& engine_;
  const std::uint32_t room_, piece_chunks_;
  std::deque<Way> ways_;
  std::deque<Piece> waiting_, reading_;
  std::uint32_t in_use_ = 0;  // chunks of the host tier that are being read or copied on
  std::uint32_t chunks_read_ = 0;
  Nanos first_asked_{}, last_read_{};
};

// Waits until nothing that the engine has begun is open: chunks that landed in the host tier are
// files as well.
Status settle(Session& session, Engine& engine);

}  // namespace kvroof
