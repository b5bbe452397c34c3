// SPDX-License-Identifier: Apache-2.0
#include "suites/command/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "suites/command/quantization_text.h"
#include "suites/command/reasons_text.h"
#include "suites/harness/grid_axes.h"
#include "suites/harness/params_text.h"
#include "suites/harness/progress.h"
#include "suites/harness/sampler.h"
#include "suites/harness/table.h"
#include "suites/harness/wrap.h"

namespace kvroof {
namespace {

using Align = Table::Align;

constexpr std::size_t kColumns = 80;  // of a terminal
constexpr std::size_t kMostRows = 30;
constexpr double kTera = 1e12, kGiga = 1e9;

std::string count_of(std::size_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

// Of the cases of one suite and plan.
struct Total {
  std::size_t cases = 0, skipped = 0, uncounted = 0;
  double flops = 0, bytes = 0, seconds = 0;
};
using Totals = std::map<std::pair<std::string, PlanKind>, Total>;

Totals add_up(const RunPlan& plan) {
  Totals totals;
  for (const PlannedGroup& group : plan.groups) {
    for (const PlannedCase& one : group.plan.cases) {
      Total& to = totals[{group.suite, one.plan}];
      ++to.cases;
      to.skipped += one.reason.empty() ? 0 : 1;
      to.uncounted += one.counted ? 0 : 1;
      if (!one.reason.empty() || !one.counted) continue;
      to.flops += one.flops;
      to.bytes += static_cast<double>(one.bytes);
      to.seconds += least_seconds(one, group.roofs).value_or(0);
    }
  }
  return totals;
}

std::string totals_text(const Totals& totals) {
  Table table({{"suite", Align::left},
               {"plan", Align::left},
               {"cases"},
               {"skipped"},
               {"TFLOP computed"},
               {"GB copied"},
               {"at least"}});
  for (const auto& [of, total] : totals) {
    const bool counted = total.uncounted == 0;
    table.add_row({of.first, std::string(name(of.second)), fmt::format("{}", total.cases),
                   fmt::format("{}", total.skipped),
                   counted ? significant(total.flops / kTera) : "-",
                   counted ? significant(total.bytes / kGiga) : "-",
                   counted && total.seconds > 0 ? significant(total.seconds) + " s" : "-"});
  }
  return table.text();
}

const PlannedCase* find(const GroupPlan& plan, PlanKind kind) {
  const auto it = std::ranges::find(plan.cases, kind, &PlannedCase::plan);
  return it == plan.cases.end() || !it->reason.empty() || !it->counted ? nullptr : &*it;
}

std::string milliseconds_at_least(const PlannedCase* one, const Ceilings& roofs) {
  const auto seconds = one ? least_seconds(*one, roofs) : std::nullopt;
  return seconds ? milliseconds(*seconds) : "-";
}

// A row a group; empty where it has too many, or is too wide.
std::string groups_text(const RunPlan& plan) {
  if (plan.groups.size() > kMostRows) return {};
  std::vector<Json> params;
  for (const PlannedGroup& one : plan.groups) {
    params.push_back(one.params);
    params.back()["suite"] = one.suite;
  }
  const std::vector<std::string> names = varying_params(params);
  std::vector<Table::Column> columns;
  for (const std::string& name : names) columns.push_back({param_title(name)});
  for (const char* title : {"recompute TFLOP", "ms >=", "copy GB", "ms >="}) {
    columns.push_back({title});
  }
  Table table(columns);
  for (std::size_t i = 0; i < params.size(); ++i) {
    const PlannedGroup& group = plan.groups[i];
    const PlannedCase *recompute = find(group.plan, PlanKind::recompute),
                      *copy = find(group.plan, PlanKind::copy);
    std::vector<std::string> row;
    for (const std::string& name : names) row.push_back(param_text(name, params[i][name]));
    row.push_back(recompute ? significant(recompute->flops / kTera) : "-");
    row.push_back(milliseconds_at_least(recompute, group.roofs));
    row.push_back(copy ? significant(static_cast<double>(copy->bytes) / kGiga) : "-");
    row.push_back(milliseconds_at_least(copy, group.roofs));
    table.add_row(std::move(row));
  }
  return table.width() > kColumns ? std::string() : table.text() + '\n';
}

std::string skipped_text(const RunPlan& plan) {
  std::vector<Unrun> unrun;
  std::vector<Json> params;
  for (const PlannedGroup& group : plan.groups) {
    params.push_back(group.params);
    for (const PlannedCase& one : group.plan.cases) {
      if (one.reason.empty()) continue;
      unrun.push_back({"skipped", std::string(name(one.plan)), one.reason, group.params});
    }
  }
  return reasons_text(unrun, varying_params(params), SIZE_MAX);
}

// Empty where no case would run.
std::string roofs_text(const RunPlan& plan) {
  double least_flops = 0, most_flops = 0, least_link = 0, most_link = 0;
  for (const PlannedGroup& group : plan.groups) {
    const Ceilings& roofs = group.roofs;
    if (roofs.flops <= 0) continue;
    const bool first = least_flops <= 0;
    least_flops = first ? roofs.flops : std::min(least_flops, roofs.flops);
    least_link = first ? roofs.link_in : std::min(least_link, roofs.link_in);
    most_flops = std::max(most_flops, roofs.flops);
    most_link = std::max(most_link, roofs.link_in);
  }
  if (most_flops <= 0) return {};
  const auto range = [](double low, double high, double unit) {
    return low < high ? significant(low / unit) + " to " + significant(high / unit)
                      : significant(high / unit);
  };
  return fmt::format(
      "At least: of one pass, FLOPs over {} TFLOP/s or bytes over {} GB/s, {}; "
      "what runs is slower.",
      range(least_flops, most_flops, kTera), range(least_link, most_link, kGiga),
      plan.measured_roofs ? "measured now with large products and copies"
                          : "the device's stated peaks");
}

std::string duration(double seconds) {
  return seconds < 1 ? "under 1 s" : "about " + short_duration(seconds);
}

std::string wall_text(const Job& job, const RunPlan& plan) {
  if (job.device->info().virtual_time) {
    return fmt::format(
        "Wall time: {}, for {} simulated passes (1 and {} draws a case); the virtual "
        "times are not known before.",
        duration(plan.wall.most), plan.passes, job.draws);
  }
  const std::string least = duration(plan.wall.least), most = duration(plan.wall.most);
  const SamplerConfig sampling;
  return fmt::format(
      "Wall time: {} of sampling at those rates ({} to {} samples a case), and "
      "set-up and checks besides.",
      least == most ? least : least + " to " + most, sampling.min_samples, sampling.max_samples);
}

std::vector<DType> dtypes_of(const RunPlan& plan) {
  std::vector<DType> all;
  for (const PlannedGroup& group : plan.groups) all.push_back(group.plan.dtype);
  return all;
}

bool any_uncounted(const Totals& totals) {
  return std::ranges::any_of(totals, [](const auto& one) { return one.second.uncounted > 0; });
}

}  // namespace

std::string plan_text(const Job& job, const RunPlan& plan) {
  const Totals totals = add_up(plan);
  std::size_t cases = 0;
  for (const auto& [of, total] : totals) cases += total.cases;
  std::string text =
      wrap(fmt::format("Plan, no case is run: {} in {}, {}, {} layers, on {}",
                       count_of(cases, "case"), count_of(plan.groups.size(), "comparison group"),
                       job.shape.name, job.shape.layers, job.device_text)) +
      "\n\n";
  if (const std::string told = quantization_text(job.shape, dtypes_of(plan)); !told.empty()) {
    text += wrap(told) + "\n\n";
  }
  text += groups_text(plan) + totals_text(totals) + '\n';
  text += skipped_text(plan);
  if (any_uncounted(totals)) {
    text += wrap("-: how much of each is copied and computed is found when it runs.") + '\n';
  }
  const std::string roofs = roofs_text(plan);
  if (roofs.empty()) return text + "No case would run.\n";
  return text + wrap(roofs) + '\n' + wrap(wall_text(job, plan)) + '\n';
}

}  // namespace kvroof
