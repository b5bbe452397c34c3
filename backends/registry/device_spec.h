// SPDX-License-Identifier: Apache-2.0
// The text that names a device on the command line: `host`, `sim:h100-sxm,link=pcie4x16`, `cuda:0`.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "backends/api/status.h"

namespace kvroof {

struct DeviceSpec {
  std::string adapter;                         // "sim"
  std::string selector;                        // "h100-sxm", "profile.json", "0" or empty
  std::map<std::string, std::string> options;  // {"link": "pcie4x16"}; `*4` is {"devices": "4"}
  // What no text says: the caller fills it in.
  std::string profile_text;  // for `sim`: a profile's JSON
  std::uint32_t ranks = 1;   // equal devices that share one host, of which this is to be one
};

// adapter[:selector[*devices]][,key=value]... ; `host:link=5GB/s` has no selector. `invalid` says
// what is wrong with the text; whether such a device exists is open_device's to say.
Result<DeviceSpec> parse_device(std::string_view text);

// A rate as options have it: "5GB/s", "512MiB/s", "1.5e0" is none: a decimal number, a unit of
// bytes (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB) and "/s". Bytes a second, at least 1; empty where
// the text is anything else.
std::optional<double> parse_rate(std::string_view text);

}  // namespace kvroof
