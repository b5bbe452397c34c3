// SPDX-License-Identifier: Apache-2.0
#include "suites/ttft/ttft_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "suites/harness/crossover_answers.h"
#include "suites/harness/grid_axes.h"
#include "suites/harness/params_text.h"
#include "suites/harness/table.h"
#include "suites/harness/wrap.h"

namespace kvroof {
namespace {

using Align = Table::Align;

constexpr std::size_t kColumns = 80;                       // of a terminal
constexpr std::size_t kMostAnswers = std::size(kMargins);  // of one series

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
  const std::string text = milliseconds(*metric->median);
  if (!metric->ci95) return text;
  const bool wide = metric->samples_enough == false;
  return text + " " + interval_text(*metric->ci95, *metric->median) + (wide ? "!" : "");
}

std::string number_text(const Metric* metric, double factor) {
  return metric ? significant(*metric->median * factor) : "-";
}

// A figure of each group.
struct Figure {
  const char *title, *plan, *metric;
  double factor = 1;  // 0: a time
};

std::string figure_text(const Figure& figure, const Group& group) {
  const Metric* metric = metric_of(group, figure.plan, figure.metric);
  return figure.factor == 0 ? time_text(metric) : number_text(metric, figure.factor);
}

std::vector<Figure> figures_of(std::span<const Group> groups) {
  std::vector<Figure> figures = {{"recompute ms", "recompute", "ttft", 0},
                                 {"copy ms", "copy", "ttft", 0},
                                 {"speedup", "copy", "speedup"}};
  if (std::ranges::any_of(groups, [](const Group& g) { return g.plans.contains("hybrid"); })) {
    figures.push_back({"hybrid ms", "hybrid", "ttft", 0});
    figures.push_back({"gain", "hybrid", "gain_over_pure"});
  }
  figures.push_back({"MFU%", "recompute", "mfu", 100});
  figures.push_back({"link%", "copy", "link_share", 100});
  return figures;
}

// A row a group, with a column for each of `names` in front.
Table table_of(std::span<const Group> groups, std::span<const std::string> names,
               std::span<const Figure> figures) {
  std::vector<Table::Column> columns;
  for (const std::string& name : names) columns.push_back({param_title(name)});
  for (const Figure& figure : figures) columns.push_back({figure.title});
  Table table(columns);
  for (const Group& group : groups) {
    std::vector<std::string> row;
    for (const std::string& name : names)
      row.push_back(param_text(name, group.params.value(name, Json())));
    for (const Figure& figure : figures) row.push_back(figure_text(figure, group));
    table.add_row(std::move(row));
  }
  return table;
}

// As many tables below each other as it takes to keep each narrow enough.
std::string tables_text(std::span<const Group> groups, std::span<const std::string> names,
                        std::span<const Figure> figures) {
  std::size_t shown = figures.size();
  while (shown > 1 && table_of(groups, names, figures.first(shown)).width() > kColumns) --shown;
  const std::string text = table_of(groups, names, figures.first(shown)).text();
  if (shown == figures.size()) return text;
  return text + '\n' + tables_text(groups, names, figures.subspan(shown));
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
  const std::vector<Figure> figures = figures_of(groups);
  const Table whole = table_of(groups, names, figures);
  if (whole.width() <= kColumns) return whole.text();
  const auto context = std::span(names).first(1), others = std::span(names).subspan(1);
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < groups.size(); begin = end) {
    const std::string shared = heading(groups[begin], others);
    while (end < groups.size() && heading(groups[end], others) == shared) ++end;
    if (!shared.empty()) text += '\n' + wrap(shared) + '\n';
    text += tables_text(std::span(groups).subspan(begin, end - begin), context, figures);
  }
  return text;
}

std::string answer_text(const Answer& answer) {
  const double margin = answer.params.at("margin").get<double>();
  const auto tokens = [](double count) { return token_count(static_cast<std::uint64_t>(count)); };
  if (!answer.context_tokens) {
    return fmt::format("at no context tried up to the longest is copying {}x faster", margin);
  }
  const std::string from = tokens(*answer.context_tokens);
  std::string text = fmt::format("copying is at least {}x faster from {} tokens up", margin, from);
  if (answer.verdict == Verdict::below_smallest) {
    text =
        fmt::format("copying is at least {}x faster at every context tried ({} up)", margin, from);
  } else if (answer.verdict == Verdict::inside_interval) {
    text = fmt::format("{}x: the crossover lies inside the interval at {}", margin, from);
  }
  if (!answer.ci95) return text;
  return text +
         fmt::format(" (95 %: {} to {})", tokens(answer.ci95->low), tokens(answer.ci95->high));
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
    text += wrap(fmt::format("{}: {}", kind_of(answer.basis), answer_text(answer))) + '\n';
  }
  return text;
}

}  // namespace

std::string ttft_text(std::span<const Case> cases, std::span<const Answer> answers) {
  return table_text(group(cases)) + answers_text(answers);
}

}  // namespace kvroof
