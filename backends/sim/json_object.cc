// SPDX-License-Identifier: Apache-2.0
// Strict reading of one JSON object.
#include "backends/sim/json_object.h"

#include <cmath>
#include <utility>

namespace kvroof::sim {

JsonObject::JsonObject(const nlohmann::json& json, std::string path)
    : json_(json), path_(std::move(path)) {
  if (!json_.is_object()) {
    throw ProfileError((path_.empty() ? "the profile" : "'" + path_ + "'") +
                       " must be a JSON object");
  }
}

JsonObject JsonObject::object(const char* key) { return {required(key), path_of(key)}; }

const nlohmann::json& JsonObject::array(const char* key) {
  const nlohmann::json& value = required(key);
  if (!value.is_array() || value.empty()) fail(key, "a list with at least one entry");
  return value;
}

std::string JsonObject::text(const char* key) {
  const nlohmann::json& value = required(key);
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    fail(key, "a text that is not empty");
  }
  return value.get<std::string>();
}

double JsonObject::number(const char* key) {
  const nlohmann::json& value = required(key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) fail(key, "a finite number");
  return value.get<double>();
}

int JsonObject::count(const char* key) {
  const double value = number(key);
  if (value < 0 || value > 1e6 || value != std::floor(value)) {
    fail(key, "a whole number from 0 to a million");
  }
  return static_cast<int>(value);
}

void JsonObject::finish() const {
  for (const auto& item : json_.items()) {
    if (!seen_.contains(item.key())) {
      throw ProfileError("'" + path_of(item.key()) +
                         "' is not a key of a device profile: remove it");
    }
  }
}

std::string JsonObject::path_of(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

void JsonObject::fail(const std::string& key, const std::string& expected) const {
  throw ProfileError("'" + path_of(key) + "' must be " + expected);
}

const nlohmann::json& JsonObject::required(const char* key) {
  seen_.insert(key);
  const auto found = json_.find(key);
  if (found == json_.end()) throw ProfileError("'" + path_of(key) + "' is missing");
  return *found;
}

}  // namespace kvroof::sim
