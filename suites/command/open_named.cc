// SPDX-License-Identifier: Apache-2.0
#include "suites/command/open_named.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "backends/registry/registry.h"
#include "suites/catalog/catalog.h"
#include "suites/harness/text_file.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kMaxProfileBytes = 16u << 20;

// A catalogue name, or a path of a profile; the adapter gets its text.
Result<std::string> profile_text(const std::string& name_or_path) {
  if (const CatalogEntry* entry = find_entry(device_profiles(), name_or_path)) {
    return std::string(entry->text);
  }
  if (name_or_path.ends_with(".json")) {
    return read_text_file(name_or_path, "the path of a device profile", kMaxProfileBytes);
  }
  std::vector<std::string_view> names;
  for (const CatalogEntry& entry : device_profiles()) names.push_back(entry.name);
  return Status{Code::invalid,
                fmt::format("--device: no simulated device is called '{}', expected one of {}, or "
                            "the path of a profile's .json that can be read",
                            name_or_path, fmt::join(names, ", "))};
}

}  // namespace

Result<std::unique_ptr<Device>> open_named(const std::string& text, std::uint32_t ranks) {
  auto spec = parse_device(text);
  if (!spec) return spec.status();
  spec->ranks = ranks;
  if (spec->adapter == "sim") {
    auto profile = profile_text(spec->selector);
    if (!profile) return profile.status();
    spec->profile_text = std::move(*profile);
  }
  auto device = open_device(*spec);
  if (device.ok() || spec->adapter != "sim") return device;
  const Status why = device.status();
  return Status{why.code, fmt::format("{}: {}", spec->selector, why.text)};
}

std::string with_option(const std::string& text, const std::string& key, const std::string& value) {
  return text + (text.find_first_of(":,") == std::string::npos ? ':' : ',') + key + "=" + value;
}

}  // namespace kvroof
