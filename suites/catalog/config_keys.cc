// SPDX-License-Identifier: Apache-2.0
#include "suites/catalog/config_keys.h"

#include <fmt/format.h>

#include <cmath>

namespace kvroof {

std::string shorten(const std::string& text) {
  std::string short_text = text.size() <= 60 ? text : text.substr(0, 57) + "...";
  for (char& c : short_text) {
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
  }
  return short_text;
}

const nlohmann::json* Keys::find(const char* key) const {
  const auto it = object_.find(key);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

void Keys::refuse(const char* key, std::string_view expected) {
  if (!error_.empty()) return;
  const Json* found = find(key);
  const std::string value =
      found ? shorten(found->dump(-1, ' ', false, Json::error_handler_t::replace)) : "missing";
  error_ = fmt::format("{}: key '{}' is {}, expected {}", origin_, key, value, expected);
}

void Keys::adopt(const Keys& part) {
  if (error_.empty()) error_ = part.error_;
}

std::uint32_t Keys::whole(const char* key, std::uint32_t least, std::uint32_t most,
                          std::optional<std::uint32_t> fallback) {
  const Json* found = find(key);
  if (!found && fallback) return *fallback;
  if (!found || !found->is_number_integer() || found->get<Json::number_integer_t>() < least ||
      found->get<Json::number_unsigned_t>() > most) {
    refuse(key, fmt::format("a whole number from {} to {}", least, most));
    return 1;
  }
  return found->get<std::uint32_t>();
}

std::uint32_t Keys::count(const char* key, std::uint32_t most,
                          std::optional<std::uint32_t> fallback) {
  return whole(key, 1, most, fallback);
}

std::uint32_t Keys::count_or_none(const char* key, std::uint32_t most, std::uint32_t fallback) {
  return whole(key, 0, most, fallback);
}

double Keys::positive(const char* key, double fallback) {
  const Json* found = find(key);
  if (!found) return fallback;
  if (!found->is_number() || !(found->get<double>() > 0) || !std::isfinite(found->get<double>())) {
    refuse(key, "a positive number");
    return fallback;
  }
  return found->get<double>();
}

bool Keys::flag(const char* key, bool fallback) {
  const Json* found = find(key);
  if (!found) return fallback;
  if (!found->is_boolean()) refuse(key, "true or false");
  return found->is_boolean() ? found->get<bool>() : fallback;
}

}  // namespace kvroof
