// SPDX-License-Identifier: Apache-2.0
// Prices of copies and fills, and the machine's capacity.
#include "backends/sim/price.h"

#include <algorithm>
#include <string>

#include "backends/sim/errors.h"
#include "backends/sim/op_price.h"

namespace kvroof::sim {
namespace {

bool on_device(const Span& span) { return span.buffer->facts().kind == MemoryKind::device; }
bool pageable(const Span& span) { return span.buffer->facts().kind == MemoryKind::pageable; }

std::uint64_t bytes_of(std::span<const Span> pieces) {
  std::uint64_t bytes = 0;
  for (const Span& piece : pieces) bytes += piece.bytes;
  return bytes;
}

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

Result<Price> Pricer::price(const Op& op) const { return price_of(profile_, op); }

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

// The disk moves bytes or opens and closes, whichever is longer: others' files fill the gaps.
Price Pricer::file_price(std::uint64_t bytes, double rate) const {
  const double busy = to_double(bytes) / rate;
  Price price{.seconds = std::max(busy, profile_.disk->file.value)};
  of(price.amounts, Resource::disk) = busy;
  of(price.amounts, Resource::host_dram) = to_double(bytes);
  return price;
}

Price Pricer::price(const ReadFile& file) const {
  return file_price(bytes_of(file.pieces), profile_.disk->read.value);
}

Price Pricer::price(const WriteFile& file) const {
  return file_price(bytes_of(file.pieces), profile_.disk->write.value);
}

Price Pricer::price(const RemoveFile&) const { return file_price(0, profile_.disk->write.value); }

Amounts Pricer::capacity() const {
  Amounts capacity{};
  of(capacity, Resource::compute) = 1;
  of(capacity, Resource::hbm) = profile_.hbm_rate.value;
  of(capacity, Resource::link_in) = profile_.link.in.value;
  of(capacity, Resource::link_out) = profile_.link.out.value;
  of(capacity, Resource::link_total) = profile_.link.total_dma.value;
  of(capacity, Resource::host_dram) = profile_.host_dram_rate.value;
  of(capacity, Resource::host_cpu) = 1;
  of(capacity, Resource::disk) = 1;
  return capacity;
}

}  // namespace kvroof::sim
