// SPDX-License-Identifier: Apache-2.0
#include "backends/sim/op_price.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "backends/sim/attention_price.h"
#include "backends/sim/errors.h"

namespace kvroof::sim {

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

namespace {

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

}  // namespace

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

namespace {

// Reads x and the residual, writes the residual and the output.
Result<Price> price_of(const Profile& profile, const Norm& op) {
  const double passes = op.x.buffer == nullptr ? 2 : 4;
  return memory_price(profile, passes * op.tokens * op.width * size_of(op.dtype));
}

// Reads q, k and v; writes q in place, and k and v to the cache.
Result<Price> price_of(const Profile& profile, const RopeAppend& op) {
  const double vector = op.kv.head_dim * size_of(op.dtype), appended = 2.0 * op.kv.kv_heads;
  const double row = 2.0 * op.heads * vector + appended * (vector + size_of_vector(op.kv));
  return memory_price(profile, to_double(op.sequences) * op.tokens * row);
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

// Reads one side and writes the other; the arithmetic hides behind that on any accelerator.
template <class Rows>
Price price_of_narrow(const Profile& profile, const Rows& op) {
  const double row = to_double(op.row.wide_bytes()) + to_double(op.row.narrow_bytes());
  return memory_price(profile, op.rows * (row + size_of(DType::i32)));
}

Result<Price> price_of(const Profile& profile, const Quantise& op) {
  return price_of_narrow(profile, op);
}

Result<Price> price_of(const Profile& profile, const Dequantise& op) {
  return price_of_narrow(profile, op);
}

// A kernel that reads host memory over the link, at its best rate, and shares it as kernels' copies
// do.
Price host_read_price(const Profile& profile, double bytes) {
  const LinkProfile& link = profile.link;
  Price price;
  price.seconds =
      std::max(bytes / link.in.value * profile.derates.copy.value, profile.launch_floor.value);
  of(price.amounts, Resource::compute) = profile.kernel_copy_compute.value * price.seconds;
  of(price.amounts, Resource::link_in) = bytes;
  of(price.amounts, Resource::link_total) = bytes * link.total_dma.value / link.total_kernel.value;
  of(price.amounts, Resource::host_dram) = bytes;
  return price;
}

// Reads the rows; the arithmetic hides behind that, as there is a part for each of many cores.
Result<Price> price_of(const Profile& profile, const Checksum& op) {
  const double bytes = op.rows * to_double(op.row_bytes);
  if (op.source.buffer->facts().kind == MemoryKind::device) return memory_price(profile, bytes);
  return host_read_price(profile, bytes);
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

// Around a ring: each rank sends its share 2 (ranks - 1) times.
Result<Price> price_of(const Profile& profile, const AllReduce& op) {
  if (op.ranks == 1) return Price{};
  if (!profile.peer) {
    return unsupported(
        "The device profile has no link to other devices (peer), which tensor "
        "parallelism needs; leave --tp out or choose a profile that has peer, such "
        "as h100-sxm.");
  }
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
