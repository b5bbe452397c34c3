// SPDX-License-Identifier: Apache-2.0
// JSON whose objects keep the order in which they were written.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace kvroof {

using Json = nlohmann::ordered_json;

// What is wrong, without the library's name of the error in front.
inline std::string reason(const Json::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace kvroof
