// SPDX-License-Identifier: Apache-2.0
#include "backends/disk/engine.h"

#include <utility>

#include "backends/disk/ring_engine.h"
#include "backends/disk/thread_engine.h"

namespace kvroof::disk {

std::unique_ptr<Engine> make_engine(Way way, Engine::Done done) {
  if (way == Way::threads) {
    return std::make_unique<ThreadEngine>("threads were asked for", std::move(done));
  }
  auto ring = Ring::open();
  if (!ring) return std::make_unique<ThreadEngine>(ring.status().text, std::move(done));
  return std::make_unique<RingEngine>(std::move(*ring), std::move(done));
}

}  // namespace kvroof::disk
