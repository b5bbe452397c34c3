// SPDX-License-Identifier: Apache-2.0
#include "suites/crossover/crossover_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "suites/harness/crossover_answers.h"
#include "suites/harness/grid_axes.h"
#include "suites/harness/params_text.h"
#include "suites/harness/table.h"
#include "suites/harness/wrap.h"

namespace kvroof {
namespace {

using Align = Table::Align;

constexpr std::size_t kColumns = 80;  // of a terminal

// "all", "none", "8k", with its own interval "8k (4k-16k)"; "~8k" where that or the speedup's does
// not decide.
std::string cell(const Answer* answer, bool with_interval) {
  if (!answer) return "-";
  if (!answer->context_tokens) return "none";
  const auto tokens = [](double count) { return token_count(static_cast<std::uint64_t>(count)); };
  const bool open = answer->verdict == Verdict::inside_interval || (answer->ci95 && !with_interval);
  std::string text = open ? "~" : "";
  const bool all = answer->verdict == Verdict::below_smallest && !open;
  text += all ? "all" : tokens(*answer->context_tokens);
  if (!answer->ci95 || !with_interval) return text;
  return text + fmt::format(" ({}-{})", tokens(answer->ci95->low), tokens(answer->ci95->high));
}

// Answers to the question "crossover" about plan `copy`, by their values of `axes` and the margin.
class Answers {
 public:
  explicit Answers(std::span<const Answer> all) {
    for (const Answer& one : all) {
      if (one.question == "crossover" && one.params.value("plan", "") == "copy")
        own_.push_back(&one);
    }
  }

  const Answer* find(const Json& params, double margin) const {
    for (const Answer* one : own_) {
      if (one->params.at("margin").get<double>() != margin) continue;
      const bool same = std::ranges::all_of(params.items(), [&](const auto& item) {
        return one->params.value(item.key(), Json()) == item.value();
      });
      if (same) return one;
    }
    return nullptr;
  }

  const std::vector<const Answer*>& own() const { return own_; }

