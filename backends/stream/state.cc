// SPDX-License-Identifier: Apache-2.0
#include "backends/stream/state.h"

#include "backends/stream/queue.h"

namespace kvroof::stream {

std::shared_ptr<Timeline> State::find(const Point& point) const {
  const auto found = lanes.find(point.queue);
  if (found == lanes.end()) return nullptr;
  const std::shared_ptr<Timeline>& timeline = found->second->timeline();
  return point.ticket >= 1 && point.ticket <= timeline->issued ? timeline : nullptr;
}

// What one lane sends can be what another's next work waits for.
void State::advance() {
  for (bool sent = true; sent;) {
    sent = false;
    for (const auto& [queue, lane] : lanes) {
      while (lane->advance()) sent = true;
    }
  }
}

void State::poll() {
  for (const auto& [queue, lane] : lanes) lane->poll();
}

void State::lose(const Status& why) {
  if (!lost.ok()) return;
  lost = {Code::lost, why.text};
  for (const auto& [queue, lane] : lanes) lane->lose();
}

}  // namespace kvroof::stream
