// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/record_reader.h"

#include <fmt/format.h>

#include <fstream>

#include "suites/harness/record.h"

namespace kvroof {
namespace {

Status refuse(const std::filesystem::path& file, const std::string& why) {
  return {Code::invalid, fmt::format("{}: {}", file.string(), why)};
}

}  // namespace

Result<Json> read_record(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return refuse(file, "no such file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return refuse(file, "cannot be read");
  Json record = Json::parse(stream, nullptr, false);
  if (record.is_discarded()) return refuse(file, "is not JSON");
  if (!record.is_object() || !record.contains("schema_version")) {
    return refuse(file, "is no kvroof record: it has no schema_version");
  }
  const Json version = record["schema_version"];
  if (version != kSchemaVersion) {
    return refuse(file, fmt::format("has schema_version {}, and {} is expected: read it with the "
                                    "kvroof that wrote it",
                                    version.dump(), kSchemaVersion));
  }
  if (!record.contains("cases") || !record["cases"].is_array()) {
    return refuse(file, "is not a whole kvroof record: it has no list of cases");
  }
  return record;
}

}  // namespace kvroof
