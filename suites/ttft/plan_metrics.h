// SPDX-License-Identifier: Apache-2.0
// The samples of one plan as metrics of its case.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "suites/harness/record.h"
#include "suites/ttft/group_run.h"

namespace kvroof {

// `figure` takes a Restore. On virtual time there is one sample, and an interval where parameters
// were drawn.
class PlanMetrics {
 public:
  PlanMetrics(const Session& session, const PlanRuns& runs, Case& to)
      : virtual_time_(session.device.info().virtual_time), runs_(runs), case_(to) {}

  template <class Figure>
  void add(const char* name, const char* unit, Figure figure) {
    case_.metrics.emplace_back(name, make(unit, figure));
  }

  template <class Figure>
  Metric make(const char* unit, Figure figure) const {
    std::vector<double> samples;
    for (const Restore& restore : runs_.restores) samples.push_back(figure(restore));
    if (virtual_time_) {
      std::vector<double> draws;
      for (const Restore& restore : runs_.drawn) draws.push_back(figure(restore));
      return modelled_metric(unit, samples.front(), std::move(draws));
    }
    return measured_metric(unit, std::move(samples), runs_.enough);
  }

  void constant(const char* name, const char* unit, double value) {
    case_.metrics.emplace_back(name, modelled_metric(unit, value));
  }

  void count(const char* name, const char* unit, std::uint64_t value) {
    case_.metrics.emplace_back(name, count_metric(unit, value));
  }

 private:
  bool virtual_time_;
  const PlanRuns& runs_;
  Case& case_;
};

}  // namespace kvroof
