// SPDX-License-Identifier: Apache-2.0
// Suite `crossover`: from which context on is copying faster, over batch, live sequences, dtypes
// and links? Times as in suite `ttft`, without its checks of contents on a simulated device; beside
// them the closed form, by the two roofs alone.
#pragma once
#include <vector>

#include "suites/harness/suite.h"
#include "suites/ttft/ttft.h"

namespace kvroof {

class CrossoverSuite : public Suite {
 public:
  explicit CrossoverSuite(SuiteSetup setup);

  // As TtftSuite::run, with these on plan `copy` where `recompute` ran too:
  //   flops_per_kv_byte  FLOPs of recomputing a context over the bytes of its KV
  //   machine_balance    the compute ceiling over the link's, FLOP a byte
  //   pi                 the quotient of the two: the speedup if only the roofs counted
  std::vector<Case> run(const ComparisonGroup& group) override;

  GroupPlan plan(const ComparisonGroup& group) override { return timed_.plan(group); }

 private:
  void add_closed_form(const GridPoint& point, std::vector<Case>& cases) const;

  const ModelShape shape_;
  TtftSuite timed_;
};

}  // namespace kvroof
