// SPDX-License-Identifier: Apache-2.0
#include "suites/command/reasons_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "suites/harness/grid_axes.h"
#include "suites/harness/params_text.h"
#include "suites/harness/wrap.h"

namespace kvroof {
namespace {

constexpr std::size_t kListed = 3;  // more numbers than this are told as a range

// Cases whose reasons differ in figures alone.
struct Alike {
  std::string key;
  std::vector<const Unrun*> cases;
};

std::string without_figures(std::string text) {
  std::erase_if(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return text;
}

std::vector<Alike> group(std::span<const Unrun> all) {
  std::vector<Alike> groups;
  for (const Unrun& one : all) {
    const std::string key = one.outcome + without_figures(one.reason);
    auto it = std::ranges::find(groups, key, &Alike::key);
    if (it == groups.end()) it = groups.insert(it, {key, {}});
    it->cases.push_back(&one);
  }
  return groups;
}

template <class Values, class Value>
void add_once(Values& to, Value value) {
  if (std::ranges::find(to, value) == to.end()) to.push_back(std::move(value));
}

// "64k, 128k" or "1k to 128k".
std::string span_text(const Alike& group, const std::string& name) {
  std::vector<Json> values;
  for (const Unrun* one : group.cases) {
    if (one->params.contains(name)) add_once(values, one->params[name]);
  }
  const auto is_number = [](const Json& value) { return value.is_number(); };
  if (values.size() > kListed && std::ranges::all_of(values, is_number)) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return param_text(name, *least) + " to " + param_text(name, *most);
  }
  std::vector<std::string> texts;
  for (const Json& value : values) texts.push_back(param_text(name, value));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string line_of(const Alike& group, std::span<const std::string> names) {
  const Unrun& first = *group.cases.front();
  const bool same = std::ranges::all_of(
      group.cases, [&](const Unrun* one) { return one->reason == first.reason; });
  std::vector<std::string> plans, spans;
  for (const Unrun* one : group.cases) add_once(plans, one->plan);
  for (const std::string& name : names) {
    spans.push_back(param_title(name) + " " + span_text(group, name));
  }
  return fmt::format("{} ({}): {}{} [{} case{}: {}]", first.outcome, fmt::join(plans, ", "),
                     same ? "" : "the first: ", first.reason, group.cases.size(),
                     group.cases.size() == 1 ? "" : "s", fmt::join(spans, "; "));
}

}  // namespace

std::string reasons_text(std::span<const Unrun> all, std::span<const std::string> names,
                         std::size_t most) {
  const std::vector<Alike> groups = group(all);
  const std::size_t shown = std::min(groups.size(), most);
  std::string text;
  for (const Alike& each : std::span(groups).first(shown)) {
    text += wrap(line_of(each, names)) + '\n';
  }
  if (shown == groups.size()) return text;
  return text + fmt::format("{} more reasons for cases that did not run are in the result file.\n",
                            groups.size() - shown);
}

}  // namespace kvroof
