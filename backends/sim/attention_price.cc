// SPDX-License-Identifier: Apache-2.0
#include "backends/sim/attention_price.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "backends/sim/errors.h"
#include "backends/sim/op_price.h"

namespace kvroof::sim {
namespace {

constexpr double kUnbounded = 1e300;

// Keys; https://github.com/Dao-AILab/flash-attention/blob/main/hopper/tile_size.h has it for a
// window at head size 128.
constexpr double kAttentionTile = 128;

// (query, key) pairs of `tokens` queries behind `past` keys, of which each sees at most `window`.
double causal_pairs(double past, double tokens, double window) {
  const double rising = std::clamp(window - past, 0.0, tokens);
  return rising * past + rising * (rising + 1) / 2 + (tokens - rising) * window;
}

double causal_flops(double heads, double head_dim, double past, double tokens) {
  return 4 * heads * head_dim * causal_pairs(past, tokens, kUnbounded);
}

// Whether the shape's rates hold for the op's cache. int8 is read and widened as fp8 is, as many
// bytes a vector, and has its rates: nobody publishes its own.
bool holds_for(const AttentionShape& shape, const Attention& op) {
  const DType cache = op.kv.dtype == DType::int8 ? DType::fp8 : op.kv.dtype;
  return shape.kv_dtype.value_or(op.dtype) == cache;
}

const AttentionShape* nearest_attention(const AttentionRates& rates, const Attention& op) {
  const AttentionShape* nearest = nullptr;
  for (const AttentionShape& shape : rates.shapes) {
    if (shape.head_dim != op.kv.head_dim || !holds_for(shape, op)) continue;
    const auto distance = [&](const AttentionShape& to) {
      return std::pair(log_distance(to.heads, op.heads), log_distance(to.kv_heads, op.kv.kv_heads));
    };
    if (nearest == nullptr || distance(shape) < distance(*nearest)) nearest = &shape;
  }
  return nearest;
}

std::string head_sizes(const AttentionRates& rates, const Attention& op) {
  std::set<int> sizes;
  for (const AttentionShape& shape : rates.shapes) {
    if (holds_for(shape, op)) sizes.insert(static_cast<int>(shape.head_dim));
  }
  std::string text;
  for (const int size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return text.empty() ? "none" : text;
}

// FLOP/s that a table's shape reaches on one causal prefill of `tokens`, within its range.
double attention_rate(const AttentionShape& shape, double tokens) {
  const double n = std::clamp(tokens, shape.seconds.first_x(), shape.seconds.last_x());
  return causal_flops(shape.heads, shape.head_dim, 0, n) / shape.seconds.at(n);
}

// A window's edge cuts tiles of keys, which are computed whole: so many more a query.
double computed_window(const Attention& op) {
  return op.window == 0 ? kUnbounded : op.window + kAttentionTile;
}

}  // namespace

Result<Price> price_of(const Profile& profile, const Attention& op) {
  const auto rates = profile.attention.find(op.dtype);
  if (rates == profile.attention.end()) return not_priced(op.dtype, "attention");
  const double length = static_cast<double>(op.past) + op.tokens;
  double rate = 0;
  if (rates->second.efficiency) {
    rate = profile.peak_flops.at(op.dtype).value * rates->second.efficiency->value;
  } else {
    const AttentionShape* const shape = nearest_attention(rates->second, op);
    if (shape == nullptr) {
      return unsupported("The device profile has no attention rates for head size " +
                         std::to_string(op.kv.head_dim) + " over " +
                         std::string(name(op.kv.dtype)) + " KV, only for " +
                         head_sizes(rates->second, op) + "; choose another model or profile.");
    }
    rate = attention_rate(*shape, length);
  }
  const double sequences = op.sequences;
  const double pairs = sequences * causal_pairs(op.past, op.tokens, computed_window(op));
  const double seconds = 4.0 * op.heads * op.kv.head_dim * pairs / rate;
  const double seen =
      op.window == 0 ? length : std::min(length, static_cast<double>(op.window) + op.tokens);
  const double kv = sequences * 2.0 * op.kv.kv_heads * size_of_vector(op.kv) * seen;
  const double rows = sequences * op.tokens;
  const double bytes = kv + 2.0 * rows * op.heads * op.kv.head_dim * size_of(op.dtype);
  return kernel_price(profile, seconds * profile.derates.attention.value, kv, bytes);
}

namespace {

// The product with `expansion` of so many rows a sequence, at the rate of any other.
Result<Price> expand(const Profile& profile, const MlaAttention& op, std::uint64_t each) {
  const std::uint64_t rows = op.sequences * each;
  if (rows > UINT32_MAX) {
    return unsupported(
        "Latent attention is priced for fewer than 2^32 tokens of all sequences together; use "
        "fewer "
        "sequences or a shorter context.");
  }
  Gemm gemm{};
  gemm.m = static_cast<std::uint32_t>(rows), gemm.n = op.heads * (op.nope_dim + op.v_dim),
  gemm.k = op.kv_rank;
  gemm.dtype = gemm.out_dtype = op.dtype;
  return price_of(profile, gemm);
}

}  // namespace

// The faster of two ways, for all sequences. Expanded: K and V of every head are made of all
// latents, then attention over them. Absorbed: the expansion is applied to the new queries and
// outputs instead, and attention sees the latents themselves.
Result<Price> price_of(const Profile& profile, const MlaAttention& op) {
  const auto share = profile.latent_attention.find(op.dtype);
  if (share == profile.latent_attention.end()) return no_share("latent attention");
  const double rate = profile.peak_flops.at(op.dtype).value * share->second.value;
  const double size = size_of(op.dtype), sequences = op.sequences, heads = op.heads;
  const double tokens = sequences * op.tokens, latent = op.kv.head_dim;  // of all sequences
  const double keys = sequences * (static_cast<double>(op.past) + op.tokens);
  const double qk = op.nope_dim + op.rope_dim;
  const double pairs = sequences * causal_pairs(op.past, op.tokens, kUnbounded);
  const auto attend = [&](double qk_dim, double v_dim, double kv_bytes) {
    const double seconds = 2 * heads * (qk_dim + v_dim) * pairs / rate;
    const double bytes = kv_bytes + tokens * heads * (qk_dim + v_dim) * size;
    return kernel_price(profile, seconds * profile.derates.attention.value, kv_bytes, bytes);
  };
  const auto all = expand(profile, op, std::uint64_t{op.past} + op.tokens),
             own = expand(profile, op, op.tokens);
  if (!all || !own) return all ? own : all;
  const Price append = memory_price(profile, 2 * tokens * (heads * op.rope_dim + latent) * size);
  const Price expanded =
      sum({append, *all, attend(qk, op.v_dim, keys * heads * (qk + op.v_dim) * size)});
  const Price absorbed =
      sum({append, *own, attend(latent, op.kv_rank, keys * size_of_vector(op.kv))});
  return expanded.seconds < absorbed.seconds ? expanded : absorbed;
}

}  // namespace kvroof::sim
