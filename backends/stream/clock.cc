// SPDX-License-Identifier: Apache-2.0
#include "backends/stream/clock.h"

#include <algorithm>
#include <chrono>

namespace kvroof::stream {
namespace {

using namespace std::chrono_literals;
constexpr Nanos kRenewAfter = 4s;  // single precision is half a microsecond there
constexpr int kTries = 5;
constexpr Nanos kCloseEnough = 20us;

Nanos nanos(double seconds) { return Nanos(static_cast<Nanos::rep>(seconds * 1e9)); }

}  // namespace

Nanos steady_now() {
  return std::chrono::duration_cast<Nanos>(std::chrono::steady_clock::now().time_since_epoch());
}

EventPool::~EventPool() {
  for (Event event : free_) (void)driver_.destroy_event(event);
}

Result<Event> EventPool::take() {
  if (free_.empty()) return driver_.create_event();
  const Event event = free_.back();
  free_.pop_back();
  return event;
}

Status Clock::open() {
  auto stream = driver_.create_stream(Priority::normal);
  if (!stream) return stream.status();
  stream_ = *stream;
  auto first = make();
  if (!first) return first.status();
  last_ = *first;
  return {};
}

Clock::~Clock() {
  last_.reset();
  if (stream_ != nullptr) (void)driver_.destroy_stream(stream_);
}

std::shared_ptr<const Anchor> Clock::anchor() {
  if (steady_now() - last_->at > kRenewAfter) {
    if (auto renewed = make()) last_ = *renewed;
  }
  return last_;
}

// The event's time lies between two looks at our clock; the closest two of a few are taken.
Result<std::shared_ptr<const Anchor>> Clock::make() {
  const auto give_back = [this](const Anchor* anchor) {
    events_.give(anchor->event);
    delete anchor;
  };
  std::shared_ptr<const Anchor> best;
  Nanos closest = Nanos::max();
  for (int i = 0; i < kTries && closest > kCloseEnough; ++i) {
    auto event = events_.take();
    if (!event) return event.status();
    std::shared_ptr<Anchor> made(new Anchor{*event, {}}, give_back);
    const Nanos before = steady_now();
    Status status = driver_.record(*event, stream_);
    if (status.ok()) status = driver_.drain(stream_);
    if (!status.ok()) return status;
    const Nanos apart = steady_now() - before;
    made->at = before + apart / 2;
    if (apart < closest) best = std::move(made);
    closest = std::min(closest, apart);
  }
  return best;
}

std::optional<Interval> Clock::interval(const Anchor& anchor, Event begin, Event end) {
  const auto from = driver_.seconds(anchor.event, begin), to = driver_.seconds(anchor.event, end);
  if (!from || !to) return std::nullopt;
  return Interval{anchor.at + nanos(*from), anchor.at + nanos(*to)};
}

}  // namespace kvroof::stream
