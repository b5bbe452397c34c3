// SPDX-License-Identifier: Apache-2.0
// Writes a record: while the run goes on, header and cases as JSON Lines in FILE.part, each on disk
// before the next case starts; at the end the whole record to FILE, by a rename.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "backends/api/status.h"
#include "suites/harness/record.h"
#include "suites/harness/unique_fd.h"

namespace kvroof {

class RecordWriter {
 public:
  // Before any case runs: proves that FILE can be written and writes the header's line to
  // FILE.part. A FILE.part that an interrupted run left is kept as FILE.part.1 (or .2, ...), which
  // notice() says; one that another process is writing is refused. Every error is one sentence with
  // the file.
  static Result<RecordWriter> open(const std::filesystem::path& file, const RunHeader& header);

  // Refuses a case that check_case() refuses. After an error FILE.part ends with the last good
  // line.
  Status add(const Case& one);

  // Writes FILE and removes FILE.part. On an error FILE is as it was and FILE.part is still there.
  Status finish(std::span<const Answer> answers, const std::string& finished);

  const std::string& notice() const { return notice_; }  // a sentence for the user, or empty
  const std::filesystem::path& file() const { return file_; }
  std::filesystem::path part() const;

 private:
  RecordWriter(std::filesystem::path file, Json header);
  Status append_line(const Json& line);

  std::filesystem::path file_;
  Json header_;
  std::vector<Json> cases_;
  UniqueFd part_;
  std::int64_t good_bytes_ = 0;  // of FILE.part, in whole lines
  std::string notice_;
};

}  // namespace kvroof
