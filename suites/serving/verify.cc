// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/verify.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace kvroof {
namespace {

using Digests = std::vector<XXH64_hash_t>;

// One digest a region of the loaded blocks, read back from the device.
Status digest_blocks(Session& s, const RequestBatch& batch, Digests& digests) {
  std::vector<std::byte> bytes(s.kv.region_bytes());
  for (const Request& request : batch.requests) {
    for (std::uint32_t b = 0; b < batch.loaded_blocks; ++b) {
      for (std::uint32_t r = 0; r < s.kv.regions_per_block(); ++r) {
        const Span from{s.cache.get(), s.kv.region_offset(request.blocks[b], r), bytes.size()};
        if (Status e = read_device(s, bytes, from); !e.ok()) return e;
        digests.push_back(XXH3_64bits(bytes.data(), bytes.size()));
      }
    }
  }
  return {};
}

// Where ops leave no values behind, every 8 bytes of the cache get a number of their own.
Status write_pattern(Session& s) {
  constexpr std::uint64_t kPiece = 8ull << 20;
  std::vector<std::uint64_t> words(kPiece / 8);
  const std::uint64_t total = s.kv.cache_bytes();
  for (std::uint64_t at = 0; at < total; at += kPiece) {
    for (std::uint64_t i = 0; i < words.size(); ++i)
      words[i] = (at / 8 + i) * 0x9E3779B97F4A7C15ull;
    const auto bytes = std::as_bytes(std::span(words)).first(std::min(kPiece, total - at));
    if (Status e = write_device(s, {s.cache.get(), at, bytes.size()}, bytes); !e.ok()) return e;
  }
  return {};
}

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

Status load_whole(Session& s, const RequestBatch& batch) {
  for (const Request& request : batch.requests) {
    if (request.keys.empty()) continue;
    const auto id =
        s.engine->load(request.keys, std::span(request.blocks).first(batch.loaded_blocks));
    if (!id) return id.status();
    const auto ended = s.engine->wait(*id, Nanos::max());
    if (!ended) return ended.status();
    if (!ended->status.ok()) return ended->status;
  }
  return {};
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
  Digests loaded;
  v.status = digest_blocks(s, batch, loaded);
  if (!v.status.ok()) return;
  v.regions_checked = loaded.size();
  const auto [a, b] = std::mismatch(loaded.begin(), loaded.end(), offloaded.begin());
  if (a == loaded.end()) return;
  v.wrong = fmt::format("loaded KV differs from what was offloaded, first in region {} of {}",
                        a - loaded.begin(), loaded.size());
}

void compare_logits(Session& s, const RequestBatch& batch, const std::vector<float>& full,
                    Verification& v) {
  const auto done = copy(s, batch, {});
  std::vector<float> loaded;
  v.status = done ? read_logits(s, batch, loaded) : done.status();
  if (!v.status.ok()) return;
  v.logit_difference = relative_difference(loaded, full);
  const double bound = logit_bound(s.spec.dtype);
  if (*v.logit_difference <= bound) return;
  v.wrong = fmt::format(
      "logits after the load differ from a full prefill's by {:.2g} of their "
      "largest, expected under {:.0g}",
      *v.logit_difference, bound);
}

}  // namespace

double logit_bound(DType dtype) { return dtype == DType::f32 ? 1e-5 : 2e-2; }

Verification verify_and_offload(Session& s, const RequestBatch& batch) {
  Verification v;
  std::vector<float> full;
  Digests offloaded;
  if (v.status = fill_cache(s, batch, full); !v.status.ok()) return v;
  if (!all_finite(full)) {
    v.not_finite = true;
    v.wrong = "the logits of a full prefill hold NaN or infinity, so this model can't be compared";
    return v;
  }
  if (s.spec.backed) v.status = digest_blocks(s, batch, offloaded);
  if (v.status.ok()) v.status = offload(s, batch);
  if (v.status.ok()) v.status = wipe(s, batch);
  if (v.status.ok()) v.status = load_whole(s, batch);
  if (v.status.ok() && s.spec.backed) compare_bytes(s, batch, offloaded, v);
  if (!v.status.ok() || !v.wrong.empty() || full.empty()) return v;
  if (v.status = wipe(s, batch); v.status.ok()) compare_logits(s, batch, full, v);
  return v;
}

}  // namespace kvroof
