// SPDX-License-Identifier: Apache-2.0
// Devices by the text of --device, with the profile that it names.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "backends/api/device.h"

namespace kvroof {

// One of so many equal devices that share a host. `invalid` for a text that names no device,
// profile or option; otherwise why it can't be opened.
Result<std::unique_ptr<Device>> open_named(const std::string& text, std::uint32_t ranks = 1);

// The text of the same device with one more option: "sim:h100-sxm,link=pcie4x16".
std::string with_option(const std::string& text, const std::string& key, const std::string& value);

}  // namespace kvroof
