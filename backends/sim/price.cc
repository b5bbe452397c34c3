// SPDX-License-Identifier: Apache-2.0
// Prices of ops, copies and fills.
#include "backends/sim/price.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "backends/sim/errors.h"

namespace kvroof::sim {
namespace {

double to_double(std::uint64_t value) { return static_cast<double>(value); }
double size_of(DType dtype) { return to_double(bytes_of(dtype)); }

double log_distance(double a, double b) { return std::abs(std::log(a / b)); }

// The least duration of a kernel that must move `least_bytes` through HBM, and what it then uses.
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

double causal_flops(double heads, double head_dim, double past, double tokens) {
  return 4 * heads * head_dim * (past * tokens + tokens * (tokens + 1) / 2);
}

const AttentionShape* nearest_attention(const AttentionRates& rates, const Attention& op) {
  const AttentionShape* nearest = nullptr;
  for (const AttentionShape& shape : rates.shapes) {
    if (shape.head_dim != op.kv.head_dim) continue;
    if (nearest == nullptr ||
        log_distance(shape.heads, op.heads) < log_distance(nearest->heads, op.heads)) {
      nearest = &shape;
    }
  }
  return nearest;
}

std::string head_sizes(const AttentionRates& rates) {
  std::set<int> sizes;
  for (const AttentionShape& shape : rates.shapes) sizes.insert(static_cast<int>(shape.head_dim));
  std::string text;
  for (const int size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return text;
}

// FLOP/s that a table's shape reaches on one causal prefill of `tokens`, within its range.
double attention_rate(const AttentionShape& shape, double tokens) {
  const double n = std::clamp(tokens, shape.seconds.first_x(), shape.seconds.last_x());
  return causal_flops(shape.heads, shape.head_dim, 0, n) / shape.seconds.at(n);
}

Result<Price> price_of(const Profile& profile, const Attention& op) {
  const auto rates = profile.attention.find(op.kv.dtype);
  if (rates == profile.attention.end()) return not_priced(op.kv.dtype, "attention");
  const double length = static_cast<double>(op.past) + op.tokens;
  double rate = 0;
  if (rates->second.efficiency) {
    rate = profile.peak_flops.at(op.kv.dtype).value * rates->second.efficiency->value;
  } else {
    const AttentionShape* const shape = nearest_attention(rates->second, op);
    if (shape == nullptr) {
      return unsupported("The device profile has no attention rates for head size " +
                         std::to_string(op.kv.head_dim) + ", only for " +
                         head_sizes(rates->second) + "; choose another model or profile.");
    }
    rate = attention_rate(*shape, length);
  }
  const double seconds = causal_flops(op.heads, op.kv.head_dim, op.past, op.tokens) / rate;
  const double row = static_cast<double>(op.kv.head_dim) * size_of(op.kv.dtype);
  const double kv = 2.0 * op.kv.kv_heads * row * length;
  const double bytes = kv + 2.0 * op.tokens * op.heads * row;
  return kernel_price(profile, seconds * profile.derates.attention.value, kv, bytes);
}

// Reads x and the residual, writes the residual and the output.
Result<Price> price_of(const Profile& profile, const Norm& op) {
  const double passes = op.x.buffer == nullptr ? 2 : 4;
  return memory_price(profile, passes * op.tokens * op.width * size_of(op.dtype));
}

// Reads q, k and v; writes q in place, and k and v to the cache.
Result<Price> price_of(const Profile& profile, const RopeAppend& op) {
  const double rows = op.heads + 2.0 * op.kv.kv_heads;
  return memory_price(profile, 2 * op.tokens * rows * op.kv.head_dim * size_of(op.kv.dtype));
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

bool on_device(const Span& span) { return span.buffer->facts().kind == MemoryKind::device; }
bool pageable(const Span& span) { return span.buffer->facts().kind == MemoryKind::pageable; }

// A region shorter than the curve's first takes as long as that one.
double copy_seconds(const Curve& curve, double bytes) {
  const double counted = std::max(bytes, curve.first_x());
  return counted / curve.at(counted);
}

// Adds up the regions of one submission; equal neighbours share one look at the curve.
class CopyPricer {
 public:
  CopyPricer(const Profile& profile, CopyMethod method)
      : profile_(profile),
        curves_(profile.copy[static_cast<std::size_t>(method)]),
        kernel_(method == CopyMethod::kernel) {}

  Status add(const Region& region) {
    const double bytes = to_double(region.source.bytes);
    const bool from_device = on_device(region.source), to_device = on_device(region.destination);
    if (bytes == 0) return {};
    if (from_device == to_device) {
      from_device ? add_within_device(bytes) : add_within_host(bytes);
      return {};
    }
    const std::optional<Curve>& curve = to_device ? curves_.in : curves_.out;
    if (!curve) {
      return unsupported(std::string("The device profile has no copy rates for this method ") +
                         (to_device ? "into" : "out of") + " the device; choose another method.");
    }
    const bool staged = pageable(to_device ? region.source : region.destination);
    add_over_link(*curve, bytes, to_device, staged);
    return {};
  }

  Price total() const {
    Price total = price_;
    if (kernel_ && total.seconds > 0) {
      total.seconds = std::max(total.seconds, profile_.launch_floor.value);
      of(total.amounts, Resource::compute) += profile_.kernel_copy_compute.value * total.seconds;
    }
    return total;
  }

 private:
  void add_over_link(const Curve& curve, double bytes, bool in, bool staged) {
    if (bytes != last_bytes_ || &curve != last_curve_) {
      last_seconds_ = copy_seconds(curve, bytes) * profile_.derates.copy.value;
      last_bytes_ = bytes;
      last_curve_ = &curve;
    }
    double seconds = last_seconds_;
    if (staged) {  // the driver copies pageable memory to pinned memory first, on one core
      const double staging = bytes / profile_.host_copy_rate.value;
      of(price_.amounts, Resource::host_cpu) += staging;
      seconds = std::max(seconds, staging);
    }
    const LinkProfile& link = profile_.link;
    price_.seconds += seconds;
    of(price_.amounts, in ? Resource::link_in : Resource::link_out) += bytes;
    of(price_.amounts, Resource::link_total) +=
        kernel_ ? bytes * link.total_dma.value / link.total_kernel.value : bytes;
    of(price_.amounts, Resource::hbm) += bytes;
    of(price_.amounts, Resource::host_dram) += bytes;
  }

  void add_within_device(double bytes) {
    price_.seconds += 2 * bytes / profile_.hbm_rate.value;
    of(price_.amounts, Resource::hbm) += 2 * bytes;
  }

  void add_within_host(double bytes) {
    const double seconds = bytes / profile_.host_copy_rate.value;
    price_.seconds += seconds;
    of(price_.amounts, Resource::host_cpu) += seconds;
    of(price_.amounts, Resource::host_dram) += 2 * bytes;
  }

  const Profile& profile_;
  const CopyCurves& curves_;
  const bool kernel_;
  Price price_;
  const Curve* last_curve_ = nullptr;
  double last_bytes_ = 0, last_seconds_ = 0;
};

}  // namespace

Flow flow_of(const Price& price, double seconds) {
  Flow flow{.work = seconds, .cap = 1};
  if (seconds <= 0) return flow;
  for (std::size_t r = 0; r < kResources; ++r) flow.use[r] = price.amounts[r] / seconds;
  return flow;
}

Result<Price> Pricer::price(const Op& op) const {
  return std::visit([&](const auto& each) { return price_of(profile_, each); }, op);
}

Result<Price> Pricer::price(const OpRun& run) const {
  Price total;
  for (const Op& op : run.ops) {
    const auto one = price(op);
    if (!one) return one;
    total.seconds += one->seconds * run.times;
    for (std::size_t r = 0; r < kResources; ++r) total.amounts[r] += one->amounts[r] * run.times;
  }
  return total;
}

Result<Price> Pricer::price(const Regions& regions) const {
  CopyPricer copies(profile_, regions.method);
  for (const Region& region : regions.list) {
    if (Status status = copies.add(region); !status.ok()) return status;
  }
  return copies.total();
}

Result<Price> Pricer::price(const Fill& fill) const {
  const double bytes = to_double(fill.span.bytes);
  if (on_device(fill.span)) return memory_price(profile_, bytes);
  Price price{.seconds = bytes / profile_.host_copy_rate.value};
  of(price.amounts, Resource::host_cpu) = price.seconds;
  of(price.amounts, Resource::host_dram) = bytes;
  return price;
}

Amounts Pricer::capacity() const {
  Amounts capacity{};
  of(capacity, Resource::compute) = 1;
  of(capacity, Resource::hbm) = profile_.hbm_rate.value;
  of(capacity, Resource::link_in) = profile_.link.in.value;
  of(capacity, Resource::link_out) = profile_.link.out.value;
  of(capacity, Resource::link_total) = profile_.link.total_dma.value;
  of(capacity, Resource::host_dram) = profile_.host_dram_rate.value;
  of(capacity, Resource::host_cpu) = 1;
  return capacity;
}

}  // namespace kvroof::sim
