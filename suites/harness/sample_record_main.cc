// SPDX-License-Identifier: Apache-2.0
// sample_record FILE [part]: writes the sample by way of the real writer, for the test of the
// schema; with `part` it ends before the record is finished.
#include <cstdio>

#include "suites/harness/record_writer.h"
#include "suites/harness/sample_record.h"

namespace {

kvroof::Status write_sample(const char* file, bool part_only) {
  auto writer = kvroof::RecordWriter::open(file, kvroof::sample_header());
  if (!writer.ok()) return writer.status();
  for (const kvroof::Case& one : kvroof::sample_cases()) {
    if (kvroof::Status status = writer->add(one); !status.ok()) return status;
  }
  if (part_only) return {};
  return writer->finish(kvroof::sample_answers(), "2026-01-08T09:31:00Z");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  const kvroof::Status status = write_sample(argv[1], argc == 3);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.text.c_str());
  return status.ok() ? 0 : 1;
}
