// SPDX-License-Identifier: Apache-2.0
#include "backends/conformance/rig.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace kvroof::conformance {
namespace {

using namespace std::chrono_literals;
constexpr Nanos kPatience =
    60s;                         // far beyond any check's work: reached only by a device that hangs
constexpr Nanos kGlance = 20ms;  // long enough for work that wrongly runs to be seen

template <class T>
T taken(Result<T> result, const std::string& what) {
  require(result.ok(), what + " was refused: " + result.status().text);
  return std::move(*result);
}

}  // namespace

Bytes pattern(std::size_t bytes, unsigned seed) {
  Bytes out(bytes);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (std::byte& b : out) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    b = static_cast<std::byte>(state >> 56);
  }
  return out;
}

std::unique_ptr<Queue> Rig::queue(QueueKind kind) {
  return taken(device.open_queue(kind, Priority::normal), "open_queue");
}

std::unique_ptr<Buffer> Rig::buffer(MemoryKind kind, std::uint64_t bytes) {
  return taken(device.allocate({.kind = kind, .bytes = bytes}), "allocate");
}

Ticket Rig::submit(Queue& queue, const Work& work) { return taken(queue.submit(work), "submit"); }

void Rig::expect_refused(Queue& queue, const Work& work, Code code, const std::string& what) {
  const auto ticket = queue.submit(work);
  require(ticket.code() == code, what + " must be " + std::string(name(code)) + " and was " +
                                     std::string(name(ticket.code())));
  require(!ticket.status().text.empty(), what + " is refused without a sentence");
}

void Rig::wait(Point point) {
  const Nanos deadline = device.info().virtual_time ? Nanos::max() : device.now() + kPatience;
  taken(device.wait_any({&point, 1}, deadline), "wait_any");
}

bool Rig::still_open(Point point) {
  const Nanos deadline = device.info().virtual_time ? Nanos::max() : device.now() + kGlance;
  const auto index = device.wait_any({&point, 1}, deadline);
  if (index.ok()) return false;
  const Code expected = device.info().virtual_time ? Code::stuck : Code::timeout;
  require(index.code() == expected, "wait_any on open work answered " +
                                        std::string(name(index.code())) + " instead of " +
                                        std::string(name(expected)));
  return true;
}

std::vector<Completion> Rig::drain(Queue& queue, Ticket last) {
  wait({&queue, last});
  std::vector<Completion> out;
  std::array<Completion, 64> some;
  for (;;) {
    const std::size_t count = taken(queue.reap(some), "reap");
    require(count <= some.size(), "reap wrote more than it was given room for");
    if (count == 0) return out;
    out.insert(out.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
    require(out.size() <= last, "reap returned more completions than there were tickets");
  }
}

Status Rig::run(Queue& queue, const Work& work) {
  const Ticket ticket = submit(queue, work);
  const std::vector<Completion> done = drain(queue, ticket);
  require(!done.empty() && done.back().ticket == ticket, "the last ticket was not reaped last");
  return done.back().status;
}

void Rig::write(Buffer& device_buffer, std::uint64_t offset, std::span<const std::byte> bytes) {
  const auto staging = buffer(MemoryKind::pinned, bytes.size());
  const auto lane = queue(QueueKind::copy_in);
  std::memcpy(staging->host().data(), bytes.data(), bytes.size());
  const Region region{all(*staging), {&device_buffer, offset, bytes.size()}};
  const Status status = run(*lane, {.fences = {}, .body = Regions{.list = {&region, 1}}});
  require(status.ok(), "a copy in failed: " + status.text);
}

Bytes Rig::read(Buffer& device_buffer, std::uint64_t offset, std::uint64_t bytes) {
  const auto staging = buffer(MemoryKind::pinned, bytes);
  const auto lane = queue(QueueKind::copy_out);
  const Region region{{&device_buffer, offset, bytes}, all(*staging)};
  const Status status = run(*lane, {.fences = {}, .body = Regions{.list = {&region, 1}}});
  require(status.ok(), "a copy out failed: " + status.text);
  const auto view = staging->host();
  return {view.begin(), view.end()};
}

}  // namespace kvroof::conformance
