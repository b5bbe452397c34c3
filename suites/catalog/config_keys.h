// SPDX-License-Identifier: Apache-2.0
// Reads keys of a JSON object that nobody vouches for, one after another, and keeps the first
// complaint; later reads then do nothing.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace kvroof {

// Printable, at most 60 characters.
std::string shorten(const std::string& text);

class Keys {
 public:
  using Json = nlohmann::json;

  // `object` outlives this; `origin` names it in complaints.
  Keys(const Json& object, std::string origin) : object_(object), origin_(std::move(origin)) {}

  // Null where the key is absent or null.
  const Json* find(const char* key) const;

  // Complains that `key` does not hold what is expected.
  void refuse(const char* key, std::string_view expected);

  // Takes over the complaint of a part of this object.
  void adopt(const Keys& part);

  // A whole number in 1..most; `fallback` where the key is absent, or a complaint without one.
  std::uint32_t count(const char* key, std::uint32_t most,
                      std::optional<std::uint32_t> fallback = {});

  // The same, and 0 as well.
  std::uint32_t count_or_none(const char* key, std::uint32_t most, std::uint32_t fallback);

  double positive(const char* key, double fallback);
  bool flag(const char* key, bool fallback);

  const std::string& origin() const { return origin_; }
  const std::string& error() const { return error_; }  // empty: no complaint so far

 private:
  std::uint32_t whole(const char* key, std::uint32_t least, std::uint32_t most,
                      std::optional<std::uint32_t> fallback);

  const Json& object_;
  std::string origin_, error_;
};

}  // namespace kvroof
