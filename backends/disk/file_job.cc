// SPDX-License-Identifier: Apache-2.0
#include "backends/disk/file_job.h"

namespace kvroof::disk {
namespace {

std::vector<Piece> pieces_of(std::span<const Span> spans) {
  std::vector<Piece> pieces;
  pieces.reserve(spans.size());
  std::uint64_t offset = 0;
  for (const Span& span : spans) {
    const std::span<std::byte> host = span.buffer->host();
    if (host.empty()) return {};
    pieces.push_back({host.data() + span.offset, span.bytes, offset,
                      static_cast<queues::OwnedBuffer*>(span.buffer)});
    offset += span.bytes;
  }
  return pieces;
}

FileJob named(FileJob::Act act, const Directory* directory, std::string_view name) {
  FileJob job;
  job.act = act;
  job.directory = directory;
  job.name = name;
  return job;
}

}  // namespace

FileJob job_of(const ReadFile& file) {
  FileJob job = named(FileJob::Act::read, file.directory, file.name);
  job.pieces = pieces_of(file.pieces);
  return job;
}

FileJob job_of(const WriteFile& file) {
  FileJob job = named(FileJob::Act::write, file.directory, file.name);
  job.temporary = file.temporary;
  job.pieces = pieces_of(file.pieces);
  return job;
}

FileJob job_of(const RemoveFile& file) {
  return named(FileJob::Act::remove, file.directory, file.name);
}

}  // namespace kvroof::disk
