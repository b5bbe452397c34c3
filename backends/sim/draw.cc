// SPDX-License-Identifier: Apache-2.0
#include "backends/sim/draw.h"

#include <optional>
#include <random>

namespace kvroof::sim {
namespace {

class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : random_(seed) {}

  void operator()(Value& value) { value.value = between(value.low, value.high); }

  void operator()(Curve& curve) {
    const double factor = between(curve.low, curve.high);
    for (Point2& point : curve.points) point.y *= factor;
  }

  template <class Drawn>
  void operator()(std::optional<Drawn>& drawn) {
    if (drawn) (*this)(*drawn);
  }

 private:
  // The distributions of <random> differ between libraries; this is the same everywhere.
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }

  std::mt19937_64 random_;
};

}  // namespace

Profile draw(const Profile& profile, std::uint64_t seed) {
  Profile drawn = profile;
  if (seed == 0) return drawn;
  Drawer each(seed);
  for (Value* value :
       {&drawn.hbm_rate, &drawn.launch_floor, &drawn.submit_call, &drawn.submit_region,
        &drawn.kernel_copy_compute, &drawn.host_dram_rate, &drawn.host_copy_rate, &drawn.link.in,
        &drawn.link.out, &drawn.link.total_dma, &drawn.link.total_kernel, &drawn.derates.gemm,
        &drawn.derates.attention, &drawn.derates.memory, &drawn.derates.copy}) {
    each(*value);
  }
  for (CopyCurves& curves : drawn.copy) {
    each(curves.in);
    each(curves.out);
  }
  for (auto& [dtype, rates] : drawn.gemm) {
    for (GemmShape& shape : rates.shapes) each(shape.seconds);
    each(rates.efficiency);
  }
  for (auto& [dtype, rates] : drawn.attention) {
    for (AttentionShape& shape : rates.shapes) each(shape.seconds);
    each(rates.efficiency);
  }
  for (auto& [dtype, share] : drawn.experts) each(share);
  for (auto& [dtype, share] : drawn.latent_attention) each(share);
  if (drawn.peer) {
    each(drawn.peer->rate);
    each(drawn.peer->latency);
  }
  if (drawn.disk) {
    each(drawn.disk->read);
    each(drawn.disk->write);
    each(drawn.disk->file);
  }
  return drawn;
}

}  // namespace kvroof::sim
