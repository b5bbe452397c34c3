// SPDX-License-Identifier: Apache-2.0
// `host:balance=h100-sxm`: the host with its link paced to another machine's balance.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "backends/api/device.h"
#include "suites/harness/grid.h"
#include "suites/tunnel/balance.h"

namespace kvroof {

struct OpenedDevice {
  std::unique_ptr<Device> device;
  std::optional<Balance> balance;  // where the text asked for one
};

// As open_named, and with option `balance` too, for which it simulates and measures. `invalid` as
// well where the run is none that the wind tunnel can do: another model, links of its own.
// `recorded`: the `device` of a run that goes on; its balance, where it was of the same text,
// stays.
Result<OpenedDevice> open_balanced(const std::string& text, const ModelShape& shape,
                                   std::span<const ComparisonGroup> groups, std::uint64_t seed,
                                   const Json& recorded);

}  // namespace kvroof