 private:
  std::vector<const Answer*> own_;
};

// The params of `one` that `names` lists.
Json pick(const Json& params, std::span<const std::string> names) {
  Json picked = Json::object();
  for (const std::string& name : names) picked[name] = params.value(name, Json());
  return picked;
}

void add_margin_columns(std::vector<Table::Column>& columns) {
  for (const double margin : kMargins) columns.push_back({fmt::format("{}x", margin)});
}

// What closed forms differ by.
const std::vector<std::string> kClosedAxes = {"link", "kv_dtype"};

struct ClosedForm {
  Json params;
  double balance = 0;
  std::map<std::uint64_t, std::pair<double, double>> by_context;  // FLOPs per KV byte, Pi
};

std::vector<ClosedForm> closed_forms(std::span<const Case> cases) {
  std::vector<ClosedForm> forms;
  for (const Case& one : cases) {
    const Metric* pi = find_metric(one, "pi");
    if (!pi) continue;
    const Json params = pick(one.params, kClosedAxes);
    auto form = std::ranges::find(forms, params, &ClosedForm::params);
    if (form == forms.end()) form = forms.insert(form, {params, 0, {}});
    form->balance = *find_metric(one, "machine_balance")->median;
    form->by_context[one.params.at("context_tokens").get<std::uint64_t>()] = {
        *find_metric(one, "flops_per_kv_byte")->median, *pi->median};
  }
  return forms;
}

// As the answers of a series would be that has every context of the form: those of a larger batch
// may end earlier.
std::string closed_cell(const ClosedForm& form, double margin) {
  auto first = form.by_context.end();
  while (first != form.by_context.begin() && std::prev(first)->second.second >= margin) --first;
  if (first == form.by_context.end()) return "none";
  return first == form.by_context.begin() ? "all" : token_count(first->first);
}

// The contexts of all, "1k to 128k"; whether some have fewer.
std::string range_text(std::span<const ClosedForm> forms) {
  std::uint64_t least = UINT64_MAX, most = 0;
  for (const ClosedForm& form : forms) {
    least = std::min(least, form.by_context.begin()->first);
    most = std::max(most, form.by_context.rbegin()->first);
  }
  const bool alike = std::ranges::all_of(forms, [&](const ClosedForm& form) {
    return form.by_context.begin()->first == least && form.by_context.rbegin()->first == most;
  });
  return fmt::format("{} to {} tokens{}", token_count(least), token_count(most),
                     alike ? "" : " (some rows fewer)");
}

std::string closed_text(std::span<const ClosedForm> forms) {
  std::vector<Table::Column> columns = {
      {"link", Align::left}, {"KV", Align::left}, {"FLOP/link B"}, {"FLOP/KV B"}, {"Pi"}};
  add_margin_columns(columns);
  Table table(columns);
  for (const ClosedForm& form : forms) {
    const auto& first = form.by_context.begin()->second;
    const auto& last = form.by_context.rbegin()->second;
    std::vector<std::string> row = {
        param_text("link", form.params["link"]), param_text("kv_dtype", form.params["kv_dtype"]),
        fmt::format("{:.0f}", form.balance),
        fmt::format("{:.0f} to {:.0f}", first.first, last.first),
        fmt::format("{} to {}", significant(first.second), significant(last.second))};
    for (const double margin : kMargins) row.push_back(closed_cell(form, margin));
    table.add_row(std::move(row));
  }
  return wrap(fmt::format("Closed form, by the two roofs alone: copying is faster by a margin once "
                          "Pi, FLOPs per KV byte over the machine's FLOPs per link byte, reaches "
                          "it. From {}:",
                          range_text(forms))) +
         "\n" + table.text();
}

// What the cases differ by, also where the series that are there do not.
std::vector<std::string> varying(std::span<const Case> cases) {
  std::vector<Json> all;
  for (const Case& one : cases) {
    all.push_back(one.params);
    for (const char* within : {"plan", "context_tokens"}) all.back().erase(within);
  }
  return varying_params(all);
}

// A row a series.
Table series_table(const Answers& answers, const std::vector<std::string>& names,
                   bool with_intervals) {
  std::vector<Table::Column> columns;
  for (const std::string& name : names) columns.push_back({param_title(name), Align::left});
  add_margin_columns(columns);
  Table table(columns);
  std::vector<Json> seen;
  for (const Answer* one : answers.own()) {
    const Json params = pick(one->params, names);
    if (std::ranges::find(seen, params) != seen.end()) continue;
    seen.push_back(params);
    std::vector<std::string> row;
    for (const std::string& name : names) row.push_back(param_text(name, params[name]));
    for (const double margin : kMargins) {
      row.push_back(cell(answers.find(params, margin), with_intervals));
    }
    table.add_row(std::move(row));
  }
  return table;
}

std::string series_text(std::span<const Case> cases, const Answers& answers) {
  const std::vector<std::string> names = varying(cases);
  const Table whole = series_table(answers, names, true);
  const bool fits = whole.width() <= kColumns;
  const auto any = [&](auto has) {
    return std::ranges::any_of(answers.own(), [&](const Answer* one) { return has(*one); });
  };
  std::string legend =
      "Copying is faster by a margin from so many tokens up, of the contexts tried: at all of "
      "them, "
      "or at none.";
  if (any([](const Answer& one) { return one.ci95.has_value(); }) && fits) {
    legend += " In brackets: where 95 % of the draws have it.";
  }
  if (any([&](const Answer& one) {
        return one.verdict == Verdict::inside_interval || (one.ci95 && !fits);
      })) {
    legend += " With ~ the 95 % interval does not decide it.";
  }
  return wrap(legend) + '\n' + (fits ? whole : series_table(answers, names, false)).text();
}

}  // namespace

std::string crossover_text(std::span<const Case> cases, std::span<const Answer> answers) {
  const std::vector<ClosedForm> forms = closed_forms(cases);
  const Answers own(answers);
  if (forms.empty() || own.own().empty()) {
    return "No crossover: that takes plans recompute and copy, both run.\n";
  }
  return closed_text(forms) + series_text(cases, own);
}

}  // namespace kvroof
