// SPDX-License-Identifier: Apache-2.0
// Tickets, fences, reaping, refusals and buffers' facts: what holds whether or not bytes move.
#include <array>
#include <cstdlib>
#include <limits>

#include "backends/conformance/check.h"
#include "backends/conformance/rig.h"

namespace kvroof::conformance {
namespace {

// A lane into the device with something to copy, which most rules need.
struct CopyIn {
  explicit CopyIn(Rig& rig)
      : host(rig.buffer(MemoryKind::pinned, kBytes)),
        device(rig.buffer(MemoryKind::device, kBytes)),
        region{all(*host), all(*device)},
        lane(rig.queue(QueueKind::copy_in)) {}

  Work work(std::span<const Point> fences = {}) const {
    return {.fences = fences, .body = Regions{.list = {&region, 1}}};
  }

  std::unique_ptr<Buffer> host, device;  // before the lane: they outlive its tickets
  Region region;
  std::unique_ptr<Queue> lane;
};

void tickets_grow_by_one(Rig& rig) {
  CopyIn in(rig), other(rig);
  for (Ticket expected = 1; expected <= 20; ++expected) {
    require(rig.submit(*in.lane, in.work()) == expected, "tickets are 1, 2, 3 ... a queue");
    if (expected % 7 == 0) rig.drain(*in.lane, expected);
  }
  require(rig.submit(*other.lane, other.work()) == 1, "every queue counts its own tickets");
}

void reap_is_in_order_and_once(Rig& rig) {
  CopyIn in(rig);
  constexpr Ticket kCount = 10;
  for (Ticket i = 0; i < kCount; ++i) rig.submit(*in.lane, in.work());
  const auto done = rig.drain(*in.lane, kCount);
  require(done.size() == kCount, "each ticket is reaped exactly once");
  for (std::size_t i = 0; i < done.size(); ++i) {
    require(done[i].ticket == i + 1, "completions come in ticket order");
    require(done[i].status.ok(), "a copy failed: " + done[i].status.text);
  }
}

void no_regions_are_a_marker(Rig& rig) {
  CopyIn in(rig);
  const Point fence{in.lane.get(), rig.submit(*in.lane, in.work())};
  const auto lane = rig.queue(QueueKind::copy_out);
  require(rig.run(*lane, {.fences = {&fence, 1}, .body = Regions{}}).ok(),
          "work without regions completes once its fences have");
}

void reap_fills_only_the_span(Rig& rig) {
  CopyIn in(rig);
  require(*in.lane->reap({}) == 0, "reaping into no room yields nothing");
  std::array<Completion, 2> two;
  require(*in.lane->reap(two) == 0, "a fresh queue has nothing to reap");
  for (int i = 0; i < 3; ++i) rig.submit(*in.lane, in.work());
  rig.wait({in.lane.get(), 3});
  require(*in.lane->reap({}) == 0, "reaping into no room yields nothing");
  require(*in.lane->reap(two) == 2 && two[1].ticket == 2, "reap fills the room it is given");
  require(*in.lane->reap(two) == 1 && two[0].ticket == 3, "the rest stays for the next reap");
  require(*in.lane->reap(two) == 0, "and then nothing is left");
}

void fences_name_the_past(Rig& rig) {
  CopyIn in(rig), other(rig);
  const Ticket first = rig.submit(*in.lane, in.work());
  for (const Ticket future : {Ticket{0}, first + 1, std::numeric_limits<Ticket>::max()}) {
    const Point fence{in.lane.get(), future};
    rig.expect_refused(*other.lane, other.work({&fence, 1}), Code::invalid, "a future fence");
    rig.expect_refused(*in.lane, in.work({&fence, 1}), Code::invalid, "a fence on oneself");
  }
  rig.drain(*in.lane, first);
  const Point fences[] = {{in.lane.get(), first}, {in.lane.get(), first}};
  require(rig.run(*other.lane, other.work(fences)).ok(), "a fence may name a reaped ticket");
}

void refusals_enqueue_nothing(Rig& rig) {
  CopyIn in(rig);
  const Region bad{{in.host.get(), 0, kBytes + 1}, {in.device.get(), 0, kBytes + 1}};
  rig.expect_refused(*in.lane, {.fences = {}, .body = Regions{.list = {&bad, 1}}}, Code::invalid,
                     "a region outside its buffers");
  require(rig.submit(*in.lane, in.work()) == 1, "a refused submission takes no ticket");
  require(rig.drain(*in.lane, 1).size() == 1, "a refused submission completes nothing");
}

void spans_stay_inside_their_buffers(Rig& rig) {
  CopyIn in(rig);
  Buffer *host = in.host.get(), *device = in.device.get();
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  const std::pair<Region, const char*> kBad[] = {
      {{{host, 0, 0}, {device, 0, 0}}, "a region without bytes"},
      {{{host, 0, 64}, {device, 0, 32}}, "a region of unequal sides"},
      {{{host, 1, kBytes}, {device, 0, kBytes}}, "a source beyond its buffer"},
      {{{host, 0, 64}, {device, kBytes - 63, 64}}, "a destination beyond its buffer"},
      {{{host, kHuge - 31, 64}, {device, 0, 64}}, "an offset that overflows"},
      {{{host, 0, kHuge}, {device, 0, kHuge}}, "a length that overflows"},
      {{{nullptr, 0, 64}, {device, 0, 64}}, "a source without a buffer"},
      {{{host, 0, 64}, {nullptr, 0, 64}}, "a destination without a buffer"},
  };
  for (const auto& [region, what] : kBad) {
    const Region list[] = {in.region, region};  // the bad one last: every region is looked at
    rig.expect_refused(*in.lane, {.fences = {}, .body = Regions{.list = list}}, Code::invalid,
                       what);
  }
  const auto compute = rig.queue(QueueKind::compute);
  for (const Span& span : {Span{device, 0, 0}, Span{device, 1, kBytes}, Span{nullptr, 0, 1}}) {
    rig.expect_refused(*compute, {.fences = {}, .body = Fill{.span = span}}, Code::invalid,
                       "a fill outside its buffer");
  }
}

void regions_follow_the_direction(Rig& rig) {
  CopyIn in(rig);
  const auto out = rig.queue(QueueKind::copy_out);
  const Region regions[] = {{all(*in.device), all(*in.host)},
                            {all(*in.host), all(*in.host)},
                            {all(*in.device), all(*in.device)}};
  for (const Region& region : regions) {
    const Work work{.fences = {}, .body = Regions{.list = {&region, 1}}};
    rig.expect_refused(*in.lane, work, Code::invalid, "a region against copy_in");
  }
  rig.expect_refused(*out, in.work(), Code::invalid, "a region against copy_out");
  const Work home{.fences = {}, .body = Regions{.list = {&regions[0], 1}}};
  require(rig.run(*out, home).ok(), "a region along copy_out runs");
}

void regions_are_limited(Rig& rig) {
  constexpr std::uint64_t kWorthTrying = 1u << 20;
  const std::uint64_t most = rig.device.info().max_regions;
  require(most > 0, "max_regions is a fact");
  if (most > kWorthTrying) return;
  CopyIn in(rig);
  const Region small{{in.host.get(), 0, 1}, {in.device.get(), 0, 1}};
  std::vector<Region> many(most + 1, small);
  for (std::uint64_t i = 0; i < most; ++i) many[i].destination.offset = i % kBytes;
  rig.expect_refused(*in.lane, {.fences = {}, .body = Regions{.list = many}}, Code::invalid,
                     "more regions than max_regions");
  many.resize(std::min(most, kBytes));
  require(rig.run(*in.lane, {.fences = {}, .body = Regions{.list = many}}).ok(),
          "as many regions as max_regions allows run");
}

void ops_stay_off_copy_queues(Rig& rig) {
  const auto device = rig.buffer(MemoryKind::device, kBytes);
  const Span span{device.get(), 0, 64}, index{device.get(), 64, 4}, out{device.get(), 128, 64};
  const Work work{
      .fences = {},
      .body = Op(Gather{.source = span, .index = index, .out = out, .rows = 1, .row_bytes = 64})};
  for (const QueueKind kind : {QueueKind::copy_in, QueueKind::copy_out}) {
    const auto lane = rig.queue(kind);
    require(lane->kind() == kind, "a queue knows its kind");
    rig.expect_refused(*lane, work, Code::invalid, "an op on a copy queue");
  }
}

void wait_returns_the_lowest(Rig& rig) {
  CopyIn a(rig), b(rig);
  const Ticket first = rig.submit(*a.lane, a.work()), second = rig.submit(*a.lane, a.work());
  const Ticket other = rig.submit(*b.lane, b.work());
  rig.wait({a.lane.get(), second});
  rig.wait({b.lane.get(), other});
  const Point points[] = {{b.lane.get(), other}, {a.lane.get(), second}, {a.lane.get(), first}};
  const auto waited = [&](std::span<const Point> some) {
    const auto index = rig.device.wait_any(some, Nanos::max());
    require(index.ok(), "wait_any on completed work answered " + index.status().text);
    return *index;
  };
  require(waited(points) == 0, "the lowest index of several");
  rig.drain(*a.lane, second);
  rig.drain(*b.lane, other);
  require(waited({points + 1, 2}) == 0, "a reaped ticket has completed");
  const auto past = rig.device.wait_any(points, rig.device.now() - Nanos(1));
  require(past.ok() && *past == 0, "what has completed is returned whatever the deadline");
  const Point future{a.lane.get(), second + 1};
  require(rig.device.wait_any({&future, 1}, Nanos::max()).code() == Code::invalid,
          "wait_any on a future ticket is invalid");
}

void buffers_state_their_facts(Rig& rig) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pinned, MemoryKind::pageable}) {
    const auto buffer = rig.buffer(kind, kBytes);
    require(buffer->facts().bytes == kBytes, "a buffer has the bytes that were asked for");
    require(buffer->facts().pieces >= 1, "a buffer is made of at least one piece");
    const bool device = kind == MemoryKind::device;
    require((buffer->facts().kind == MemoryKind::device) == device, "device memory says so");
    require(buffer->host().size() == (device ? 0 : kBytes), "only host memory has a host view");
    if (!device) require(buffer->facts().backed, "host memory asked for as backed is backed");
  }
  const auto none = rig.device.allocate({.kind = MemoryKind::pinned, .bytes = 0});
  require(none.code() == Code::invalid, "a buffer of zero bytes is invalid");
}

