// SPDX-License-Identifier: Apache-2.0
// Writes a record: while the run goes on, header and cases as JSON Lines in FILE.part, each on disk
// before the next case starts; at the end the whole record to FILE, by a rename.
#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/api/status.h"
#include "backends/api/unique_fd.h"
#include "suites/harness/part_file.h"
#include "suites/harness/record.h"

namespace kvroof {

class RecordWriter {
 public:
  // Before any case runs: proves that FILE can be written and writes the header's line to
  // FILE.part. A FILE.part that an interrupted run left is kept as FILE.part.1 (or .2, ...), which
  // notice() says; one that another process is writing is refused. Every error is one sentence with
  // the file.
  static Result<RecordWriter> open(const std::filesystem::path& file, const RunHeader& header);

  // FILE is there and FILE.part is not.
  static bool is_finished(const std::filesystem::path& file);

  // `device` of the header that resume() would go on with, or of the finished FILE; null where
  // there is neither.
  static Json recorded_device(const std::filesystem::path& file);

  // Goes on with the FILE.part that an interrupted run left: keeps its header and the comparison
  // groups that are wholly there, and takes a torn line and cases of other groups out of it. As
  // open() where there is no part, or none with a whole first line; notice() says which. `invalid`
  // where same_run() finds a difference.
  static Result<RecordWriter> resume(const std::filesystem::path& file, const RunHeader& header);

  // Refuses a case that check_case() refuses. After an error FILE.part ends with the last good
  // line.
  Status add(const Case& one, const Place& place = {});

  // Writes FILE, its cases in the order of their groups, and removes FILE.part. On an error FILE is
  // as it was and FILE.part is still there.
  Status finish(std::span<const Answer> answers, const std::string& finished);

  // The cases that resume() kept, group by group.
  const std::map<std::size_t, std::vector<Case>>& resumed() const { return resumed_; }

  const std::string& notice() const { return notice_; }  // a sentence for the user, or empty
  std::filesystem::path part() const;

 private:
  RecordWriter(std::filesystem::path file, Json header);
  static Result<RecordWriter> begin_anew(RecordWriter&& empty, const std::filesystem::path& file,
                                         const RunHeader& header);
  Status go_on(Part left, const std::string& text);
  Status append_line(const Json& line);
  std::filesystem::path temporary() const;

  std::filesystem::path file_;
  Json header_;
  std::vector<std::pair<std::size_t, Json>> cases_;  // by group
  std::map<std::size_t, std::vector<Case>> resumed_;
  UniqueFd part_;
  std::int64_t good_bytes_ = 0;  // of FILE.part, in whole lines
  std::string notice_;
};

}  // namespace kvroof
