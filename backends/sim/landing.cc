// SPDX-License-Identifier: Apache-2.0
// Moves the bytes of copies, fills, and ops that move rows.
#include "backends/sim/landing.h"

#include <cstring>
#include <string>

#include "backends/disk/open_file.h"
#include "backends/sim/buffer.h"
#include "kernels/portable/checksum.h"
#include "kernels/portable/quantised_rows.h"

namespace kvroof::sim {
namespace {

bool backed(const Span& span) { return span.buffer->facts().backed; }

std::byte* data(const Span& span) {
  return static_cast<SimBuffer*>(span.buffer)->contents().data() + span.offset;
}

std::int32_t index_at(const Span& index, std::uint32_t i) {
  std::int32_t value = 0;
  std::memcpy(&value, data(index) + i * sizeof(value), sizeof(value));
  return value;
}

template <class Rows>
Job::Landing rows_landing(const Rows& op) {
  if (backed(op.source) && backed(op.index) && backed(op.out)) return op;
  return {};
}

Job::Landing checksum_landing(const Checksum& op) {
  const bool indexed = op.index.buffer == nullptr || backed(op.index);
  if (backed(op.source) && indexed && backed(op.out)) return op;
  return {};
}

template <class Rows>
Status check_index(const Rows& op, const Span& indexed, std::uint64_t row_bytes) {
  const std::uint64_t limit = indexed.bytes / row_bytes;
  for (std::uint32_t i = 0; i < op.rows; ++i) {
    const std::int32_t row = index_at(op.index, i);
    if (row < 0 || static_cast<std::uint64_t>(row) >= limit) {
      return {Code::failed, "index " + std::to_string(row) + " is outside the " +
                                std::to_string(limit) + " rows that it may name"};
    }
  }
  return {};
}

template <class Rows>
NarrowMove narrow_move(const Rows& op, const Span& indexed) {
  return {data(op.source), reinterpret_cast<const std::int32_t*>(data(op.index)),
          data(op.out),    op.rows,
          op.row,          indexed.bytes / op.row.wide_bytes()};
}

struct Mover {
  DiskFacts& files;

  Status operator()(std::monostate) const { return {}; }

  Status operator()(const std::vector<Region>& regions) const {
    for (const Region& region : regions) {
      std::memmove(data(region.destination), data(region.source), region.source.bytes);
    }
    return {};
  }

  Status operator()(const Fill& fill) const {
    std::memset(data(fill.span), fill.value, fill.span.bytes);
    return {};
  }

  Status operator()(const Gather& op) const {
    if (Status status = check_index(op, op.source, op.row_bytes); !status.ok()) return status;
    for (std::uint32_t i = 0; i < op.rows; ++i) {
      const auto row = static_cast<std::uint64_t>(index_at(op.index, i));
      std::memmove(data(op.out) + i * op.row_bytes, data(op.source) + row * op.row_bytes,
                   op.row_bytes);
    }
    return {};
  }

  Status operator()(const disk::FileJob& job) const { return disk::run(job, files); }

  Status operator()(const Scatter& op) const {
    if (Status status = check_index(op, op.out, op.row_bytes); !status.ok()) return status;
    for (std::uint32_t i = 0; i < op.rows; ++i) {
      const auto row = static_cast<std::uint64_t>(index_at(op.index, i));
      std::memmove(data(op.out) + row * op.row_bytes, data(op.source) + i * op.row_bytes,
                   op.row_bytes);
    }
    return {};
  }

  Status operator()(const Quantise& op) const {
    if (Status status = check_index(op, op.source, op.row.wide_bytes()); !status.ok()) {
      return status;
    }
    quantise_vectors(narrow_move(op, op.source), 0, op.row.vectors);
    return {};
  }

  Status operator()(const Dequantise& op) const {
    if (Status status = check_index(op, op.out, op.row.wide_bytes()); !status.ok()) return status;
    dequantise_vectors(narrow_move(op, op.out), 0, op.row.vectors);
    return {};
  }

  Status operator()(const Checksum& op) const {
    const bool indexed = op.index.buffer != nullptr;
    if (indexed) {
      if (Status status = check_index(op, op.source, op.row_bytes); !status.ok()) return status;
    }
    const auto* const index = indexed ? reinterpret_cast<std::int32_t*>(data(op.index)) : nullptr;
    checksum_parts({data(op.source), index, reinterpret_cast<std::uint64_t*>(data(op.out)), op.rows,
                    op.row_bytes, op.parts, op.source.bytes / op.row_bytes},
                   0, std::uint64_t{op.rows} * op.parts);
    return {};
  }
};

// A file of which some bytes don't exist is not there either.
template <class File>
Job::Landing file_landing(const File& file) {
  disk::FileJob job = disk::job_of(file);
  if (job.act != disk::FileJob::Act::remove && job.pieces.empty()) return {};
  return job;
}

Job::Landing landing_of_op(const Op& op) {
  if (const auto* gather = std::get_if<Gather>(&op)) return rows_landing(*gather);
  if (const auto* scatter = std::get_if<Scatter>(&op)) return rows_landing(*scatter);
  if (const auto* narrow = std::get_if<Quantise>(&op)) return rows_landing(*narrow);
  if (const auto* widen = std::get_if<Dequantise>(&op)) return rows_landing(*widen);
  if (const auto* sums = std::get_if<Checksum>(&op)) return checksum_landing(*sums);
  return {};
}

Job::Landing landing_of_regions(const Regions& regions) {
  std::vector<Region> moved;
  for (const Region& region : regions.list) {
    if (backed(region.source) && backed(region.destination)) moved.push_back(region);
  }
  if (moved.empty()) return {};
  return moved;
}

}  // namespace

Job::Landing landing_of(const Work& work) {
  if (const auto* op = std::get_if<Op>(&work.body)) return landing_of_op(*op);
  if (const auto* regions = std::get_if<Regions>(&work.body)) return landing_of_regions(*regions);
  if (const auto* fill = std::get_if<Fill>(&work.body); fill != nullptr && backed(fill->span)) {
    return *fill;
  }
  if (const auto* file = std::get_if<ReadFile>(&work.body)) return file_landing(*file);
  if (const auto* file = std::get_if<WriteFile>(&work.body)) return file_landing(*file);
  if (const auto* file = std::get_if<RemoveFile>(&work.body)) return file_landing(*file);
  return {};
}

Status land(const Job::Landing& landing, DiskFacts& files) {
  return std::visit(Mover{files}, landing);
}

}  // namespace kvroof::sim
