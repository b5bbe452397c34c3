// SPDX-License-Identifier: Apache-2.0
// Copies and fills move exactly the bytes that they name, and say when.
#include <algorithm>
#include <cstring>
#include <functional>

#include "backends/conformance/check.h"
#include "backends/conformance/rig.h"

namespace kvroof::conformance {
namespace {

using HostMemory = std::function<std::unique_ptr<Buffer>(Rig&)>;

// Out of the device and in again through host memory of one kind.
void round_trip(Rig& rig, const HostMemory& make_host) {
  const Bytes original = pattern(kBytes, 3);
  const auto there = rig.buffer(MemoryKind::device, kBytes),
             back = rig.buffer(MemoryKind::device, kBytes);
  const auto host = make_host(rig);
  const auto out = rig.queue(QueueKind::copy_out), in = rig.queue(QueueKind::copy_in);
  rig.write(*there, 0, original);
  const Region leave{all(*there), all(*host)}, enter{all(*host), all(*back)};
  require(rig.run(*out, {.fences = {}, .body = Regions{.list = {&leave, 1}}}).ok(), "copy out");
  const auto view = host->host();
  require(std::equal(view.begin(), view.end(), original.begin(), original.end()),
          "the host holds the device's bytes");
  require(rig.run(*in, {.fences = {}, .body = Regions{.list = {&enter, 1}}}).ok(), "copy in");
  require(rig.read(*back, 0, kBytes) == original, "the device holds the host's bytes");
}

void pinned_round_trip(Rig& rig) {
  round_trip(rig, [](Rig& r) { return r.buffer(MemoryKind::pinned, kBytes); });
}

void pageable_round_trip(Rig& rig) {
  round_trip(rig, [](Rig& r) { return r.buffer(MemoryKind::pageable, kBytes); });
}

void adopted_round_trip(Rig& rig) {
  Bytes memory(kBytes + 1);
  round_trip(rig, [&](Rig& r) {
    auto buffer = r.device.adopt(memory.data() + 1, kBytes);  // odd on purpose
    require(buffer.ok(), "adopt was refused: " + buffer.status().text);
    return std::move(*buffer);
  });
}

// Regions of unequal odd lengths, each to a place of its own in reverse order, with gaps between
// destinations that must stay as they were.
struct Scattered {
  static constexpr std::uint64_t kGap = 5;

  explicit Scattered(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) lengths.push_back(1 + i * 37 % 301);
    for (const std::uint64_t length : lengths) total += length;
    span = total + count * kGap;
  }

  std::vector<Region> regions(Buffer& source, Buffer& destination) const {
    std::vector<Region> list;
    std::uint64_t from = 0, to = span;
    for (const std::uint64_t length : lengths) {
      to -= length + kGap;
      list.push_back({{&source, from, length}, {&destination, to, length}});
      from += length;
    }
    return list;
  }

  Bytes expected(const Bytes& source, std::byte untouched) const {
    Bytes out(span, untouched);
    std::uint64_t from = 0, to = span;
    for (const std::uint64_t length : lengths) {
      to -= length + kGap;
      std::memcpy(out.data() + to, source.data() + from, length);
      from += length;
    }
    return out;
  }

