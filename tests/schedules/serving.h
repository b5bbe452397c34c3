// SPDX-License-Identifier: Apache-2.0
// A plain server of conversations over the engine: it knows what each block must hold, and reads
// blocks back to see whether they do.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backends/faults/faulty_device.h"
#include "tests/schedules/accelerator.h"
#include "tests/schedules/contents.h"
#include "tests/schedules/schedule.h"

namespace kvroof::schedules {

class Serving {
 public:
  Serving(FaultyDevice& device, Accelerator& accelerator, Engine& engine, const Setting& setting,
          std::uint64_t seed, Outcomes& outcomes);

  // Something at random.
  void step();

  // Waits for all that is open, and looks at what is left. Faults may be off by then.
  void settle();

  bool over() const { return over_ || !wrong_.empty(); }  // nothing more can be done or shown
  const std::string& wrong() const { return wrong_; }

 private:
  struct Block {
    bool used = false, lost = false;
    std::optional<Point> written;  // by compute, since the last load into it
  };
  struct Request {
    std::uint32_t conversation = 0, chunks = 0;
    std::vector<BlockId> blocks = {};
  };

  // What a request does, by turns.
  void serve();
  void preempt(std::size_t index);
  void finish(std::size_t index);
  void look_at(std::size_t index);
  void store(const Request& request, Offer offer);
  std::uint32_t load_hits(const Request& request, std::vector<bool>& holds);
  void compute(const Request& request, const std::vector<bool>& missing);
  bool compute(BlockId block, const Piece& piece);
  bool is_right(BlockId block, const Piece& piece);

  void cancel_one();
  void prefetch_some();
  void protect_one();
  void let_time_pass();

  // Driving.
  std::optional<std::vector<BlockId>> take_blocks(std::size_t count);
  void give_back(const Request& request);
  Result<std::vector<Point>> ask(const std::function<Result<std::vector<Point>>()>& fences);
  bool drive(std::vector<Point> also = {});  // false: nothing more can come of it
  std::optional<Status> outcome_of(Point read);
  void accept(const Result<TransferId>& id, const char* what);
  void take_results();
  void take(const TransferResult& result);
  void wait_for_all();
  void look_for_leaks();
  void look_at_the_tier();
  void hear(const Status& status);
  void fault(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }
  bool something_never_ends() const;

  std::uint32_t below(std::uint64_t end) { return static_cast<std::uint32_t>(random_() % end); }
  std::span<const ChunkKey> keys(const Request& request) const;
  ChunkTokens tokens(const Request& request, std::size_t chunks) const;
  Nanos deadline();

  FaultyDevice& device_;
  Accelerator& accelerator_;
  Engine& engine_;
  const Setting& setting_;
  std::mt19937_64 random_;
  Outcomes& outcomes_;
  std::vector<Conversation> conversations_;
  std::vector<Block> blocks_;
  std::vector<Request> requests_;
  std::set<TransferId> open_;
  bool over_ = false, lane_lost_ = false;
  std::string wrong_;
};

}  // namespace kvroof::schedules
