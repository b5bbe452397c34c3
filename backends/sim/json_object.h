// SPDX-License-Identifier: Apache-2.0
// Strict reading of one JSON object: every key is asked for once, and a key left over is an error.
#pragma once
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

namespace kvroof::sim {

// One sentence; caught where parsing starts, so that none crosses the seam.
class ProfileError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class JsonObject {
 public:
  // `path` is how a message names it: "link.in".
  JsonObject(const nlohmann::json& json, std::string path);

  JsonObject object(const char* key);
  const nlohmann::json& array(const char* key);
  std::string text(const char* key);  // not empty
  double number(const char* key);     // finite
  int count(const char* key);         // a whole number from 0 to a million

  bool has(const char* key) const { return json_.contains(key); }
  void allow(const char* key) { seen_.insert(key); }  // may be there, and is not read
  void finish() const;                                // throws where a key was not asked for

  const nlohmann::json& json() const { return json_; }
  std::string path_of(const std::string& key) const;
  [[noreturn]] void fail(const std::string& key, const std::string& expected) const;

 private:
  const nlohmann::json& required(const char* key);

  const nlohmann::json& json_;
  std::string path_;
  std::set<std::string> seen_;
};

}  // namespace kvroof::sim
