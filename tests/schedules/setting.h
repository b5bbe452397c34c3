// SPDX-License-Identifier: Apache-2.0
// What a schedule's seed decides before it begins: the engine's settings, the device's limits, and
// which faults it meets how often.
#pragma once
#include <cstdint>
#include <string>

#include "backends/faults/faults.h"
#include "transfer/engine/engine.h"

namespace kvroof::schedules {

struct Setting {
  EngineConfig engine;
  Faults faults;
  std::uint32_t steps = 0;
  bool with_disk = false;  // the directory is whoever runs it's to give
  bool narrow_keys = false;
  bool abandoned = false;  // the engine is destroyed with whatever is open then
};

Setting draw_setting(std::uint64_t seed);

}  // namespace kvroof::schedules
