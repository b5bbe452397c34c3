// SPDX-License-Identifier: Apache-2.0
// JSON whose objects keep the order in which they were written.
#pragma once
#include <nlohmann/json.hpp>

namespace kvroof {

using Json = nlohmann::ordered_json;

}  // namespace kvroof
