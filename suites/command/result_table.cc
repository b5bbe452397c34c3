// SPDX-License-Identifier: Apache-2.0
#include "suites/command/result_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "suites/command/quantization_text.h"
#include "suites/command/reasons_text.h"
#include "suites/harness/grid_axes.h"
#include "suites/harness/params_text.h"
#include "suites/harness/table.h"
#include "suites/harness/wrap.h"

namespace kvroof {
namespace {

constexpr double kAboveCeiling = 1.005;  // a share; what is measured wavers
constexpr std::size_t kMostReasons = 4;

std::string not_ok_text(std::span<const Case> cases) {
  std::vector<Unrun> unrun;
  std::vector<Json> params;
  for (const Case& one : cases) {
    params.push_back(one.params);
    params.back().erase("plan");
    if (one.outcome == Outcome::ok) continue;
    unrun.push_back({std::string(name(one.outcome)), one.params.at("plan").get<std::string>(),
                     one.reason, params.back()});
  }
  return reasons_text(unrun, varying_params(params), kMostReasons);
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
std::string above_ceiling_text(std::span<const Case> cases, bool virtual_time) {
  const std::string_view why = virtual_time
                                   ? "the rate or the peak is wrong"
                                   : "one of them was measured while other work ran; run again on "
                                     "a quiet machine";
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
    text += wrap(fmt::format("Warning: {} {}% of the {}: {}.", metric, significant(100 * most),
                             ceiling, why)) +
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

// "live 8, link 5GB/s": what all cases share and a plain run has otherwise, which is no column. The
// serving cost stands beside the basis.
std::string shared_text(std::span<const Case> cases) {
  const Json plain = group_params({});
  std::vector<std::string> shared;
  for (const auto& [key, value] : plain.items()) {
    if (key == "context_tokens" || key == "serving_cost") continue;
    const Json own = cases.front().params.value(key, value);
    const auto same = [&name = key, &own](const Case& one) {
      return one.params.value(name, own) == own;
    };
    if (own == value || !std::ranges::all_of(cases, same)) continue;
    shared.push_back(param_title(key) + " " + param_text(key, own));
  }
  return fmt::format("{}", fmt::join(shared, ", "));
}

std::vector<DType> dtypes_of(std::span<const Case> cases) {
  std::vector<DType> all;
  for (const Case& one : cases) {
    const bool f32 = one.params.value("kv_dtype", Json()) == name(DType::f32);
    all.push_back(f32 ? DType::f32 : DType::bf16);
  }
  return all;
}

std::string basis_text(const ResultHeading& heading, std::span<const Case> cases) {
  std::string text = fmt::format("basis {}", name(basis_of(heading.device, cases)));
  if (!heading.device.virtual_time) return text;
  text += has_draws(cases) ? ": modelled, with 95 % of the draws" : ": modelled, no interval";
  if (cases.empty()) return text;
  return text + "; serving cost " + cases.front().params.at("serving_cost").get<std::string>();
}

std::string heading_text(const ResultHeading& heading, std::string_view title,
                         std::span<const Case> cases) {
  const ModelShape& shape = heading.shape;
  const std::string layers = heading.full_layers == 0
                                 ? fmt::format("{}", shape.layers)
                                 : fmt::format("{} of {}", shape.layers, heading.full_layers);
  std::string model = fmt::format("{}, {}, {} layers", title, shape.name, layers);
  if (shape.ranks > 1) model += fmt::format(", one of {} ranks", shape.ranks);
  std::vector<std::string> lines = {model,
                                    fmt::format("on {}: {}", heading.spec, heading.device.name)};
  if (!cases.empty()) lines.push_back(shared_text(cases));
  lines.push_back(basis_text(heading, cases));
  lines.push_back(heading.note);
  lines.push_back(quantization_text(shape, dtypes_of(cases)));
  std::string text;
  for (const std::string& line : lines) {
    if (!line.empty()) text += wrap(line) + '\n';
  }
  return text;
}

}  // namespace

std::string result_text(const ResultHeading& heading, const SuiteKind& suite,
                        std::span<const Case> cases, std::span<const Answer> answers) {
  std::string text = heading_text(heading, suite.title, cases);
  if (cases.empty()) return text + "No case was run.\n";
  text += suite.text(cases, answers);
  return text + not_ok_text(cases) + wide_text(cases) +
         above_ceiling_text(cases, heading.device.virtual_time);
}

}  // namespace kvroof
