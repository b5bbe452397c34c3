// SPDX-License-Identifier: Apache-2.0
// Checks of copies, fills, holds and CPU work.
#include "backends/queues/body_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "backends/queues/owned_buffer.h"
#include "kernels/portable/op_check.h"
#include "kernels/portable/operands.h"

namespace kvroof::queues {
namespace {

Status invalid(std::string sentence) { return {Code::invalid, std::move(sentence)}; }

bool on_device(const Span& span) { return span.buffer->facts().kind == MemoryKind::device; }

// copy_in: host to device; copy_out: device to host; host: within host memory.
bool fits_direction(const Region& region, QueueKind kind) {
  const bool from = on_device(region.source), to = on_device(region.destination);
  if (kind == QueueKind::copy_in) return !from && to;
  if (kind == QueueKind::copy_out) return from && !to;
  if (kind == QueueKind::host) return !from && !to;
  return true;
}

// A submission names few buffers, again and again.
class Owned {
 public:
  explicit Owned(const void* owner) : owner_(owner) {}

  bool has(const Buffer* buffer) {
    if (buffer == nullptr) return false;
    if (buffer == last_ || buffer == before_) return true;
    const auto* const owned = dynamic_cast<const OwnedBuffer*>(buffer);
    if (owned == nullptr || owned->owner() != owner_) return false;
    before_ = std::exchange(last_, buffer);
    return true;
  }

 private:
  const void* owner_;
  const Buffer *last_ = nullptr, *before_ = nullptr;
};

Status check_span(const Span& span, Owned& owned, const char* what) {
  if (!owned.has(span.buffer)) {
    return invalid(std::string(what) + " must name a buffer of this device.");
  }
  const std::uint64_t size = span.buffer->facts().bytes;
  if (span.offset > size || span.bytes > size - span.offset) {
    return invalid(std::string(what) + " reaches past the end of its buffer of " +
                   std::to_string(size) + " bytes.");
  }
  if (span.bytes == 0) return invalid(std::string(what) + " must have at least one byte.");
  return {};
}

Status check_region(const Region& region, QueueKind kind, Owned& owned) {
  if (region.source.bytes != region.destination.bytes) {
    return invalid("A region's source and destination must have equal bytes.");
  }
  if (Status s = check_span(region.source, owned, "A region's source"); !s.ok()) return s;
  if (Status s = check_span(region.destination, owned, "A region's destination"); !s.ok()) {
    return s;
  }
  if (!fits_direction(region, kind)) {
    return invalid("A region runs against its queue's direction; use a queue of the other kind.");
  }
  return {};
}

Status check(const Regions& regions, QueueKind kind, std::uint64_t max, const void* owner) {
  if (regions.list.size() > max) {
    return invalid("A submission of this device takes at most " + std::to_string(max) +
                   " regions, and this has " + std::to_string(regions.list.size()) + ".");
  }
  Owned owned(owner);
  for (const Region& region : regions.list) {
    if (Status status = check_region(region, kind, owned); !status.ok()) return status;
  }
  return {};
}

Status check(const Op& op, QueueKind kind, Owned& owned) {
  if (kind != QueueKind::compute) return invalid("An op belongs on a compute queue.");
  if (Status status = check_op(op); !status.ok()) return status;
  const Operands operands = operands_of(op);
  // check_op has refused what has no buffer, unless it may be absent.
  const auto fits = [&owned](const Span& span) {
    return span.buffer == nullptr || owned.has(span.buffer);
  };
  if (std::ranges::all_of(operands.read, fits) && std::ranges::all_of(operands.written, fits)) {
    return {};
  }
  return invalid("An op's operands must lie in buffers of this device.");
}

Status check(const Op& op, QueueKind kind, std::uint64_t, const void* owner) {
  Owned owned(owner);
  return check(op, kind, owned);
}

bool moves_rows(const Op& op) {
  return std::holds_alternative<Gather>(op) || std::holds_alternative<Scatter>(op);
}

Status check(const OpRun& run, QueueKind kind, std::uint64_t, const void* owner) {
  if (run.ops.empty() || run.times == 0) return invalid("A run of ops needs at least one.");
  Owned owned(owner);
  for (const Op& op : run.ops) {
    if (moves_rows(op)) return invalid("Gather and scatter are no part of a run of ops.");
    if (Status status = check(op, kind, owned); !status.ok()) return status;
  }
  return {};
}

Status check(const Fill& fill, QueueKind, std::uint64_t, const void* owner) {
  Owned owned(owner);
  return check_span(fill.span, owned, "A fill's span");
}

Status check(const Hold&, QueueKind, std::uint64_t, const void*) { return {}; }

Status check(const Spend& spend, QueueKind kind, std::uint64_t, const void*) {
  if (kind != QueueKind::host) return invalid("CPU time is spent on a host queue.");
  if (spend.duration < Nanos(0)) return invalid("CPU time to spend must not be negative.");
  return {};
}

}  // namespace

Status check_body(const Work& work, QueueKind kind, std::uint64_t max_regions, const void* owner) {
  return std::visit([&](const auto& body) { return check(body, kind, max_regions, owner); },
                    work.body);
}

}  // namespace kvroof::queues