  std::vector<std::uint64_t> lengths;
  std::uint64_t total = 0, span = 0;
};

void many_regions(Rig& rig, CopyMethod method) {
  const Scattered plan(std::min<std::uint64_t>(rig.device.info().max_regions, 500));
  const Bytes original = pattern(plan.total, 4);
  const auto host = rig.buffer(MemoryKind::pinned, plan.total);
  const auto device = rig.buffer(MemoryKind::device, plan.span);
  const auto lane = rig.queue(QueueKind::copy_in);
  std::memcpy(host->host().data(), original.data(), plan.total);
  rig.write(*device, 0, Bytes(plan.span, std::byte{0xee}));
  const auto list = plan.regions(*host, *device);
  const auto ticket = lane->submit({.fences = {}, .body = Regions{list, method}});
  if (ticket.code() == Code::unsupported) {
    require(!rig.device.info().copy_unavailable[static_cast<std::size_t>(method)].empty(),
            "a device says why it does not copy by a method");
    return;
  }
  require(ticket.ok(), "many regions were refused: " + ticket.status().text);
  require(rig.drain(*lane, *ticket).at(0).status.ok(), "many regions failed");
  require(rig.read(*device, 0, plan.span) == plan.expected(original, std::byte{0xee}),
          "every region lands in its place, and nothing beside it changes");
}

void many_regions_by_dma(Rig& rig) { many_regions(rig, CopyMethod::dma); }
void many_regions_by_batch(Rig& rig) { many_regions(rig, CopyMethod::batch); }
void many_regions_by_kernel(Rig& rig) { many_regions(rig, CopyMethod::kernel); }

void sources_may_overlap(Rig& rig) {
  const Bytes original = pattern(64, 5);
  const auto host = rig.buffer(MemoryKind::pinned, 64);
  const auto device = rig.buffer(MemoryKind::device, 128);
  const auto lane = rig.queue(QueueKind::copy_in);
  std::memcpy(host->host().data(), original.data(), 64);
  const Region twice[] = {{all(*host), {device.get(), 64, 64}},
                          {all(*host), {device.get(), 0, 64}}};
  require(rig.run(*lane, {.fences = {}, .body = Regions{.list = twice}}).ok(), "one source twice");
  require(rig.read(*device, 0, 64) == original && rig.read(*device, 64, 64) == original,
          "one source may feed two destinations");
}

void fill_sets_its_span_alone(Rig& rig) {
  Bytes expected = pattern(kBytes, 6);
  const auto device = rig.buffer(MemoryKind::device, kBytes);
  const auto compute = rig.queue(QueueKind::compute);
  rig.write(*device, 0, expected);
  const Fill fill{.span = {device.get(), 33, 4099}, .value = 0xa5};
  require(rig.run(*compute, {.fences = {}, .body = fill}).ok(), "a fill failed");
  std::fill_n(expected.begin() + 33, 4099, std::byte{0xa5});
  require(rig.read(*device, 0, kBytes) == expected, "a fill sets its span and nothing beside it");
}

void later_work_wins(Rig& rig) {
  constexpr int kRounds = 30;
  const auto device = rig.buffer(MemoryKind::device, kBytes);
  const auto compute = rig.queue(QueueKind::compute);
  Ticket last = 0;
  for (int i = 1; i <= kRounds; ++i) {
    const Fill fill{.span = all(*device), .value = static_cast<std::uint8_t>(i)};
    last = rig.submit(*compute, {.fences = {}, .body = fill});
  }
  rig.drain(*compute, last);
  require(rig.read(*device, 0, kBytes) == Bytes(kBytes, std::byte{kRounds}),
          "the last of many fills of a span is the one that stays");
}

// Two lanes hand a buffer to and fro by fences; each stage overwrites what the other reads.
void fences_carry_bytes_across_lanes(Rig& rig) {
  constexpr int kRounds = 20;
  const auto device = rig.buffer(MemoryKind::device, kBytes);
  const auto host = rig.buffer(MemoryKind::pinned, kRounds * kBytes);
  const auto compute = rig.queue(QueueKind::compute), out = rig.queue(QueueKind::copy_out);
  Point copied{};
  for (int i = 0; i < kRounds; ++i) {
    const Fill fill{.span = all(*device), .value = static_cast<std::uint8_t>(i + 1)};
    const std::span<const Point> after{&copied, i == 0 ? 0u : 1u};
    const Point filled{compute.get(), rig.submit(*compute, {.fences = after, .body = fill})};
    const Region region{all(*device), {host.get(), static_cast<std::uint64_t>(i) * kBytes, kBytes}};
    copied = {out.get(),
              rig.submit(*out, {.fences = {&filled, 1}, .body = Regions{.list = {&region, 1}}})};
  }
  rig.drain(*out, copied.ticket);
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    const auto stage = host->host().subspan(i * kBytes, kBytes);
    const auto value = static_cast<std::byte>(i + 1);
    require(std::all_of(stage.begin(), stage.end(), [&](std::byte b) { return b == value; }),
            "each copy out sees the fill that it waited for, whole and no later one");
  }
}

void intervals_follow_one_another(Rig& rig) {
  const auto host = rig.buffer(MemoryKind::pinned, kBytes);
  const auto device = rig.buffer(MemoryKind::device, kBytes);
  const auto lane = rig.queue(QueueKind::copy_in);
  const Region region{all(*host), all(*device)};
  Nanos last = rig.device.now();
  Ticket ticket = 0;
  for (int i = 0; i < 10; ++i) {
    ticket = rig.submit(*lane, {.fences = {}, .body = Regions{.list = {&region, 1}}});
  }
  for (const Completion& done : rig.drain(*lane, ticket)) {
    if (!done.interval) continue;  // no timestamps here
    require(done.interval->begin <= done.interval->end, "work begins before it ends");
    require(done.interval->end >= last, "an in-order lane ends its work in order");
    last = done.interval->end;
  }
  require(last <= rig.device.now(), "nothing reaped ended in the future");
}

void spending_time_is_for_host_queues(Rig& rig) {
  const Work spend{.fences = {}, .body = Spend{Nanos(1000)}};
  const auto copy = rig.queue(QueueKind::copy_in);
  require(!copy->submit(spend).ok(), "a copy queue has no CPU time to spend");
  const auto lane = rig.device.open_queue(QueueKind::host, Priority::normal);
  if (!lane) return require(lane.code() == Code::unsupported, "no host lane is `unsupported`");
  const Nanos before = rig.device.now();
  const auto ticket = (*lane)->submit(spend);
  if (!ticket) return require(ticket.code() == Code::unsupported, "no spending is `unsupported`");
  rig.drain(**lane, *ticket);
  require(rig.device.now() >= before + Nanos(1000), "CPU time that is spent passes");
}

constexpr Check kChecks[] = {
    {"pinned_round_trip", pinned_round_trip},
    {"pageable_round_trip", pageable_round_trip},
    {"adopted_round_trip", adopted_round_trip},
    {"many_regions_by_dma", many_regions_by_dma},
    {"many_regions_by_batch", many_regions_by_batch},
    {"many_regions_by_kernel", many_regions_by_kernel},
    {"sources_may_overlap", sources_may_overlap},
    {"fill_sets_its_span_alone", fill_sets_its_span_alone},
    {"later_work_wins", later_work_wins},
    {"fences_carry_bytes_across_lanes", fences_carry_bytes_across_lanes},
    {"intervals_follow_one_another", intervals_follow_one_another},
    {"spending_time_is_for_host_queues", spending_time_is_for_host_queues},
};

}  // namespace

std::span<const Check> byte_checks() { return kChecks; }

}  // namespace kvroof::conformance
