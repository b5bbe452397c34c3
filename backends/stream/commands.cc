// SPDX-License-Identifier: Apache-2.0
#include "backends/stream/commands.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kvroof::stream {
namespace {

constexpr std::uint64_t kBounceBytes = 1u << 20;

MemoryKind kind(const Span& span) { return span.buffer->facts().kind; }

std::byte* host(Address address) { return reinterpret_cast<std::byte*>(address); }

Way way_of(const Region& region) {
  if (kind(region.source) != MemoryKind::device) return Way::in;
  return kind(region.destination) == MemoryKind::device ? Way::within : Way::out;
}

void add(const Region& region, Copies& out) {
  const StreamBuffer &from = of(region.source), &to = of(region.destination);
  const bool from_device = kind(region.source) == MemoryKind::device;
  const bool to_device = kind(region.destination) == MemoryKind::device;
  const Move whole{to.address() + region.destination.offset, from.address() + region.source.offset,
                   region.source.bytes};
  if (!from_device && !to_device) {
    out.on_host.push_back(whole);
    return;
  }
  const bool pageable = kind(region.source) == MemoryKind::pageable ||
                        kind(region.destination) == MemoryKind::pageable;
  for (std::uint64_t at = 0; at < whole.bytes;) {
    const std::uint64_t left = whole.bytes - at;
    const std::uint64_t bytes = std::min(from.in_one_piece(region.source.offset + at, left),
                                         to.in_one_piece(region.destination.offset + at, left));
    out.over_link.push_back({{whole.to + at, whole.from + at, bytes}, way_of(region), pageable});
    at += bytes;
  }
}

}  // namespace

Copies copies_of(const Regions& regions) {
  Copies out;
  out.batch = regions.method == CopyMethod::batch;
  out.over_link.reserve(regions.list.size());
  for (const Region& region : regions.list) add(region, out);
  return out;
}

Set set_of(const Fill& fill) {
  return {of(fill.span).address() + fill.span.offset, fill.span.bytes, fill.value,
          kind(fill.span) == MemoryKind::device};
}

void HostTask::run(void* self) {
  const HostTask& task = *static_cast<HostTask*>(self);
  if (task.from != nullptr) {
    std::memcpy(task.to, task.from, task.bytes);
  } else {
    std::memset(task.to, task.value, task.bytes);
  }
}

Status call(Driver& driver, Stream stream, HostTask task, HostTasks& tasks) {
  tasks.push_back(task);
  return driver.call(stream, &HostTask::run, &tasks.back());
}

Status Bounce::open() {
  if (mapping_) return {};
  auto mapping = os::Mapping::create(kBounceBytes, -1);
  if (!mapping) return mapping.status();
  if (Status status = driver_.pin((*mapping)->data(), kBounceBytes); !status.ok()) return status;
  mapping_ = std::move(*mapping);
  return {};
}

Bounce::~Bounce() {
  if (mapping_) (void)driver_.unpin(mapping_->data());
}

Status Bounce::copy(const Copy& copy, Stream stream, HostTasks& tasks) {
  Status status = open();
  const Move& move = copy.move;
  std::byte* const bounce = status.ok() ? mapping_->data() : nullptr;
  const auto through = reinterpret_cast<Address>(bounce);
  for (std::uint64_t at = 0; at < move.bytes && status.ok(); at += kBounceBytes) {
    const std::uint64_t bytes = std::min(kBounceBytes, move.bytes - at);
    if (copy.way == Way::in) {
      status = call(driver_, stream, {bounce, host(move.from + at), bytes, 0}, tasks);
      if (status.ok()) status = driver_.copy(Way::in, {move.to + at, through, bytes}, stream);
    } else {
      status = driver_.copy(Way::out, {through, move.from + at, bytes}, stream);
      if (status.ok()) {
        status = call(driver_, stream, {host(move.to + at), bounce, bytes, 0}, tasks);
      }
    }
  }
  return status;
}

}  // namespace kvroof::stream
