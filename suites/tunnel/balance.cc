// SPDX-License-Identifier: Apache-2.0
#include "suites/tunnel/balance.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "backends/registry/device_spec.h"
#include "suites/catalog/model_config.h"
#include "suites/harness/grid.h"
#include "suites/harness/record_parse.h"
#include "suites/harness/sampler.h"
#include "suites/harness/seconds.h"
#include "suites/harness/table.h"
#include "suites/serving/restore.h"
#include "suites/ttft/ttft.h"

namespace kvroof {
namespace {

// Narrower than a suite asks for: every point of a run inherits this error.
constexpr double kHalfWidth = 0.02;
constexpr std::uint32_t kMinSamples = 7, kMaxSamples = 60;
constexpr double kMaxSeconds = 10;

// More than the tunnel's own agreement with its machine allows for would be told as an error of it.
constexpr double kMostDrift = 0.1;

// The copy case of the reference model, or why there is none.
Result<Case> simulate(Device& machine, std::uint64_t seed) {
  auto reference = find_model(kTunnelReference);
  if (!reference) return reference.status();
  GridPoint point;
  point.context_tokens = kTunnelScale * kBalancedContext;
  const ComparisonGroup group{point, {PlanKind::recompute, PlanKind::copy}};
  TtftSuite suite(
      {.device = machine, .shape = std::move(*reference), .seed = seed, .groups = {group}});
  for (Case& one : suite.run(group)) {
    if (one.outcome != Outcome::ok) {
      return Status{Code::invalid, fmt::format("{} can't be simulated on {}: {}", kTunnelReference,
                                               machine.info().name, one.reason)};
    }
    if (find_metric(one, "speedup_alone")) return std::move(one);
  }
  return Status{
      Code::invalid,
      fmt::format("{} loads nothing of {} on {}, so there is no balance to imitate: give "
                  "option balance another device",
                  kTunnelReference, token_count(point.context_tokens), machine.info().name)};
}

SessionSpec spec_for(DType dtype, std::uint64_t seed) {
  SessionSpec spec;
  spec.dtype = spec.kv_dtype = dtype;
  spec.sequence_tokens = kBalancedContext;
  spec.blocks = kBalancedContext / spec.block_tokens;
  spec.step_tokens = kBalancedContext;
  spec.host_tier_bytes = 64ull << 20;  // nothing is stored in it
  spec.seed = seed;
  return spec;
}

Result<Metric> measure_prefill(Device& host, const ModelShape& shape, DType dtype,
                               std::uint64_t seed) {
  auto session = Session::create(host, shape, spec_for(dtype, seed));
  if (!session) return session.status();
  const auto batch = RequestBatch::create(**session, kBalancedContext, 1, seed);
  if (!batch) return batch.status();
  const Arm arm = [&]() -> Result<Observation> {
    const auto done = recompute(**session, *batch, {});
    if (!done) return done.status();
    return Observation{seconds(done->ttft), {}};
  };
  SamplerConfig config;
  config.target_half_width = kHalfWidth;
  config.warm_ups = 2;
  config.min_samples = kMinSamples;
  config.max_samples = kMaxSamples;
  config.max_seconds = kMaxSeconds;
  config.seed = seed;
  const ArmSamples samples = sample_interleaved({&arm, 1}, config).front();
  if (!samples.status.ok()) return samples.status;
  return measured_metric("s", samples.seconds(), samples.enough);
}

// Four digits and a unit.
std::string rate_option(double rate) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "KB/s"}};
  for (const auto& [factor, unit] : kUnits) {
    if (rate >= factor) return fmt::format("{:.4g}{}", rate / factor, unit);
  }
  return fmt::format("{:.0f}B/s", rate);
}

}  // namespace

bool is_tunnel_model(const ModelShape& shape) {
  const auto own = find_model(kTunnelModel);
  return own && shape.name == own->name && shape.source == own->source;
}

Result<Balance> find_balance(Device& machine, Device& host, const ModelShape& shape, DType dtype,
                             std::uint64_t seed) {
  const auto simulated = simulate(machine, seed);
  if (!simulated) return simulated.status();
  auto prefill = measure_prefill(host, shape, dtype, seed);
  if (!prefill) return prefill.status();
  Balance balance;
  balance.machine = machine.info().name;
  balance.pi = *find_metric(*simulated, "speedup_alone")->median;
  balance.pi_basis = simulated->basis;
  balance.prefill = std::move(*prefill);
  const auto bytes = static_cast<double>(kv_bytes(shape, dtype, kBalancedContext));
  balance.link = rate_option(bytes * balance.pi / *balance.prefill.median);
  balance.link_rate = *parse_rate(balance.link);
  return balance;
}

Json to_json(const Balance& balance) {
  return {{"machine", balance.machine},
          {"machine_model", kTunnelReference},
          {"machine_context_tokens", kTunnelScale * kBalancedContext},
          {"context_tokens", kBalancedContext},
          {"pi", balance.pi},
          {"pi_basis", name(balance.pi_basis)},
          {"prefill", to_json(balance.prefill)},
          {"link_rate", balance.link_rate}};
}

Result<Balance> parse_balance(const Json& json) try {
  auto prefill = parse_metric(json.at("prefill"));
  if (!prefill) return prefill.status();
  const auto basis = parse_basis(json.at("pi_basis"));
  if (!basis) return basis.status();
  Balance balance;
  balance.machine = json.at("machine").get<std::string>();
  balance.pi = json.at("pi").get<double>();
  balance.pi_basis = *basis;
  balance.prefill = std::move(*prefill);
  balance.link_rate = json.at("link_rate").get<double>();
  balance.link = rate_option(balance.link_rate);
  return balance;
} catch (const Json::exception& error) {
  return Status{Code::invalid, reason(error)};
}

std::string text(const Balance& b) {
  const auto& ci95 = b.prefill.ci95;
  return fmt::format(
      "link paced to {}, for all contexts: its own prefill of {} tokens ({} ms {}{}) then "
      "takes {} times their link time, as {} at {} on {}",
      b.link, kBalancedContext, milliseconds(*b.prefill.median),
      ci95 ? interval_text(*ci95, *b.prefill.median) : "no interval",
      b.prefill.samples_enough == true ? "" : "!", significant(b.pi), kTunnelReference,
      kTunnelScale * kBalancedContext, b.machine);
}

std::string drift_text(const Balance& balance, std::span<const Case> cases) {
  for (const Case& one : cases) {
    const Metric* ttft = find_metric(one, "ttft");
    if (!ttft || one.params.value("plan", "") != name(PlanKind::recompute) ||
        one.params.value("context_tokens", std::uint64_t{0}) != kBalancedContext) {
      continue;
    }
    const double drift = *ttft->median / *balance.prefill.median - 1;
    if (std::abs(drift) <= kMostDrift) return {};
    return fmt::format(
        "Warning: the prefill of {} tokens took {} ms here and {} ms when the link's rate was set "
        "from it: the rate does not fit. Run again on a quiet machine.",
        kBalancedContext, milliseconds(*ttft->median), milliseconds(*balance.prefill.median));
  }
  return {};
}

}  // namespace kvroof
