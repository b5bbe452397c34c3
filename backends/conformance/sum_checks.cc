// SPDX-License-Identifier: Apache-2.0
// Sums that copies take of what they read, and only those that a device says it takes.
#include <cstring>

#include "backends/conformance/check.h"
#include "backends/conformance/rig.h"

namespace kvroof::conformance {
namespace {

// By XXH3_64 of the reference implementation: of 0 to 7, of 8 to 15, as bytes.
void sums_come_with_the_copy(Rig& rig, CopyMethod method) {
  constexpr std::uint64_t kLow = 0x3a1c2d7c85af88f8u, kHigh = 0x28a3052305d44b01u;
  Bytes bytes(24);
  for (std::size_t i = 0; i < 24; ++i) bytes[i] = static_cast<std::byte>((i + 8) % 16);
  const auto device = rig.buffer(MemoryKind::device, 24);
  const auto host = rig.buffer(MemoryKind::pinned, 24), sums = rig.buffer(MemoryKind::pinned, 24);
  const auto lane = rig.queue(QueueKind::copy_out);
  rig.write(*device, 0, bytes);
  const Region list[] = {{{device.get(), 0, 8}, {host.get(), 16, 8}},
                         {{device.get(), 8, 16}, {host.get(), 0, 16}}};
  const auto ticket = lane->submit(
      {.fences = {}, .body = Regions{.list = list, .method = method, .sums = {all(*sums), 8}}});
  const DeviceInfo& info = rig.device.info();
  if (!info.sums_copies || !info.copy_unavailable[static_cast<std::size_t>(method)].empty()) {
    require(ticket.code() == Code::unsupported, "sums that a device does not take are refused");
    return;
  }
  require(ticket.ok(), "a copy with sums was refused: " + ticket.status().text);
  require(rig.drain(*lane, *ticket).at(0).status.ok(), "a copy with sums failed");
  const std::uint64_t expected[] = {kHigh, kLow, kHigh};
  require(std::memcmp(sums->host().data(), expected, sizeof(expected)) == 0,
          "sums are of the parts in the regions' order");
  require(std::memcmp(host->host().data() + 16, bytes.data(), 8) == 0 &&
              std::memcmp(host->host().data(), bytes.data() + 8, 16) == 0,
          "what is summed is copied too");
}

void sums_come_with_dma(Rig& rig) { sums_come_with_the_copy(rig, CopyMethod::dma); }
void sums_come_with_batch(Rig& rig) { sums_come_with_the_copy(rig, CopyMethod::batch); }
void sums_come_with_kernel(Rig& rig) { sums_come_with_the_copy(rig, CopyMethod::kernel); }

void sums_need_whole_parts_and_room(Rig& rig) {
  if (!rig.device.info().sums_copies) return;
  const auto device = rig.buffer(MemoryKind::device, 64), host = rig.buffer(MemoryKind::pinned, 64);
  const auto lane = rig.queue(QueueKind::copy_out);
  const Region region{all(*device), all(*host)};
  const CopySums bad[] = {{all(*host), 0},
                          {all(*host), 7},
                          {{host.get(), 0, 56}, 8},
                          {{host.get(), 4, 56}, 16},
                          {{host.get(), 56, 16}, 64},
                          {all(*device), 16}};
  for (const CopySums& sums : bad) {
    const Regions copy{.list = {&region, 1}, .sums = sums};
    require(lane->submit({.fences = {}, .body = copy}).code() == Code::invalid,
            "sums of no whole parts, or without room in host memory, are refused");
  }
}

constexpr Check kChecks[] = {
    {"sums_come_with_dma", sums_come_with_dma},
    {"sums_come_with_batch", sums_come_with_batch},
    {"sums_come_with_kernel", sums_come_with_kernel},
    {"sums_need_whole_parts_and_room", sums_need_whole_parts_and_room},
};

}  // namespace

std::span<const Check> sum_checks() { return kChecks; }

}  // namespace kvroof::conformance
