// SPDX-License-Identifier: Apache-2.0
#include "suites/command/result_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "suites/command/crossover_table.h"
#include "suites/command/params_text.h"
#include "suites/harness/grid_axes.h"
#include "suites/harness/table.h"
#include "suites/harness/wrap.h"

namespace kvroof {
namespace {

using Align = Table::Align;

constexpr std::size_t kColumns = 80;     // of a terminal
constexpr double kAboveCeiling = 1.005;  // a share; what is measured wavers
constexpr std::size_t kMostReasons = 4;
constexpr std::size_t kMostAnswers = 3;  // one series, three margins

// Cases of one group, by plan.
struct Group {
  Json params;
  std::map<std::string, const Case*> plans;
};

std::vector<Group> group(std::span<const Case> cases) {
  std::vector<Group> groups;
  for (const Case& one : cases) {
    Json params = one.params;
    params.erase("plan");
    if (groups.empty() || groups.back().params != params) groups.push_back({params, {}});
    groups.back().plans[one.params.at("plan").get<std::string>()] = &one;
  }
  return groups;
}

// Params that differ between groups.
std::vector<std::string> varying(const std::vector<Group>& groups) {
  std::vector<Json> all;
  for (const Group& one : groups) all.push_back(one.params);
  return varying_params(all);
}

const Metric* metric_of(const Group& group, const std::string& plan, std::string_view name) {
  const auto it = group.plans.find(plan);
  if (it == group.plans.end() || it->second->outcome != Outcome::ok) return nullptr;
  return find_metric(*it->second, name);
}

std::string time_text(const Metric* metric) {
  if (!metric) return "-";
  std::string text = milliseconds(*metric->median);
  if (metric->ci95) {
    const double half = relative_half_width(*metric->ci95, *metric->median);
    const bool wide = metric->samples_enough == false;
    text += fmt::format(" ±{}%{}", significant(100 * half, 2), wide ? "!" : "");
  }
  return text;
}

std::string number_text(const Metric* metric, double factor) {
  return metric ? significant(*metric->median * factor) : "-";
}

// A row a group, with a column for each of `names` in front.
Table table_of(std::span<const Group> groups, std::span<const std::string> names) {
  std::vector<Table::Column> columns;
  for (const std::string& name : names) {
    columns.push_back({param_title(name), Align::right});
  }
  const bool hybrid =
      std::ranges::any_of(groups, [](const Group& g) { return g.plans.contains("hybrid"); });
  std::vector<const char*> titles = {"recompute ms", "copy ms", "speedup", "MFU %", "link %"};
  if (hybrid) titles.insert(titles.begin() + 3, {"hybrid ms", "gain"});
  for (const char* title : titles) columns.push_back({title, Align::right});
  Table table(columns);
  for (const Group& g : groups) {
    std::vector<std::string> row;
    for (const std::string& name : names)
      row.push_back(param_text(name, g.params.value(name, Json())));
    row.push_back(time_text(metric_of(g, "recompute", "ttft")));
    row.push_back(time_text(metric_of(g, "copy", "ttft")));
    row.push_back(number_text(metric_of(g, "copy", "speedup"), 1));
    if (hybrid) {
      row.push_back(time_text(metric_of(g, "hybrid", "ttft")));
      row.push_back(number_text(metric_of(g, "hybrid", "gain_over_pure"), 1));
    }
    row.push_back(number_text(metric_of(g, "recompute", "mfu"), 100));
    row.push_back(number_text(metric_of(g, "copy", "link_share"), 100));
    table.add_row(std::move(row));
  }
  return table;
}

// "batch 4, layout block_first": what a section's groups share.
std::string heading(const Group& group, std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", name, param_text(name, group.params.value(name, Json())));
  }
  return text;
}

// One table where it is narrow enough, else one for each combination of what varies beside the
// context.
std::string table_text(const std::vector<Group>& groups) {
  const std::vector<std::string> names = varying(groups);
  const Table whole = table_of(groups, names);
  if (whole.width() <= kColumns) return whole.text();
  const auto others = std::span(names).subspan(1);
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < groups.size(); begin = end) {
    const std::string shared = heading(groups[begin], others);
    while (end < groups.size() && heading(groups[end], others) == shared) ++end;
    text += '\n' + wrap(shared) + '\n';
    text +=
        table_of(std::span(groups).subspan(begin, end - begin), std::span(names).first(1)).text();
  }
  return text;
}

void add_once(std::vector<std::string>& to, std::string text) {
  if (std::ranges::find(to, text) == to.end()) to.push_back(std::move(text));
}

// One line a reason, with the plans and contexts that it holds for; not too many.
std::string not_ok_text(std::span<const Case> cases) {
  struct Reason {
    std::string outcome, why;
    std::vector<std::string> plans, contexts;
  };
  std::vector<Reason> reasons;
  for (const Case& one : cases) {
    if (one.outcome == Outcome::ok) continue;
    auto it = std::ranges::find(reasons, one.reason, &Reason::why);
    if (it == reasons.end()) {
      it = reasons.insert(it, {std::string(name(one.outcome)), one.reason, {}, {}});
    }
    add_once(it->plans, one.params.at("plan").get<std::string>());
    add_once(it->contexts, token_count(one.params.at("context_tokens").get<std::uint64_t>()));
  }
  std::string text;
  const std::size_t shown = std::min(reasons.size(), kMostReasons);
  for (const Reason& each : std::span(reasons).first(shown)) {
    text += wrap(fmt::format("{} ({}): {} [context {}]", each.outcome, fmt::join(each.plans, ", "),
                             each.why, fmt::join(each.contexts, ", "))) +
            '\n';
  }
  if (shown == reasons.size()) return text;
  return text + fmt::format("{} more reasons for cases that did not run are in the result file.\n",
                            reasons.size() - shown);
}

