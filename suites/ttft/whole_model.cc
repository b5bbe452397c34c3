// SPDX-License-Identifier: Apache-2.0
#include "suites/ttft/whole_model.h"

#include "suites/harness/seconds.h"
#include "suites/ttft/copied.h"

namespace kvroof {
namespace {

double flops_ratio(const Session& s, const RequestBatch& batch, ChunkRange loaded,
                   const ModelShape& whole) {
  const std::uint32_t past = loaded.count == 0 ? 0 : past_after(s, batch, loaded);
  const std::uint32_t tokens = batch.context_tokens - past;
  return prefill_flops(whole, past, tokens) / prefill_flops(s.shape, past, tokens);
}

}  // namespace

double Stretch::ttft(const Restore& r) const {
  const double outside = seconds(r.outside_layers), loading = seconds(r.load);
  return outside + loading * load + (seconds(r.ttft) - outside - loading) * layers;
}

std::optional<Stretch> find_stretch(const Session& s, const RequestBatch& batch,
                                    const PlanRuns& runs, const ModelShape& whole) {
  if (batch.requests.size() > 1 || runs.plan == PlanKind::hybrid) return std::nullopt;
  Stretch made;
  made.layers = flops_ratio(s, batch, runs.loaded, whole);
  if (runs.plan == PlanKind::recompute) return made;
  if (batch.by_layer) return std::nullopt;  // loading and computing share the time
  if (s.device.info().virtual_time && s.spec.layout == Layout::block_first) return std::nullopt;
  if (kv_groups(s.shape).size() != kv_groups(whole).size()) return std::nullopt;
  made.load = static_cast<double>(copied(whole, s.spec, batch.context_tokens).bytes) /
              static_cast<double>(copied(s.shape, s.spec, batch.context_tokens).bytes);
  return made;
}

}  // namespace kvroof
