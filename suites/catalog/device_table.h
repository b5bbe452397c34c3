// SPDX-License-Identifier: Apache-2.0
// The table of datasheet figures that the catalogue's devices are held against.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace kvroof {

struct DeviceRow {
  std::string name;                                                      // as in the catalogue
  double bf16_flops = 0, memory_bytes = 0, hbm_rate = 0, link_rate = 0;  // a second; dense; one way
};

// The table's name in lower case, brackets and what follows a '/' dropped, spaces as '-'.
std::string catalog_name(std::string_view table_name);

// Empty where the file can't be read.
std::vector<DeviceRow> read_devices(const std::string& path);

}  // namespace kvroof
