// SPDX-License-Identifier: Apache-2.0
// The wind tunnel's one setting: the host's link rate at which copying and recomputing `tunnel-512`
// stand to each other as they do for a large model on a simulated machine.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "backends/api/device.h"
#include "kernels/model/model_shape.h"
#include "suites/harness/json.h"
#include "suites/harness/record.h"

namespace kvroof {

// The tunnel's model, and how many tokens of the reference model each of its own stands for:
// attention's share of the FLOPs is then the same.
constexpr const char* kTunnelModel = "tunnel-512";
constexpr const char* kTunnelReference = "llama-3.1-8b";
constexpr std::uint64_t kTunnelScale = 8;
constexpr std::uint64_t kBalancedContext = 1280;  // where the rate is set, for all contexts

struct Balance {
  std::string machine;                // the simulated device, by name
  double pi = 0;                      // prefill time over link time of the same tokens, there
  Basis pi_basis = Basis::published;  // of the simulation
  Metric prefill;                     // the host's own, of kBalancedContext tokens
  std::string link;                   // the rate as option link has it: "421.3MB/s"
  double link_rate = 0;               // the same, bytes/s
};

// Whether this is the catalogue's tunnel-512, perhaps cut to fewer layers.
bool is_tunnel_model(const ModelShape& shape);

// Simulates kTunnelReference at kTunnelScale * kBalancedContext tokens on `machine`, and measures
// the prefill of `shape` in `dtype` on `host`, warmed up, until the interval is narrow. `invalid`
// where the machine can't be simulated there, and says why.
Result<Balance> find_balance(Device& machine, Device& host, const ModelShape& shape, DType dtype,
                             std::uint64_t seed);

Json to_json(const Balance& balance);

// What to_json() made; `invalid` names what is missing.
Result<Balance> parse_balance(const Json& json);

// One sentence for people.
std::string text(const Balance& balance);

// Says where the run's own prefill of kBalancedContext tokens took another time than when the rate
// was set from it, so that the rate does not fit; empty where it does, or did not run.
std::string drift_text(const Balance& balance, std::span<const Case> cases);

}  // namespace kvroof
