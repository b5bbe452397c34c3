// SPDX-License-Identifier: Apache-2.0
// How concurrent work shares a machine: max-min fair shares of several resources at once, where
// what is equalised is each flow's dominant share (Ghodsi et al., "Dominant Resource Fairness",
// NSDI 2011). Flows that meet at one resource with equal use per unit get equal rates there.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kvroof::sim {

enum class Resource : std::uint8_t {
  compute,     // 1: the whole of the compute units
  hbm,         // bytes/s
  link_in,     // bytes/s, host to device
  link_out,    // bytes/s, device to host
  link_total,  // bytes/s, both directions together
  host_dram,   // bytes/s, reads and writes
  host_cpu,    // 1: one core that copies
  disk,        // 1: all of its time, which reads and writes share
};
constexpr std::size_t kResources = 8;

using Amounts = std::array<double, kResources>;  // by Resource

struct Flow {
  double work = 0;  // units left to do
  double cap = 0;   // the most units/s that it reaches alone
  Amounts use{};    // of each resource, per unit
};

inline double& of(Amounts& amounts, Resource resource) {
  return amounts[static_cast<std::size_t>(resource)];
}
inline double of(const Amounts& amounts, Resource resource) {
  return amounts[static_cast<std::size_t>(resource)];
}

// Progressive filling: rates[i], in units/s, of flows[i]. A resource that a flow uses must have a
// capacity above zero.
void share(std::span<const Flow* const> flows, const Amounts& capacity, std::span<double> rates);

}  // namespace kvroof::sim
