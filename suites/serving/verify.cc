// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "suites/serving/kv_contents.h"
#include "suites/serving/restore.h"

namespace kvroof {
namespace {

using Digests = std::vector<std::uint64_t>;

Status read_logits(Session& s, const RequestBatch& batch, std::vector<float>& logits) {
  for (const Request& request : batch.requests) {
    std::vector<float> one(s.shape.vocab);
    const Span from{request.logits.get(), 0, one.size() * sizeof(float)};
    if (Status e = read_device(s, std::as_writable_bytes(std::span(one)), from); !e.ok()) return e;
    logits.insert(logits.end(), one.begin(), one.end());
  }
  return {};
}

// NaN or infinity anywhere counts as an infinite difference.
double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return INFINITY;
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
    scale = std::max(scale, std::abs(static_cast<double>(b[i])));
  }
  return scale > 0 ? most / scale : INFINITY;
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

Status fill_cache(Session& s, const RequestBatch& batch, std::vector<float>& logits) {
  const bool values = s.device.info().computes_values;
  if (!values) return s.spec.backed ? write_pattern(s) : Status{};
  const auto done = recompute(s, batch, {});
  if (!done) return done.status();
  return read_logits(s, batch, logits);
}

void compare_bytes(Session& s, const RequestBatch& batch, const Digests& offloaded,
                   Verification& v) {
  const Result<Digests> loaded = digest(s, batch, v.held);
  v.status = loaded.status();
  if (!loaded) return;
  v.regions_checked = loaded->size();
  const auto [a, b] = std::mismatch(loaded->begin(), loaded->end(), offloaded.begin());
  if (a == loaded->end()) return;
  v.wrong = fmt::format("loaded KV differs from what was offloaded, first in region {} of {}",
                        a - loaded->begin(), loaded->size());
}

}  // namespace

double logit_bound(DType dtype) { return dtype == DType::f32 ? 1e-5 : 2e-2; }

void verify_range(Session& s, const RequestBatch& batch, ChunkRange loaded, Verification& v) {
  if (v.full_logits.empty() || !v.status.ok() || !v.wrong.empty()) return;
  if (v.status = evict(s, batch); !v.status.ok()) return;
  const auto done = restore(s, batch, loaded, {});
  std::vector<float> logits;
  v.status = done ? read_logits(s, batch, logits) : done.status();
  if (!v.status.ok()) return;
  const double difference = relative_difference(logits, v.full_logits);
  v.logit_difference = std::max(v.logit_difference.value_or(0), difference);
  const double bound = logit_bound(s.spec.dtype);
  if (difference <= bound) return;
  v.wrong = fmt::format(
      "logits after the load differ from a full prefill's by {:.2g} of their "
      "largest, expected under {:.0g}",
      difference, bound);
}

Verification verify_and_offload(Session& s, const RequestBatch& batch) {
  Verification v;
  std::vector<float> full;
  Result<Digests> offloaded = Digests{};
  if (v.status = fill_cache(s, batch, full); !v.status.ok()) return v;
  if (!all_finite(full)) {
    v.not_finite = true;
    v.wrong = "the logits of a full prefill hold NaN or infinity, so this model can't be compared";
    return v;
  }
  if (v.status = offload(s, batch); !v.status.ok()) return v;
  v.held = held_chunks(s, batch);
  if (v.held.count == 0) return v;
  if (s.spec.backed) offloaded = digest(s, batch, v.held);
  v.status = offloaded.status();
  if (v.status.ok()) v.status = wipe(s, batch);
  if (v.status.ok()) v.status = load(s, batch, v.held);
  if (v.status.ok() && s.spec.backed) compare_bytes(s, batch, *offloaded, v);
  v.full_logits = std::move(full);
  verify_range(s, batch, v.held, v);
  return v;
}

}  // namespace kvroof
