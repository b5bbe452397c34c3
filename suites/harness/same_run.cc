// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/same_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "suites/harness/grid_axes.h"

namespace kvroof {
namespace {

constexpr std::size_t kMostShown = 60;  // characters of a value
constexpr std::size_t kMostListed = 6;  // values of an axis

// What may change from one moment to the next on the same machine.
constexpr std::string_view kVaryingOfDevice[] = {"memory_bytes", "host_memory_bytes"};
constexpr std::string_view kVaryingOfSystem[] = {"memory_bytes", "numa_node_bytes", "huge_pages",
                                                 "memlock_bytes", "load_average_1min"};

struct Difference {
  std::string what, there, here;
};
using Found = std::optional<Difference>;

std::string shown(const Json& value) {
  if (value.is_null()) return "nothing";
  const std::string text = value.is_string()
                               ? value.get<std::string>()
                               : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= kMostShown ? text : text.substr(0, kMostShown - 3) + "...";
}

// A list's values from a little before `from` on.
std::string shown_list(const Json& list, std::size_t from) {
  const std::size_t begin = list.size() <= kMostListed ? 0 : from - std::min<std::size_t>(from, 1);
  const std::size_t end = std::min(list.size(), begin + kMostListed);
  std::string text = begin > 0 ? "..." : "";
  for (std::size_t i = begin; i < end; ++i) text += (text.empty() ? "" : ",") + shown(list[i]);
  return end < list.size() ? text + ",..." : text;
}

// The first key of either object whose values differ; "device profile/gemm/rate" where they are
// objects themselves.
Found compare(const std::string& what, const Json& there, const Json& here) {
  if (there == here) return std::nullopt;
  if (!there.is_object() || !here.is_object()) return Difference{what, shown(there), shown(here)};
  const char separator = what.find(' ') == std::string::npos ? ' ' : '/';
  for (const Json* side : {&there, &here}) {
    for (const auto& [key, value] : side->items()) {
      const Json& a = there.contains(key) ? there[key] : Json();
      const Json& b = here.contains(key) ? here[key] : Json();
      if (Found found = compare(what + separator + key, a, b)) return found;
    }
  }
  return std::nullopt;  // the same keys in another order
}

Found compare_lists(const std::string& what, const Json& there, const Json& here) {
  if (!there.is_array() || !here.is_array()) return compare(what, there, here);
  if (there == here) return std::nullopt;
  std::size_t same = 0;
  while (same < std::min(there.size(), here.size()) && there[same] == here[same]) ++same;
  return Difference{what, shown_list(there, same), shown_list(here, same)};
}

Json without(Json object, std::span<const std::string_view> keys) {
  for (const std::string_view key : keys) object.erase(std::string(key));
  return object;
}

Found compare_device(const Json& left, const Json& asked) {
  const Json &there = left.at("device"), &here = asked.at("device");
  if (Found found = compare("--device", there.value("spec", Json()), here.value("spec", Json()))) {
    return found;
  }
  if (there.value("virtual_time", false) && here.value("virtual_time", false)) {
    return compare("device", there, here);
  }
  if (Found found =
          compare("device", without(there, kVaryingOfDevice), without(here, kVaryingOfDevice))) {
    return found;
  }
  return compare("system", without(left.at("system"), kVaryingOfSystem),
                 without(asked.at("system"), kVaryingOfSystem));
}

Found compare_model(const Json& there, const Json& here) {
  if (Found found = compare("model name", there.at("name"), here.at("name"))) return found;
  if (Found found = compare("model layers", there.at("layers"), here.at("layers"))) return found;
  return compare("model", there, here);
}

// "context_tokens" is given as --context, "kv_dtype" as --kv-dtype.
std::string flag_of(const std::string& param) {
  const Axis* axis = find_axis(param);
  return axis ? fmt::format("--{}", axis->flag.name) : param;
}

Found compare_part(const Json& there, const Json& here) {
  if (Found found = compare_lists("suites", there.at("suites"), here.at("suites"))) return found;
  for (const auto& [axis, values] : here.at("grid").items()) {
    const Json other = there.at("grid").value(axis, Json());
    if (Found found = compare_lists(flag_of(axis), other, values)) return found;
  }
  if (Found found = compare("grid", there.at("grid"), here.at("grid"))) return found;
  return compare("--draws", there.at("draws"), here.at("draws"));
}

Found first_difference(const Json& left, const Json& asked) {
  if (Found found = compare("kvroof's", left.at("tool"), asked.at("tool"))) return found;
  if (Found found = compare_model(left.at("model"), asked.at("model"))) return found;
  if (Found found = compare_device(left, asked)) return found;
  if (Found found = compare("--seed", left.at("seed"), asked.at("seed"))) return found;
  return left.contains("part") ? compare_part(left["part"], asked.at("part")) : std::nullopt;
}

}  // namespace

Status same_run(const Json& left, const Json& asked, const std::string& file) try {
  const Found found = first_difference(left, asked);
  if (!found) return {};
  return {Code::invalid,
          fmt::format("cannot resume {}: {} is {} there, and {} here; give what it was run with, "
                      "or leave out --resume to start anew",
                      file, found->what, found->there, found->here)};
} catch (const Json::exception& error) {
  return {Code::invalid, fmt::format("cannot resume {}: its header is not whole: {}; move it away, "
                                     "or give another --out",
                                     file, reason(error))};
}

}  // namespace kvroof
