// SPDX-License-Identifier: Apache-2.0
// `kvroof verify`: the correctness checks alone, on one device.
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "backends/registry/device_spec.h"
#include "suites/catalog/catalog.h"
#include "suites/catalog/model_config.h"
#include "suites/command/commands.h"
#include "suites/command/open_named.h"
#include "suites/harness/grid_values.h"
#include "suites/harness/provenance.h"
#include "suites/harness/record_writer.h"
#include "suites/harness/system_info.h"
#include "suites/harness/table.h"
#include "suites/harness/wall_clock.h"
#include "suites/harness/wrap.h"
#include "suites/verify/verify_kind.h"

namespace kvroof {
namespace {

RunHeader make_header(const VerifyOptions& options, const VerifySetup& setup) {
  RunHeader header;
  header.tool = tool_json();
  header.argv = options.argv;
  header.started = utc_now();
  header.seed = setup.seed;
  header.system = system_json(read_system_info());
  header.device = device_json(setup.device.info(), options.device);
  header.model = model_json(setup.shape, 0);
  header.part = {{"suites", {"verify"}}, {"grid", Json::object()}, {"draws", 0}};
  return header;
}

// One line a check: how many cases ended how, and how much was compared.
std::vector<std::string> row(const VerifyKind& kind, std::span<const Case> cases) {
  const auto count = [&](Outcome outcome) {
    return static_cast<std::uint64_t>(std::ranges::count(cases, outcome, &Case::outcome));
  };
  std::uint64_t compared = 0;
  std::string unit;
  for (const Case& one : cases) {
    for (const auto& [name, metric] : one.metrics) {
      compared += *metric.value;
      unit = name.substr(0, name.find('_'));
    }
  }
  const std::uint64_t bad = count(Outcome::failed) + count(Outcome::incorrect);
  return {std::string(kind.name),
          std::to_string(count(Outcome::ok)),
          bad > 0 ? std::to_string(bad) : "-",
          count(Outcome::skipped) > 0 ? std::to_string(count(Outcome::skipped)) : "-",
          compared > 0 ? fmt::format("{} {}", compared, unit) : "-",
          std::string(kind.about)};
}

std::string which(const Case& one) {
  std::string text = one.params["check"].get<std::string>();
  for (const auto& [key, value] : one.params.items()) {
    if (key == "check") continue;
    text += " " + (value.is_string() ? value.get<std::string>()
                                     : fmt::format("{} {}", key, value.dump()));
  }
  return text;
}

void print_reasons(std::span<const Case> cases) {
  for (const Case& one : cases) {
    if (one.outcome == Outcome::ok) continue;
    fmt::print("{}\n",
               wrap(fmt::format("{}: {}: {}", name(one.outcome), which(one), one.reason), 2));
  }
}

Result<std::vector<const VerifyKind*>> chosen(const VerifyOptions& options) {
  std::vector<const VerifyKind*> kinds;
  std::string known;
  for (const VerifyKind& kind : verify_kinds()) {
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
    const bool named = std::ranges::find(options.checks, kind.name) != options.checks.end();
    if (options.checks.empty() || named) kinds.push_back(&kind);
  }
  for (const std::string& name : options.checks) {
    if (std::ranges::find(verify_kinds(), name, &VerifyKind::name) == verify_kinds().end()) {
      return Status{Code::invalid, fmt::format("--check: {} is not known, expected one of {}",
                                               in_quotes(name), known)};
    }
  }
  return kinds;
}

int run_checks(const VerifyOptions& options, const VerifySetup& setup,
               std::span<const VerifyKind* const> kinds) {
  std::optional<RecordWriter> writer;
  if (!options.out.empty()) {
    auto opened = RecordWriter::open(options.out, make_header(options, setup));
    if (!opened) return fail(kBadUsage, opened.status().text);
    writer.emplace(std::move(*opened));
  }
  Table table({{"check", Table::Align::left},
               {"ok"},
               {"wrong"},
               {"skipped"},
               {"compared"},
               {"what it shows", Table::Align::left}});
  std::vector<Case> all;
  for (const VerifyKind* kind : kinds) {
    const std::vector<Case> cases = kind->run(setup);
    table.add_row(row(*kind, cases));
    for (const Case& one : cases) {
      if (!writer) continue;
      if (Status e = writer->add(one, {all.size(), 1}); !e.ok()) return fail(kBadUsage, e.text);
      all.push_back(one);
    }
    if (!writer) all.insert(all.end(), cases.begin(), cases.end());
  }
  fmt::print("{}\n\n{}",
             wrap(fmt::format("verify on {} ({}, {}{})", options.device, setup.device.info().name,
                              name(setup.device.info().basis),
                              setup.device.info().computes_values
                                  ? ""
                                  : "; computes no values, so that bytes alone are compared")),
             table.text());
  print_reasons(all);
  if (writer) {
    if (Status e = writer->finish({}, utc_now()); !e.ok()) return fail(kBadUsage, e.text);
    fmt::print("Result file: {}\n", options.out);
  }
  const bool bad = std::ranges::any_of(all, [](const Case& one) {
    return one.outcome == Outcome::failed || one.outcome == Outcome::incorrect;
  });
  return bad ? kCheckFailed : kDone;
}

}  // namespace

int verify(const VerifyOptions& options) {
  const auto kinds = chosen(options);
  if (!kinds) return fail(kBadUsage, kinds.status().text);
  const auto seed = parse_count(options.seed, 0, UINT64_MAX / 2);
  if (!seed) return fail(kBadUsage, fmt::format("--seed: {}", seed.status().text));
  auto shape = find_model(options.model);
  if (!shape) return fail(kBadUsage, shape.status().text);
  auto device = open_named(options.device);
  if (!device) {
    return fail(device.code() == Code::invalid ? kBadUsage : kNoDevice, device.status().text);
  }
  return run_checks(options, {**device, *shape, *seed}, *kinds);
}

}  // namespace kvroof
