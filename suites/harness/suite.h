// SPDX-License-Identifier: Apache-2.0
// What a suite is to `kvroof run`: a row that names it, and an object that runs its groups on one
// device.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/api/device.h"
#include "kernels/model/model_shape.h"
#include "suites/harness/grid.h"
#include "suites/harness/record.h"

namespace kvroof {

// How a simulated device's parameters are drawn for intervals: `redraw` makes it draw by a seed, 0
// being the parameters as they are.
struct Draws {
  std::uint32_t count = 0;
  std::function<Status(std::uint64_t seed)> redraw;
};

struct SuiteSetup {
  Device& device;
  ModelShape shape;                   // as it runs
  std::optional<ModelShape> whole{};  // as it is, where `shape` was cut to fewer layers
  std::uint64_t seed = 1;
  std::string disk{};  // the directory of a disk tier; empty: nothing is written
  Draws draws{};
  std::vector<ComparisonGroup> groups{};  // all that may run on this device
  Status unavailable{};  // why every one is skipped, where the device can't be had as they need it
};

// What one case would do in one pass, as far as that is known without running it.
struct PlannedCase {
  PlanKind plan = PlanKind::recompute;
  std::string reason;   // why it is skipped; empty: it runs
  bool counted = true;  // false: how much is copied and computed is found when it runs
  std::uint64_t bytes = 0, regions = 0;  // of KV, copied to the device
  double flops = 0;
};

struct GroupPlan {
  std::vector<PlannedCase> cases;
  DType dtype = DType::bf16;    // of the matrix products
  std::uint64_t contents = 0;   // bytes of KV that really move on a simulated device
  double sampling_seconds = 0;  // on a real device: no more samples after so long; 0: unknown
};

class Suite {
 public:
  virtual ~Suite() = default;

  // The group's cases, at least one, in an order of the suite's. What can't run is a case that is
  // skipped or failed with its reason.
  virtual std::vector<Case> run(const ComparisonGroup& group) = 0;

  // What run() would do; nothing is run or allocated.
  virtual GroupPlan plan(const ComparisonGroup& group) = 0;
};

struct SuiteKind {
  std::string_view name;   // on the command line, and in its cases
  std::string_view title;  // above its text: "Time to first token"
  std::string_view about;  // in the command's help: "how long until the first token, by plan"
  std::unique_ptr<Suite> (*make)(SuiteSetup setup);
  std::vector<Answer> (*answers)(std::span<const Case> cases);  // of all its cases of a run
  // What the terminal shows of both, in 80 columns; `cases` are not empty.
  std::string (*text)(std::span<const Case> cases, std::span<const Answer> answers);
};

}  // namespace kvroof