void adopted_memory_stays_the_callers(Rig& rig) {
  Bytes memory = pattern(kBytes, 1);
  const Bytes before = memory;
  {
    auto buffer = rig.device.adopt(memory.data(), memory.size());
    require(buffer.ok(), "adopt was refused: " + buffer.status().text);
    require((*buffer)->host().data() == memory.data(), "the host view is the caller's memory");
    require((*buffer)->facts().bytes == kBytes, "an adopted buffer knows its bytes");
    require((*buffer)->facts().kind != MemoryKind::device, "adopted memory is host memory");
  }
  require(memory == before, "adopting and letting go leaves the bytes alone");
  require(rig.device.adopt(nullptr, 1).code() == Code::invalid, "adopting nothing is invalid");
  require(rig.device.adopt(memory.data(), 0).code() == Code::invalid, "nor zero bytes");
}

void no_memory_leaves_nothing(Rig& rig) {
  const std::uint64_t bytes = rig.device.info().memory_bytes;
  require(bytes > 0, "memory_bytes is a fact");
  for (int i = 0; i < 4; ++i) {
    const auto much = rig.device.allocate({.kind = MemoryKind::device, .bytes = bytes + 1});
    require(much.code() == Code::no_memory, "more than memory_bytes is no_memory");
  }
  rig.buffer(MemoryKind::device, kBytes);
}

