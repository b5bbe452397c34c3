// SPDX-License-Identifier: Apache-2.0
// Gates make order visible without sleeping: what a held lane delays, what it must not delay, and
// what becomes of those that waited for it.
#include <cstring>
#include <thread>

#include "backends/conformance/check.h"
#include "backends/conformance/rig.h"

namespace kvroof::conformance {
namespace {

constexpr Gate kGate = 7, kOtherGate = 8;

Work hold(Gate gate = kGate) { return {.fences = {}, .body = Hold{gate}}; }

// A pinned source full of a pattern, a device destination full of zeros, and the copy between them.
struct Upload {
  explicit Upload(Rig& rig, unsigned seed = 1)
      : bytes(pattern(kBytes, seed)),
        host(rig.buffer(MemoryKind::pinned, kBytes)),
        device(rig.buffer(MemoryKind::device, kBytes)),
        region{all(*host), all(*device)} {
    rig.write(*device, 0, Bytes(kBytes));
    std::memcpy(host->host().data(), bytes.data(), kBytes);
  }

  Work work(std::span<const Point> fences = {}) const {
    return {.fences = fences, .body = Regions{.list = {&region, 1}}};
  }
  bool landed(Rig& rig) const { return rig.read(*device, 0, kBytes) == bytes; }

  Bytes bytes;
  std::unique_ptr<Buffer> host, device;
  Region region;
};

void open_gate(Rig& rig, Gate gate = kGate) {
  const Status status = rig.device.open_gate(gate);
  require(status.ok(), "open_gate failed: " + status.text);
}

void a_hold_waits_for_its_gate(Rig& rig) {
  const auto lane = rig.queue(QueueKind::copy_in);
  const Ticket held = rig.submit(*lane, hold());
  open_gate(rig, kOtherGate);
  require(rig.still_open({lane.get(), held}), "a hold waits for its own gate");
  Completion one;
  require(*lane->reap({&one, 1}) == 0, "an open ticket is not reaped");
  open_gate(rig);
  require(rig.drain(*lane, held).at(0).status.ok(), "a hold whose gate opens ends well");
}

void an_open_gate_lets_pass(Rig& rig) {
  const auto lane = rig.queue(QueueKind::copy_out);
  open_gate(rig);
  open_gate(rig);
  for (int i = 0; i < 2; ++i) {
    require(rig.run(*lane, hold()).ok(), "a gate that was opened stays open, now and later");
  }
}

void a_lane_is_in_order(Rig& rig) {
  const Upload up(rig);
  const auto lane = rig.queue(QueueKind::copy_in);
  const Ticket held = rig.submit(*lane, hold());
  const Ticket copy = rig.submit(*lane, up.work());
  require(rig.still_open({lane.get(), copy}), "work behind a hold waits");
  require(!up.landed(rig), "work behind a hold does not run");
  open_gate(rig);
  const auto done = rig.drain(*lane, copy);
  require(done.size() == 2 && done[0].ticket == held && done[1].ticket == copy, "in ticket order");
  require(up.landed(rig), "and then it runs");
}

void a_held_lane_blocks_no_other(Rig& rig) {
  const Upload up(rig), beside(rig, 2);
  const auto held_lane = rig.queue(QueueKind::copy_in), same_kind = rig.queue(QueueKind::copy_in);
  const auto compute = rig.queue(QueueKind::compute);
  const Ticket held = rig.submit(*held_lane, hold());
  const Ticket behind = rig.submit(*held_lane, up.work());
  require(rig.run(*same_kind, beside.work()).ok(), "a second lane of the same kind goes on");
  require(rig.run(*compute, {.fences = {}, .body = Fill{all(*beside.device), 1}}).ok(),
          "a lane of another kind goes on");
  require(rig.still_open({held_lane.get(), held}), "while the first is held");
  open_gate(rig);
  rig.drain(*held_lane, behind);
}

void a_fence_orders_two_lanes(Rig& rig) {
  const Upload up(rig);
  const auto first = rig.queue(QueueKind::compute), second = rig.queue(QueueKind::copy_in);
  const Point fence{first.get(), rig.submit(*first, hold())};
  const Ticket copy = rig.submit(*second, up.work({&fence, 1}));
  require(rig.still_open({second.get(), copy}), "fenced work waits");
  require(!up.landed(rig), "fenced work does not run");
  open_gate(rig);
  require(rig.drain(*second, copy).at(0).status.ok(), "fenced work runs once its fence is done");
  require(up.landed(rig), "and does what it should");
}

void every_fence_counts(Rig& rig) {
  const Upload up(rig);
  const auto a = rig.queue(QueueKind::compute), b = rig.queue(QueueKind::copy_out),
             lane = rig.queue(QueueKind::copy_in);
  const Point fences[] = {{a.get(), rig.submit(*a, hold(kGate))},
                          {b.get(), rig.submit(*b, hold(kOtherGate))}};
  const Ticket copy = rig.submit(*lane, up.work(fences));
  open_gate(rig, kGate);
  rig.wait(fences[0]);
  require(rig.still_open({lane.get(), copy}), "one of two fences is not enough");
  open_gate(rig, kOtherGate);
  require(rig.drain(*lane, copy).at(0).status.ok(), "both fences done, it runs");
}

void the_source_is_read_when_it_runs(Rig& rig) {
  for (const CopyMethod method : {CopyMethod::dma, CopyMethod::batch, CopyMethod::kernel}) {
    if (!rig.device.info().copy_unavailable[static_cast<std::size_t>(method)].empty()) continue;
    const Gate gate = kGate + static_cast<Gate>(method) * 10;
    Upload up(rig);
    const auto lane = rig.queue(QueueKind::copy_in);
    rig.submit(*lane, hold(gate));
    const Regions copy{.list = {&up.region, 1}, .method = method};
    const Ticket ticket = rig.submit(*lane, {.fences = {}, .body = copy});
    up.bytes = pattern(kBytes, 9);
    std::memcpy(up.host->host().data(), up.bytes.data(), kBytes);
    open_gate(rig, gate);
    rig.drain(*lane, ticket);
    require(up.landed(rig), "a copy reads its source when it runs, not when it is submitted");
  }
}

void arguments_are_copied_at_submit(Rig& rig) {
  const Upload up(rig);
  const auto first = rig.queue(QueueKind::compute), lane = rig.queue(QueueKind::copy_in);
  std::vector<Region> regions{up.region};
  std::vector<Point> fences{{first.get(), rig.submit(*first, hold())}};
  const Ticket copy = rig.submit(*lane, {.fences = fences, .body = Regions{.list = regions}});
  regions[0].source.bytes = regions[0].destination.bytes = 0;
  fences[0] = {nullptr, 0};
  open_gate(rig);
  require(rig.drain(*lane, copy).at(0).status.ok(), "regions and fences are copied at submit");
  require(up.landed(rig), "the regions as they were at submit");
}

void a_full_queue_is_busy(Rig& rig) {
  constexpr std::uint64_t kWorthTrying = 1u << 20;
  const std::uint64_t most = rig.device.info().max_open_tickets;
  require(most > 0, "max_open_tickets is a fact");
  if (most > kWorthTrying) return;
  const auto lane = rig.queue(QueueKind::copy_in);
  for (std::uint64_t i = 0; i < most; ++i) rig.submit(*lane, hold());
  for (int i = 0; i < 2; ++i) {
    rig.expect_refused(*lane, hold(), Code::busy, "more than max_open_tickets");
  }
  const Region nowhere{};
  rig.expect_refused(*lane, {.fences = {}, .body = Regions{.list = {&nowhere, 1}}}, Code::invalid,
                     "what can never be accepted, on a full queue,");
  open_gate(rig);
  require(rig.drain(*lane, most).size() == most, "busy enqueued nothing, and all others end");
  require(rig.submit(*lane, hold()) == most + 1, "busy clears by waiting, and took no ticket");
  rig.drain(*lane, most + 1);
}

void a_failure_aborts_those_fenced_on_it(Rig& rig) {
  const Upload up(rig), free(rig, 2);
  const auto b = rig.queue(QueueKind::copy_in), c = rig.queue(QueueKind::copy_in);
  {
    const auto a = rig.queue(QueueKind::compute);
    const Point on_hold{a.get(), rig.submit(*a, hold())};
    const Point on_b{b.get(), rig.submit(*b, up.work({&on_hold, 1}))};
    rig.submit(*b, free.work());
    rig.submit(*c, up.work({&on_b, 1}));
  }  // the queue ends with its gate closed
  const auto b_done = rig.drain(*b, 2), c_done = rig.drain(*c, 1);
  require(b_done.at(0).status.code == Code::aborted, "work fenced on failed work is aborted");
  require(!b_done[0].status.text.empty(), "and says why");
  require(!b_done[0].interval, "work that did not run has no interval");
  require(b_done.at(1).status.ok(), "what merely stands behind it in the lane runs");
  require(c_done.at(0).status.code == Code::aborted, "an abort cascades");
  require(!up.landed(rig) && free.landed(rig), "aborted work moved nothing, the other did");
  const Point reaped[] = {{b.get(), 1}, {b.get(), 2}};
  require(rig.run(*c, free.work({reaped + 1, 1})).ok(), "a reaped ticket that ended well is fine");
  require(rig.run(*c, free.work(reaped)).code == Code::aborted,
          "a queue remembers which reaped tickets failed");
}

void closing_a_queue_drains_it(Rig& rig) {
  const Upload first(rig, 1), second(rig, 2);
  {
    const auto lane = rig.queue(QueueKind::copy_in);
    rig.submit(*lane, first.work());
    rig.submit(*lane, hold());
    rig.submit(*lane, second.work());
  }
  require(first.landed(rig), "what stood before the hold has run");
  require(second.landed(rig), "the hold alone was aborted: copies behind it ran");
}

void deadlines_are_absolute(Rig& rig) {
  const auto lane = rig.queue(QueueKind::copy_in);
  const Point held{lane.get(), rig.submit(*lane, hold())};
  require(rig.still_open(held), "a held ticket is open");
  const auto late = rig.device.wait_any({&held, 1}, rig.device.now() - Nanos(1));
  const bool stuck = rig.device.info().virtual_time && late.code() == Code::stuck;
  require(late.code() == Code::timeout || stuck, "a deadline that has passed is a timeout");
  open_gate(rig);
  rig.wait(held);
}

void a_gate_opens_from_another_thread(Rig& rig) {
  if (rig.device.info().virtual_time) return;  // nothing happens there while nobody waits
  const auto lane = rig.queue(QueueKind::copy_in);
  const Point held{lane.get(), rig.submit(*lane, hold())};
  std::thread opener([&] { (void)rig.device.open_gate(kGate); });
  const auto index = rig.device.wait_any({&held, 1}, Nanos::max());
  opener.join();
  require(index.ok(), "a gate may open while another thread waits");
}

void queues_serve_a_thread_each(Rig& rig) {
  const Upload a(rig, 1), b(rig, 2);
  const auto one = rig.queue(QueueKind::copy_in), two = rig.queue(QueueKind::copy_in);
  constexpr Ticket kCount = 50;
  const auto drive = [](const Upload& up, Queue& lane) {
    Completion done;
    for (Ticket i = 0; i < kCount; ++i) {
      while (lane.submit(up.work()).code() == Code::busy) (void)lane.reap({&done, 1});
    }
  };
  if (rig.device.info().virtual_time && rig.device.info().max_open_tickets < kCount) return;
  std::thread other([&] { drive(b, *two); });
  drive(a, *one);
  other.join();
  rig.drain(*one, kCount);
  rig.drain(*two, kCount);
  require(a.landed(rig) && b.landed(rig), "two threads with a queue each do not disturb another");
}

constexpr Check kChecks[] = {
    {"a_hold_waits_for_its_gate", a_hold_waits_for_its_gate},
    {"an_open_gate_lets_pass", an_open_gate_lets_pass},
    {"a_lane_is_in_order", a_lane_is_in_order},
    {"a_held_lane_blocks_no_other", a_held_lane_blocks_no_other},
    {"a_fence_orders_two_lanes", a_fence_orders_two_lanes},
    {"every_fence_counts", every_fence_counts},
    {"the_source_is_read_when_it_runs", the_source_is_read_when_it_runs},
    {"arguments_are_copied_at_submit", arguments_are_copied_at_submit},
    {"a_full_queue_is_busy", a_full_queue_is_busy},
    {"a_failure_aborts_those_fenced_on_it", a_failure_aborts_those_fenced_on_it},
    {"closing_a_queue_drains_it", closing_a_queue_drains_it},
    {"deadlines_are_absolute", deadlines_are_absolute},
    {"a_gate_opens_from_another_thread", a_gate_opens_from_another_thread},
    {"queues_serve_a_thread_each", queues_serve_a_thread_each},
};

}  // namespace

std::span<const Check> hold_checks() { return kChecks; }

}  // namespace kvroof::conformance
