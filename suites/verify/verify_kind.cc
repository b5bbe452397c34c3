// SPDX-License-Identifier: Apache-2.0
#include "suites/verify/verify_kind.h"

#include "suites/verify/checks.h"

namespace kvroof {
namespace {

constexpr VerifyKind kKinds[] = {
    {"round_trip", "every vector is back in place", round_trips},
    {"compatibility", "one field differs: no hit", compatibility},
    {"store_race", "stores wait for their writers", store_races},
    {"load_race", "loads wait for their users", load_races},
    {"preemption", "blocks survive preemption", preemption},
    {"collisions", "same key, other tokens: miss", collisions},
    {"checksums", "a flipped bit: miss", checksums},
    {"files", "a file that is not right: miss", files},
    {"logits", "as if it were recomputed", logits},
};

Outcome outcome_of(const Finding& finding) {
  const Code code = finding.status.code;
  if (code == Code::unsupported || code == Code::no_memory) return Outcome::skipped;
  if (!finding.status.ok()) return Outcome::failed;
  return finding.wrong.empty() ? Outcome::ok : Outcome::incorrect;
}

}  // namespace

std::span<const VerifyKind> verify_kinds() { return kKinds; }

Case make_case(const VerifySetup& setup, std::string_view check, const Finding& finding,
               std::string_view counted) {
  Case made;
  made.suite = "verify";
  made.params["check"] = check;
  made.basis = setup.device.info().basis;
  made.outcome = outcome_of(finding);
  made.reason = finding.status.ok() ? finding.wrong : finding.status.text;
  if (made.outcome == Outcome::ok) {
    made.metrics.emplace_back(counted, count_metric("count", finding.compared));
  }
  return made;
}

}  // namespace kvroof
