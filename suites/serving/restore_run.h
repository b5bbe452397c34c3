// SPDX-License-Identifier: Apache-2.0
// One run of a batch, from submission to its last first token: the CPU's turns, the loads, the
// forward passes, and live sequences that decode meanwhile.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "suites/serving/live_decoding.h"
#include "suites/serving/restore.h"
#include "suites/serving/two_hops.h"

namespace kvroof {

// One request on its way.
struct Flight {
  Ticket scheduled = 0, prepared = 0;  // on the CPU lane; 0: not yet, or no time is spent
  Ticket front = 0;                    // the forward pass of what lies before the load; 0: none yet
  std::vector<TransferId> loads;       // one a group of layers; 0: none
  bool load_failed = false;
  Ticket first_token = 0;
  Nanos end{};
};

// One CPU turns to the requests in order: it schedules one, submits its front's forward pass,
// prepares its load and starts it. What follows a load is submitted once the load has left the
// engine's lane, while the CPU is at later requests.
class RestoreRun {
 public:
  RestoreRun(Session& session, const RequestBatch& batch, ChunkRange loaded,
             const ServingCost& cost);

  // Nothing touches the batch's buffers any more once it has returned, also where it failed.
  Result<Restore> run();

 private:
  Result<Restore> run_to_end();
  std::uint32_t tokens_loaded() const { return range_.count * s_.chunk_tokens(); }
  std::uint32_t front_tokens() const {
    return range_.count == 0 ? 0 : range_.first * s_.chunk_tokens();
  }
  ChunkRange needed(std::size_t group) const { return needed_chunks(s_, batch_, range_, group); }

  // Does all that can be done without waiting.
  Status drive();
  Status drive_until(const std::function<bool()>& reached);
  Status drive_until(Point point);
  Result<std::size_t> wait_any(std::span<const Point> points);
  Status wait_for_something();
  // The points whose completion lets drive() go on.
  std::vector<Point> open_points() const;

  // The CPU's turn ends where the load has begun. False: it has to wait.
  Result<bool> advance_cpu();
  Status reap_cpu();
  Status spend(Nanos duration, Ticket& ticket);
  Status start_load(const Request& request, Flight& flight);

  // Submits what follows the load of the next request, once that load is fenced on. False: nothing
  // to submit yet.
  Result<bool> advance_forward();
  // Of the load, in `fences`. False: some of it is not on the engine's lane yet.
  Result<bool> add_load_fences(const Request& request, std::vector<Point>& fences);
  // The same of one layer's: the others may still wait in the engine's lane.
  Result<bool> add_layer_fences(const Request& request, std::uint32_t layer,
                                std::vector<Point>& fences);
  Result<bool> add_fences(const Request& request, std::size_t group, std::uint32_t layer,
                          std::vector<Point>& fences);
  // As above, once there are some.
  Result<std::vector<Point>> fences_of_layer(const Request& request, std::uint32_t layer);
  // The compute lane is in order: what waits in it keeps the live sequences from decoding.
  bool holds_up_decoding(Ticket by_cpu) const { return live_.any() && by_cpu > cpu_done_; }
  Result<bool> keep_decoding();
  // While the compute lane is full, the CPU and the loads go on.
  Result<Ticket> submit(std::size_t index, const PrefillRequest& work,
                        std::span<const Point> fences, const FencesOfLayer& of_layer = nullptr);
  Status submit_rest(std::size_t index, std::uint32_t past, std::span<const Point> fences,
                     const FencesOfLayer& of_layer = nullptr);

  Status land_loads(Nanos begin, Restore& result);
  Status land_two_hops(Nanos begin, Restore& result);
  // In order. A request whose load failed was given work behind failed copies, which the device
  // aborted: all but its front is computed again.
  Status land_first_tokens();
  void add_times(Nanos begin, Restore& result) const;

  Session& s_;
  const RequestBatch& batch_;
  const ChunkRange range_;
  const Nanos schedule_, prepare_;
  LiveDecoding live_;
  std::vector<Flight> flights_;
  std::optional<TwoHops> hops_;  // where there is a disk tier; its n-th request is flight n
  std::size_t turn_ = 0;         // the request that the CPU is at
  std::size_t forwards_ = 0;     // requests whose first token is submitted
  bool submitting_ = false;      // a forward pass, which no other may be mixed with
  Ticket cpu_done_ = 0;
};

}  // namespace kvroof