std::string answer_text(const Answer& answer) {
  const double margin = answer.params.at("margin").get<double>();
  const std::string from =
      answer.context_tokens ? token_count(static_cast<std::uint64_t>(*answer.context_tokens)) : "";
  switch (answer.verdict) {
    case Verdict::none_in_range:
      return fmt::format("at no context tried up to the longest is copying {}x faster", margin);
    case Verdict::below_smallest:
      return fmt::format("copying is at least {}x faster at every context tried ({} up)", margin,
                         from);
    case Verdict::inside_interval:
      return fmt::format("{}x: the crossover lies inside the interval at {}", margin, from);
    case Verdict::found:
      break;
  }
  return fmt::format("copying is at least {}x faster from {} tokens up", margin, from);
}

std::string_view kind_of(Basis basis) {
  return basis == Basis::measured || basis == Basis::emulated ? name(basis) : "modelled";
}

std::string answers_text(std::span<const Answer> answers) {
  if (answers.size() > kMostAnswers) {
    return fmt::format("{} crossovers are in the result file's answers.\n", answers.size());
  }
  std::string text;
  for (const Answer& answer : answers) {
    text += fmt::format("{}: {}\n", kind_of(answer.basis), answer_text(answer));
  }
  return text;
}

// The weakest of what was run: a link of the grid may be paced where the device itself is not.
Basis basis_of(const DeviceInfo& device, std::span<const Case> cases) {
  Basis weakest = device.basis;
  for (const Case& one : cases) {
    if (one.outcome == Outcome::ok) weakest = std::max(weakest, one.basis);
  }
  return weakest;
}

// Shares above a ceiling: whichever of the two figures is wrong, the reader must hear of it.
std::string above_ceiling_text(std::span<const Case> cases) {
  constexpr std::pair<const char*, const char*> kShares[] = {{"mfu", "compute peak"},
                                                             {"link_share", "link's peak"}};
  std::string text;
  for (const auto& [metric, ceiling] : kShares) {
    double most = 0;
    for (const Case& one : cases) {
      const Metric* share = find_metric(one, metric);
      if (share) most = std::max(most, *share->median);
    }
    if (most <= kAboveCeiling) continue;
    text += wrap(fmt::format("Warning: {} {}% of the {}: the rate or the peak is wrong.", metric,
                             significant(100 * most), ceiling)) +
            '\n';
  }
  return text;
}

// What "!" behind an interval means, where one stands there.
std::string wide_text(std::span<const Case> cases) {
  for (const Case& one : cases) {
    for (const auto& [key, metric] : one.metrics) {
      if (metric.samples_enough == false) {
        return wrap(
                   "! the 95 % interval stayed wider than was asked of the samples: take the "
                   "figure as rough, or run again on a quiet machine") +
               '\n';
      }
    }
  }
  return {};
}

bool has_draws(std::span<const Case> cases) {
  return std::ranges::any_of(cases, [](const Case& one) {
    const Metric* ttft = find_metric(one, "ttft");
    return ttft && ttft->ci95;
  });
}

std::string heading_text(const ResultHeading& heading, const char* title,
                         std::span<const Case> cases) {
  const ModelShape& shape = heading.shape;
  const DeviceInfo& device = heading.device;
  const std::string layers = heading.full_layers == 0
                                 ? fmt::format("{}", shape.layers)
                                 : fmt::format("{} of {}", shape.layers, heading.full_layers);
  std::string text = fmt::format("{}, {}, {} layers", title, shape.name, layers);
  if (shape.ranks > 1) text += fmt::format(", one of {} ranks", shape.ranks);
  text += fmt::format("\non {}: {}", heading.spec, device.name);
  text += fmt::format("\nbasis {}", name(basis_of(device, cases)));
  if (!heading.note.empty()) text += '\n' + wrap(heading.note);
  if (!device.virtual_time) return text + '\n';
  text += has_draws(cases) ? ": modelled, with 95 % of the draws" : ": modelled, no interval";
  if (!cases.empty()) {
    text += "; serving cost " + cases.front().params.at("serving_cost").get<std::string>();
  }
  return text + '\n';
}

}  // namespace

std::string result_text(const ResultHeading& heading, std::string_view suite,
                        std::span<const Case> cases, std::span<const Answer> answers) {
  const bool crossover = suite == "crossover";
  std::string text = heading_text(heading, crossover ? "Crossover" : "Time to first token", cases);
  if (cases.empty()) return text + "No case was run.\n";
  text += crossover ? crossover_text(cases, answers) : table_text(group(cases));
  text += not_ok_text(cases);
  text += wide_text(cases);
  text += above_ceiling_text(cases);
  return crossover ? text : text + answers_text(answers);
}

}  // namespace kvroof
