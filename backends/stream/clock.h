// SPDX-License-Identifier: Apache-2.0
// From events to the device's clock, which is the host's: an event's distance from an anchor, whose
// time both know. Distances are single precision, so that anchors are renewed every few seconds.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "backends/stream/driver.h"

namespace kvroof::stream {

Nanos steady_now();

// Events that are made once and used again. Under the lanes' lock.
class EventPool {
 public:
  explicit EventPool(Driver& driver) : driver_(driver) {}
  ~EventPool();
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  Result<Event> take();
  void give(Event event) { free_.push_back(event); }

 private:
  Driver& driver_;
  std::vector<Event> free_;
};

struct Anchor {
  Event event = nullptr;
  Nanos at{};
};

class Clock {
 public:
  Clock(Driver& driver, EventPool& events) : driver_(driver), events_(events) {}
  ~Clock();
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  Status open();  // to be called first

  // The anchor for work that is enqueued now; renewed where the last has become old.
  std::shared_ptr<const Anchor> anchor();

  // Of events that are done; empty where the driver does not say.
  std::optional<Interval> interval(const Anchor& anchor, Event begin, Event end);

 private:
  Result<std::shared_ptr<const Anchor>> make();

  Driver& driver_;
  EventPool& events_;
  Stream stream_ = nullptr;  // holds anchors alone, so that they are done at once
  std::shared_ptr<const Anchor> last_;
};

}  // namespace kvroof::stream
