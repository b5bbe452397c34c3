// SPDX-License-Identifier: Apache-2.0
// Everything that a run needs, once all of it is known to be good.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/api/device.h"
#include "kernels/model/model_shape.h"
#include "suites/command/commands.h"
#include "suites/harness/benchmark_glue.h"
#include "suites/harness/grid.h"
#include "suites/harness/record.h"
#include "suites/harness/suite.h"
#include "suites/tunnel/balance.h"

namespace kvroof {

struct Job {
  std::vector<const SuiteKind*> suites;  // in the order given, none twice
  std::string device_text;               // as given to --device
  std::unique_ptr<Device> device;
  std::optional<Balance> balance;  // of a wind tunnel
  ModelShape shape;
  std::optional<ModelShape> whole;  // as it is, where `shape` was cut to fewer layers
  std::uint64_t seed = 1;
  std::string disk;  // a disk tier's directory, found fit; empty: none
  std::uint32_t draws = 0;
  Grid grid;
  std::vector<ComparisonGroup> groups;  // what `grid` expands to, for each suite

  // The model's own where `shape` was cut to fewer, else 0.
  std::uint32_t full_layers() const { return whole ? whole->layers : 0; }
};

// Checks every option, and opens the device last. `invalid` names the flag and what is expected;
// any other code: a named device that this machine lacks.
Result<Job> read_job(const RunOptions& options, const BenchmarkArguments& benchmark);

// What the record says of a run of `job` that begins now.
RunHeader make_header(const RunOptions& options, const Job& job);

}  // namespace kvroof