void no_points_are_a_sleep(Rig& rig) {
  const Nanos until = rig.device.now() + Nanos(1000);
  require(rig.device.wait_any({}, until).code() == Code::timeout, "a sleep ends as a timeout");
  require(rig.device.now() >= until, "and not before its deadline");
  require(!rig.device.wait_any({}, Nanos::max()).ok(), "nothing to wait for, ever, is refused");
}

void clock_never_goes_back(Rig& rig) {
  CopyIn in(rig);
  const Nanos before = rig.device.now();
  rig.drain(*in.lane, rig.submit(*in.lane, in.work()));
  require(rig.device.now() >= before, "the device's clock does not go back");
}

constexpr Check kChecks[] = {
    {"tickets_grow_by_one", tickets_grow_by_one},
    {"reap_is_in_order_and_once", reap_is_in_order_and_once},
    {"no_regions_are_a_marker", no_regions_are_a_marker},
    {"reap_fills_only_the_span", reap_fills_only_the_span},
    {"fences_name_the_past", fences_name_the_past},
    {"refusals_enqueue_nothing", refusals_enqueue_nothing},
    {"spans_stay_inside_their_buffers", spans_stay_inside_their_buffers},
    {"regions_follow_the_direction", regions_follow_the_direction},
    {"regions_are_limited", regions_are_limited},
    {"ops_stay_off_copy_queues", ops_stay_off_copy_queues},
    {"wait_returns_the_lowest", wait_returns_the_lowest},
    {"buffers_state_their_facts", buffers_state_their_facts},
    {"adopted_memory_stays_the_callers", adopted_memory_stays_the_callers},
    {"no_memory_leaves_nothing", no_memory_leaves_nothing},
    {"no_points_are_a_sleep", no_points_are_a_sleep},
    {"clock_never_goes_back", clock_never_goes_back},
};

}  // namespace

std::span<const Check> rule_checks() { return kChecks; }

}  // namespace kvroof::conformance
