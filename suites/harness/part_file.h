// SPDX-License-Identifier: Apache-2.0
// The lines of FILE.part: the record's header and cases, each with a key `part` for what only a
// resumed run needs and the record leaves out.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/api/status.h"
#include "suites/harness/record.h"

namespace kvroof {

// Which of a run's comparison groups a case is of, counted over all its suites, and how many cases
// that group has.
struct Place {
  std::size_t group = 0, cases = 1;
};

struct PartCase {
  std::string line;  // as it stands in the file, without its end
  Json json;         // the record's, without `part`
  Case one;          // with its draws
  Place place;
};

struct Part {
  std::string header_line;  // empty: the run ended before its first line was whole
  Json header;              // with `complete` and `part`
  std::vector<PartCase> cases;
  bool torn = false;  // the last line is cut short, and left out here
};

Json part_json(const RunHeader& header);
Json part_json(const Case& one, const Place& place);

// `invalid` names `file`, the line and what is wrong with it; only the last may be torn.
Result<Part> parse_part(std::string_view text, const std::filesystem::path& file);

// Takes away the cases of groups that are not wholly there, or that are there twice. Returns how
// many those are.
std::size_t drop_incomplete(Part& part);

}  // namespace kvroof
