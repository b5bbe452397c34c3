// SPDX-License-Identifier: Apache-2.0
// Sequences that are being served while a batch is restored: each decodes a token whenever the
// compute lane has nothing else to do, and rides along with every forward pass.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "suites/serving/request_batch.h"
#include "suites/serving/session.h"

namespace kvroof {

class LiveDecoding {
 public:
  LiveDecoding(Session& session, const RequestBatch& batch) : s_(session), batch_(batch) {}

  bool any() const { return !batch_.live.empty(); }
  std::uint32_t steps() const { return steps_; }

  // The next token of each sequence. Its logits lie behind those of request `index`, so that one
  // product serves all.
  std::vector<PrefillRequest> requests(std::size_t index) const;

  // Submits a forward pass of these alone.
  Status step();

  // Every other pass is to be told, so that it is known what the lane ends with.
  void note_submitted(Ticket ticket) { last_ = ticket; }
  Point last() const { return {&s_.prefill->queue(), last_}; }
  bool lane_is_idle() const;

 private:
  Session& s_;
  const RequestBatch& batch_;
  Ticket last_ = 0;  // of the compute lane; 0: none
  std::uint32_t steps_ = 0;
};

}  // namespace kvroof
