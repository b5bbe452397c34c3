// SPDX-License-Identifier: Apache-2.0
// Devices and models as data, built into the binary: a new one is one JSON file in devices/ or
// models/, and its name is the file's.
#pragma once
#include <span>
#include <string_view>

namespace kvroof {

struct CatalogEntry {
  std::string_view name, text;  // "h100-sxm", and the file's JSON
};

// In the order of their names.
std::span<const CatalogEntry> device_profiles();
std::span<const CatalogEntry> model_configs();

// The entry of that name, or null.
const CatalogEntry* find_entry(std::span<const CatalogEntry> entries, std::string_view name);

}  // namespace kvroof
