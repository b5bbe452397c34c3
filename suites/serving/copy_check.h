// SPDX-License-Identifier: Apache-2.0
// What `--copy auto` took for a batch's own transfers, beside what each other path would have
// taken: measured, on the very cache that the batch uses.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "suites/harness/json.h"
#include "suites/serving/copy_calibration.h"
#include "suites/serving/request_batch.h"
#include "suites/serving/session.h"

namespace kvroof {

// Of one group of layers and direction.
struct CheckedChoice {
  std::size_t group = 0;
  Direction direction = Direction::load;
  std::uint64_t region_bytes = 0, regions = 0;  // of one request's transfer
  std::uint64_t regions_timed = 0;              // of the transfer that was timed: a part, if large
  CopyPath taken = CopyPath::dma;
  PathTimes times;
  std::string unchecked;  // why nothing was timed; empty: it was
};

// Whether the session's copies choose among paths.
bool copies_by_choice(const Session& session);

// Times all paths for the session's groups. Nothing of the session may be in flight, and what its
// caches hold is lost.
std::vector<CheckedChoice> check_copies(Session& session, const RequestBatch& batch);

// By how much the path taken was slower than the fastest, as a share of that: 0 where it was it.
double worse_by(const CheckedChoice& checked);

// A case's `copy_auto` (results/schema/v1.json).
Json copy_auto_json(const CopyCalibration& calibration, const std::vector<CheckedChoice>& checked);

}  // namespace kvroof
