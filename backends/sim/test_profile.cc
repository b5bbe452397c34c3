// SPDX-License-Identifier: Apache-2.0
// The made-up device's profile.
#include "backends/sim/test_profile.h"

#include <nlohmann/json.hpp>

namespace kvroof::sim {
namespace {

using Json = nlohmann::json;

Json value(double value, const char* unit) {
  return {{"value", value}, {"low", value},        {"high", value},
          {"unit", unit},   {"source", "made up"}, {"basis", "datasheet"}};
}

Json curve(double bytes_per_second) {
  return {{"points", {{1, bytes_per_second}}},
          {"low", 1},
          {"high", 1},
          {"unit", "B/s"},
          {"spread", "none"},
          {"source", "made up"},
          {"basis", "datasheet"}};
}

Json compute() {
  const Json full = {{"efficiency", value(1, "1")}};
  return {{"peak", value(100e12, "FLOP/s")},
          {"gemm", full},
          {"attention", full},
          {"experts", value(0.5, "1")},
          {"latent_attention", value(0.5, "1")}};
}

}  // namespace

std::string test_profile() {
  const Json copies = {{"in", curve(10e9)}, {"out", curve(10e9)}};
  const Json one = value(1, "1");
  const Json link = {{"generation", 0},
                     {"width", 0},
                     {"peak", value(10e9, "B/s")},
                     {"in", value(10e9, "B/s")},
                     {"out", value(10e9, "B/s")},
                     {"total_dma", value(16e9, "B/s")},
                     {"total_kernel", value(16e9, "B/s")}};
  const Json profile = {
      {"format", "kvroof device profile 1"},
      {"name", "a made-up device"},
      {"memory", value(1e9, "B")},
      {"host_memory", value(4e9, "B")},
      {"hbm_achieved", value(1e12, "B/s")},
      {"launch_floor", value(0, "s")},
      {"submit_call", value(1e-6, "s")},
      {"submit_region", value(1e-6, "s")},
      {"kernel_copy_compute", value(0.1, "1")},
      {"host_dram", value(100e9, "B/s")},
      {"host_copy", value(5e9, "B/s")},
      {"link", link},
      {"derates", {{"gemm", one}, {"attention", one}, {"memory", one}, {"copy", one}}},
      {"copy", {{"dma", copies}, {"batch", copies}, {"kernel", copies}}},
      {"compute", {{"f32", compute()}, {"bf16", compute()}}},
      {"disk",
       {{"read", value(2e9, "B/s")}, {"write", value(1e9, "B/s")}, {"file", value(1e-5, "s")}}},
      {"peer", {{"rate", value(50e9, "B/s")}, {"latency", value(1e-5, "s")}}}};
  return profile.dump();
}

}  // namespace kvroof::sim
