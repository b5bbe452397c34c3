// SPDX-License-Identifier: Apache-2.0
// One change for each field that a compatibility record holds, in the order of its encoding: for
// checks that no field is left out of keys.
#pragma once
#include <span>
#include <string_view>

#include "transfer/keys/compatibility.h"

namespace kvroof {

struct RecordFlip {
  std::string_view field;                      // "shape.rope_theta"
  void (*apply)(CompatibilityRecord& record);  // whatever the record holds, it differs afterwards
};

std::span<const RecordFlip> record_flips();

}  // namespace kvroof
