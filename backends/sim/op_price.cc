// SPDX-License-Identifier: Apache-2.0
#include "backends/sim/op_price.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "backends/sim/errors.h"

namespace kvroof::sim {
namespace {

constexpr double kUnbounded = 1e300;
constexpr double kAttentionTile = 128;  // keys

double to_double(std::uint64_t value) { return static_cast<double>(value); }
double size_of(DType dtype) { return to_double(bytes_of(dtype)); }

double log_distance(double a, double b) { return std::abs(std::log(a / b)); }

}  // namespace

Price kernel_price(const Profile& profile, double seconds, double least_bytes, double bytes) {
  const double hbm = profile.hbm_rate.value;
  Price price;
  price.seconds = std::max({seconds, least_bytes / hbm, profile.launch_floor.value});
  of(price.amounts, Resource::compute) = price.seconds;
  of(price.amounts, Resource::hbm) = std::min(bytes, price.seconds * hbm);
  return price;
}

Price memory_price(const Profile& profile, double bytes) {
  const double seconds = bytes / profile.hbm_rate.value * profile.derates.memory.value;
  return kernel_price(profile, seconds, 0, bytes);
}

namespace {

Status not_priced(DType dtype, const char* what) {
  return unsupported("The device profile has no " + std::string(name(dtype)) + " " + what +
                     " rates; choose another dtype or profile.");
}

double table_seconds(const Curve& curve, double x) {
  return curve.at(x) * std::max(1.0, x / curve.last_x());
}

// Of the nearest shape in log distance, scaled by the weights' size.
double gemm_seconds(const GemmRates& rates, const Gemm& op) {
  const auto distance = [&](const GemmShape& s) {
    return log_distance(s.n, op.n) + log_distance(s.k, op.k);
  };
  const GemmShape& nearest =
      *std::min_element(rates.shapes.begin(), rates.shapes.end(),
                        [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return table_seconds(nearest.seconds, op.m) * (op.n / nearest.n) * (op.k / nearest.k);
}

Result<Price> price_of(const Profile& profile, const Gemm& op) {
  const auto rates = profile.gemm.find(op.dtype);
  if (rates == profile.gemm.end()) return not_priced(op.dtype, "GEMM");
  const double m = op.m, n = op.n, k = op.k;
  const double peak = profile.peak_flops.at(op.dtype).value;
  const double seconds = rates->second.efficiency
                             ? 2 * m * n * k / (peak * rates->second.efficiency->value)
                             : gemm_seconds(rates->second, op);
  const double weights = n * k * size_of(op.dtype);
  const double bytes = weights + m * k * size_of(op.dtype) + m * n * size_of(op.out_dtype);
  return kernel_price(profile, seconds * profile.derates.gemm.value, weights, bytes);
}

// (query, key) pairs of `tokens` queries behind `past` keys, of which each sees at most `window`.
double causal_pairs(double past, double tokens, double window) {
  const double rising = std::clamp(window - past, 0.0, tokens);
  return rising * past + rising * (rising + 1) / 2 + (tokens - rising) * window;
}

double causal_flops(double heads, double head_dim, double past, double tokens) {
  return 4 * heads * head_dim * causal_pairs(past, tokens, kUnbounded);
}

DType kv_dtype_of(const AttentionShape& shape, DType computed) {
  return shape.kv_dtype.value_or(computed);
}

const AttentionShape* nearest_attention(const AttentionRates& rates, const Attention& op) {
  const AttentionShape* nearest = nullptr;
  for (const AttentionShape& shape : rates.shapes) {
    if (shape.head_dim != op.kv.head_dim || kv_dtype_of(shape, op.dtype) != op.kv.dtype) continue;
    if (nearest == nullptr ||
        log_distance(shape.heads, op.heads) < log_distance(nearest->heads, op.heads)) {
      nearest = &shape;
    }
  }
  return nearest;
}

std::string head_sizes(const AttentionRates& rates, const Attention& op) {
  std::set<int> sizes;
  for (const AttentionShape& shape : rates.shapes) {
    if (kv_dtype_of(shape, op.dtype) == op.kv.dtype) sizes.insert(static_cast<int>(shape.head_dim));
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
  const double pairs = causal_pairs(op.past, op.tokens, computed_window(op));
  const double seconds = 4.0 * op.heads * op.kv.head_dim * pairs / rate;
  const double seen =
      op.window == 0 ? length : std::min(length, static_cast<double>(op.window) + op.tokens);
  const double kv = 2.0 * op.kv.kv_heads * op.kv.head_dim * size_of(op.kv.dtype) * seen;
  const double bytes = kv + 2.0 * op.tokens * op.heads * op.kv.head_dim * size_of(op.dtype);
  return kernel_price(profile, seconds * profile.derates.attention.value, kv, bytes);
}

// Reads x and the residual, writes the residual and the output.
Result<Price> price_of(const Profile& profile, const Norm& op) {
  const double passes = op.x.buffer == nullptr ? 2 : 4;
  return memory_price(profile, passes * op.tokens * op.width * size_of(op.dtype));
}

// Reads q, k and v; writes q in place, and k and v to the cache.
Result<Price> price_of(const Profile& profile, const RopeAppend& op) {
  const double size = size_of(op.dtype), appended = 2.0 * op.kv.kv_heads;
  const double elements = 2.0 * op.heads * size + appended * (size + size_of(op.kv.dtype));
  return memory_price(profile, op.tokens * elements * op.kv.head_dim);
}

Result<Price> price_of(const Profile& profile, const Activation& op) {
  return memory_price(profile, 3.0 * op.tokens * op.width * size_of(op.dtype));
}

Result<Price> price_of(const Profile& profile, const Embedding& op) {
  return memory_price(profile, 2.0 * op.tokens * op.width * size_of(op.dtype));
}

template <class Rows>
Price price_of_rows(const Profile& profile, const Rows& op) {
  return memory_price(profile, op.rows * (2 * to_double(op.row_bytes) + size_of(DType::i32)));
}

Result<Price> price_of(const Profile& profile, const Gather& op) {
  return price_of_rows(profile, op);
}

Result<Price> price_of(const Profile& profile, const Scatter& op) {
  return price_of_rows(profile, op);
}

Status no_share(const std::string& what) {
  return unsupported("The device profile has no rate of " + what +
                     "; choose another model or profile.");
}

Price sum(std::initializer_list<Price> kernels) {
  Price total;
  for (const Price& each : kernels) {
    total.seconds += each.seconds;
    for (std::size_t r = 0; r < kResources; ++r) total.amounts[r] += each.amounts[r];
  }
  return total;
}

// As expected of even routing.
double experts_touched(const MixtureOfExperts& op) {
  const double idle = 1 - static_cast<double>(op.active) / op.experts;
  return op.experts * (1 - std::pow(idle, op.tokens));
}

// Two grouped products, what lies between them, and the sum over each token's experts. Every expert
// that a token chose is read once.
Result<Price> price_of(const Profile& profile, const MixtureOfExperts& op) {
  const auto share = profile.experts.find(op.dtype);
  if (share == profile.experts.end()) return no_share("a mixture of experts (experts)");
  const double rate = profile.peak_flops.at(op.dtype).value * share->second.value;
  const double size = size_of(op.dtype), rows = static_cast<double>(op.tokens) * op.active;
  const double hidden = op.hidden, width = op.width, touched = experts_touched(op);
  const auto grouped = [&](double n, double k) {
    const double weights = touched * n * k * size, bytes = weights + rows * (n + k) * size;
    return kernel_price(profile, 2 * rows * n * k / rate * profile.derates.gemm.value, weights,
                        bytes);
  };
  return sum({grouped(2 * width, hidden), memory_price(profile, 3 * rows * width * size),
              grouped(hidden, width),
              memory_price(profile, (rows + op.tokens * (op.add ? 2.0 : 1.0)) * hidden * size)});
}

// The product with `expansion` of so many rows, at the rate of any other.
Result<Price> expand(const Profile& profile, const MlaAttention& op, std::uint32_t rows) {
  Gemm gemm{};
  gemm.m = rows, gemm.n = op.heads * (op.nope_dim + op.v_dim), gemm.k = op.kv_rank;
  gemm.dtype = gemm.out_dtype = op.dtype;
  return price_of(profile, gemm);
}

// The faster of two ways. Expanded: K and V of every head are made of all latents, then attention
// over them. Absorbed: the expansion is applied to the new queries and outputs instead, and
// attention sees the latents themselves.
Result<Price> price_of(const Profile& profile, const MlaAttention& op) {
  const auto share = profile.latent_attention.find(op.dtype);
  if (share == profile.latent_attention.end()) return no_share("latent attention");
  const double rate = profile.peak_flops.at(op.dtype).value * share->second.value;
  const double size = size_of(op.dtype), tokens = op.tokens, heads = op.heads;
  const double length = static_cast<double>(op.past) + tokens, latent = op.kv.head_dim;
  const double qk = op.nope_dim + op.rope_dim, pairs = causal_pairs(op.past, tokens, kUnbounded);
  const auto attend = [&](double qk_dim, double v_dim, double kv_bytes) {
    const double seconds = 2 * heads * (qk_dim + v_dim) * pairs / rate;
    const double bytes = kv_bytes + tokens * heads * (qk_dim + v_dim) * size;
    return kernel_price(profile, seconds * profile.derates.attention.value, kv_bytes, bytes);
  };
  const auto all = expand(profile, op, op.past + op.tokens), own = expand(profile, op, op.tokens);
  if (!all || !own) return all ? own : all;
  const Price append = memory_price(profile, 2 * tokens * (heads * op.rope_dim + latent) * size);
  const Price expanded =
      sum({append, *all, attend(qk, op.v_dim, length * heads * (qk + op.v_dim) * size)});
  const Price absorbed =
      sum({append, *own, attend(latent, op.kv_rank, length * latent * size_of(op.kv.dtype))});
  return expanded.seconds < absorbed.seconds ? expanded : absorbed;
}

// Around a ring: each rank sends its share 2 (ranks - 1) times.
Result<Price> price_of(const Profile& profile, const AllReduce& op) {
  if (op.ranks == 1) return Price{};
  if (!profile.peer) return no_share("a link to other devices (peer), which --tp needs");
  const double bytes = static_cast<double>(op.tokens) * op.width * size_of(op.dtype);
  const double sent = 2 * bytes * (op.ranks - 1) / op.ranks;
  const double seconds = sent / profile.peer->rate.value + profile.peer->latency.value;
  return kernel_price(profile, seconds, 0, 2 * sent);
}

}  // namespace

Result<Price> price_of(const Profile& profile, const Op& op) {
  return std::visit([&](const auto& each) { return price_of(profile, each); }, op);
}

}  // namespace kvroof::sim
