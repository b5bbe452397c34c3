// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/part_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "suites/harness/record_check.h"
#include "suites/harness/record_parse.h"

namespace kvroof {
namespace {

namespace fs = std::filesystem;

Json draws_json(const Case& one) {
  Json json = Json::object();
  for (const auto& [key, metric] : one.metrics) {
    if (!metric.draws.empty()) json[key] = metric.draws;
  }
  return json;
}

// The library would cut 0.9 to 0.
std::size_t whole_number(const Json& json) {
  if (json.is_number_unsigned()) return json.get<std::size_t>();
  throw Json::other_error::create(501, json.dump() + " is no whole number", &json);
}

// Throws Json::exception.
void add_part(const Json& part, PartCase& to) {
  to.place.group = whole_number(part.at("group"));
  to.place.cases = whole_number(part.at("cases"));
  const Json draws = part.value("draws", Json::object());
  for (auto& [key, metric] : to.one.metrics) {
    if (draws.contains(key)) metric.draws = draws[key].get<std::vector<double>>();
  }
}

Result<PartCase> parse_line(std::string_view line) try {
  PartCase made;
  made.line = line;
  made.json = Json::parse(line);
  auto one = parse_case(made.json);
  if (!one) return one.status();
  made.one = std::move(*one);
  add_part(made.json.at("part"), made);
  made.json.erase("part");
  if (Status status = check_case(made.one); !status.ok()) return status;
  return made;
} catch (const Json::exception& error) {
  return Status{Code::invalid, reason(error)};
}

Status parse_header(std::string_view line, const fs::path& file, Part& to) {
  const auto refuse = [&](const std::string& why) {
    return Status{Code::invalid, fmt::format("cannot resume {}: {}; move it away, or give another "
                                             "--out",
                                             file.string(), why)};
  };
  to.header = Json::parse(line, nullptr, false);
  if (!to.header.is_object() || !to.header.contains("schema_version")) {
    return refuse("its first line is no header of a kvroof run");
  }
  if (to.header["schema_version"] != kSchemaVersion) {
    return refuse(fmt::format("it has schema_version {}, and {} is expected",
                              to.header["schema_version"].dump(), kSchemaVersion));
  }
  if (!to.header.contains("part")) return refuse("the kvroof that wrote it could not resume");
  to.header_line = line;
  return {};
}

std::vector<std::string_view> whole_lines(std::string_view text, bool& torn) {
  std::vector<std::string_view> lines;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  torn = !text.empty();
  return lines;
}

}  // namespace

Json part_json(const RunHeader& header) {
  Json json = to_json(header);
  json["complete"] = false;
  json["part"] = header.part;
  return json;
}

Json part_json(const Case& one, const Place& place) {
  Json json = to_json(one);
  json["part"] = {{"group", place.group}, {"cases", place.cases}};
  if (Json draws = draws_json(one); !draws.empty()) json["part"]["draws"] = std::move(draws);
  return json;
}

Result<Part> parse_part(std::string_view text, const fs::path& file) {
  Part part;
  const auto lines = whole_lines(text, part.torn);
  if (lines.empty()) return part;
  if (Status status = parse_header(lines.front(), file, part); !status.ok()) return status;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    auto one = parse_line(lines[i]);
    if (!one && i + 1 == lines.size()) {  // a machine that stopped can leave a block unwritten
      part.torn = true;
    } else if (!one) {
      return Status{Code::invalid, fmt::format("cannot resume {}: line {} is no case of a run: {}; "
                                               "remove that line to run its group again",
                                               file.string(), i + 1, one.status().text)};
    } else {
      part.cases.push_back(std::move(*one));
    }
  }
  return part;
}

std::size_t drop_incomplete(Part& part) {
  std::map<std::size_t, std::vector<const PartCase*>> groups;
  for (const PartCase& one : part.cases) groups[one.place.group].push_back(&one);
  std::set<std::size_t> whole;
  for (const auto& [group, cases] : groups) {
    std::set<std::string> params;
    bool right = true;
    for (const PartCase* one : cases) {
      params.insert(one->one.suite + one->one.params.dump());
      right &= one->place.cases == cases.size();
    }
    if (right && params.size() == cases.size()) whole.insert(group);
  }
  const auto end =
      std::stable_partition(part.cases.begin(), part.cases.end(),
                            [&](const PartCase& one) { return whole.contains(one.place.group); });
  const auto dropped = static_cast<std::size_t>(part.cases.end() - end);
  part.cases.erase(end, part.cases.end());
  return dropped;
}

}  // namespace kvroof
