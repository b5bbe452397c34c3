// SPDX-License-Identifier: Apache-2.0
// Checks of copies, fills, holds, files and CPU work.
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

bool is_disk(QueueKind kind) {
  return kind == QueueKind::disk_read || kind == QueueKind::disk_write;
}

Status check_sums(const Regions& regions, bool supported, Owned& owned) {
  const CopySums& sums = regions.sums;
  if (sums.out.buffer == nullptr) return {};
  if (!supported) {
    return {Code::unsupported, "Copies of this device take no sums; submit a checksum op."};
  }
  if (Status status = check_span(sums.out, owned, "A copy's sums"); !status.ok()) return status;
  std::uint64_t parts = 0;
  for (const Region& region : regions.list) {
    if (sums.part_bytes == 0 || region.source.bytes % sums.part_bytes != 0) {
      return invalid("A copy with sums needs regions of whole parts of at least one byte.");
    }
    parts += region.source.bytes / sums.part_bytes;
  }
  const bool held = parts * sizeof(std::uint64_t) <= sums.out.bytes;
  if (held && sums.out.offset % sizeof(std::uint64_t) == 0 && !on_device(sums.out)) return {};
  return invalid("A copy's sums need host memory at a multiple of 8 bytes, 8 for each part.");
}

Status check(const Regions& regions, QueueKind kind, const BodyRules& rules) {
  if (is_disk(kind) && !regions.list.empty()) {
    return invalid("A disk queue takes files alone; copy on a queue of another kind.");
  }
  if (regions.list.size() > rules.max_regions) {
    return invalid("A submission of this device takes at most " +
                   std::to_string(rules.max_regions) + " regions, and this has " +
                   std::to_string(regions.list.size()) + ".");
  }
  Owned owned(rules.owner);
  for (const Region& region : regions.list) {
    if (Status status = check_region(region, kind, owned); !status.ok()) return status;
  }
  return check_sums(regions, rules.sums_copies, owned);
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

Status check(const Op& op, QueueKind kind, const BodyRules& rules) {
  Owned owned(rules.owner);
  return check(op, kind, owned);
}

bool moves_rows(const Op& op) {
  return std::holds_alternative<Gather>(op) || std::holds_alternative<Scatter>(op) ||
         std::holds_alternative<Quantise>(op) || std::holds_alternative<Dequantise>(op) ||
         std::holds_alternative<Checksum>(op);
}

Status check(const OpRun& run, QueueKind kind, const BodyRules& rules) {
  if (run.ops.empty() || run.times == 0) return invalid("A run of ops needs at least one.");
  Owned owned(rules.owner);
  for (const Op& op : run.ops) {
    if (moves_rows(op)) {
      return invalid(std::string(kOpNames[op.index()]) +
                     " moves rows, which is no part of a run of ops; submit it on its own.");
    }
    if (Status status = check(op, kind, owned); !status.ok()) return status;
  }
  return {};
}

Status check(const Fill& fill, QueueKind kind, const BodyRules& rules) {
  if (is_disk(kind)) {
    return invalid("A disk queue takes files alone; fill on a queue of another kind.");
  }
  Owned owned(rules.owner);
  return check_span(fill.span, owned, "A fill's span");
}

Status check(const Hold&, QueueKind, const BodyRules&) { return {}; }

Status check(const Spend& spend, QueueKind kind, const BodyRules&) {
  if (kind != QueueKind::host) return invalid("CPU time is spent on a host queue.");
  if (spend.duration < Nanos(0)) return invalid("CPU time to spend must not be negative.");
  return {};
}

Status check_file(const Directory* directory, std::string_view name) {
  if (directory == nullptr) return invalid("A file needs the directory that it lies in.");
  if (is_file_name(name)) return {};
  return invalid("A file's name must be a-z, 0-9, '-', '_' and '.' in one or two parts, and '" +
                 std::string(name) + "' is not.");
}

Status check_pieces(std::span<const Span> pieces, const void* owner) {
  if (pieces.empty() || pieces.size() > kMaxFilePieces) {
    return invalid("A file is made of 1 to " + std::to_string(kMaxFilePieces) +
                   " pieces, and this has " + std::to_string(pieces.size()) + ".");
  }
  Owned owned(owner);
  for (const Span& piece : pieces) {
    if (Status status = check_span(piece, owned, "A file's piece"); !status.ok()) return status;
    if (on_device(piece)) return invalid("A file's pieces must be host memory.");
  }
  return {};
}

Status check(const ReadFile& file, QueueKind kind, const BodyRules& rules) {
  if (kind != QueueKind::disk_read) return invalid("A file is read on a disk_read queue.");
  if (Status status = check_file(file.directory, file.name); !status.ok()) return status;
  return check_pieces(file.pieces, rules.owner);
}

Status check(const WriteFile& file, QueueKind kind, const BodyRules& rules) {
  if (kind != QueueKind::disk_write) return invalid("A file is written on a disk_write queue.");
  if (Status status = check_file(file.directory, file.name); !status.ok()) return status;
  if (Status status = check_file(file.directory, file.temporary); !status.ok()) return status;
  if (file.name == file.temporary) return invalid("A file's temporary name must be another.");
  return check_pieces(file.pieces, rules.owner);
}

Status check(const RemoveFile& file, QueueKind kind, const BodyRules&) {
  if (kind != QueueKind::disk_write) return invalid("A file is removed on a disk_write queue.");
  return check_file(file.directory, file.name);
}

}  // namespace

Status check_body(const Work& work, QueueKind kind, const BodyRules& rules) {
  return std::visit([&](const auto& body) { return check(body, kind, rules); }, work.body);
}

}  // namespace kvroof::queues
