// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/record_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

#include "suites/harness/durable_file.h"
#include "suites/harness/locked_file.h"
#include "suites/harness/record_check.h"
#include "suites/harness/record_reader.h"
#include "suites/harness/same_run.h"

namespace kvroof {
namespace {

namespace fs = std::filesystem;

// What FILE really is: a symbolic link's target, so that the rename does not replace the link.
fs::path resolved(const fs::path& file) {
  std::error_code error;
  const fs::path target = fs::canonical(file, error);
  return error ? file : target;
}

Status check_target(const fs::path& file) {
  std::error_code error;
  const auto refuse = [&](const std::string& why) {
    return Status{Code::invalid, "cannot write " + file.string() + ": " + why};
  };
  if (file.filename().empty()) return refuse("the name of a file is expected");
  if (fs::is_symlink(file, error)) return refuse("it is a symbolic link to nothing");
  const fs::path directory = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::exists(directory, error)) {
    return refuse("the directory " + directory.string() + " does not exist");
  }
  if (fs::is_directory(file, error)) return refuse("it is a directory");
  if (fs::exists(file, error) && !fs::is_regular_file(file, error)) {
    return refuse("it is no regular file");
  }
  if (fs::exists(file, error) && ::access(file.c_str(), W_OK) != 0) return write_error(file);
  return {};
}

// Moves an interrupted run's part out of the way, under the first free number. By a link first:
// unlike a rename, that never replaces a file.
Result<fs::path> keep_aside(const fs::path& part) {
  for (int number = 1;; ++number) {
    const fs::path kept = part.string() + "." + std::to_string(number);
    if (::link(part.c_str(), kept.c_str()) == 0) {
      if (::unlink(part.c_str()) == 0) return kept;
      return write_error(part);
    }
    if (errno != EEXIST) return write_error(kept);
  }
}

std::string line_of(const Json& json) {
  // A byte that is no UTF-8 (a file's name in argv, say) is replaced rather than thrown about.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_list_of_objects(const Json& json) {
  return json.is_array() && !json.empty() && json.front().is_object();
}

// One line a top-level key, and one an element of a list of objects: fit for people and for diff.
std::string record_text(const Json& record) {
  std::string text;
  for (const auto& [key, value] : record.items()) {
    text += (text.empty() ? "{\n" : ",\n") + Json(key).dump() + ": ";
    if (!is_list_of_objects(value)) {
      text += line_of(value);
      continue;
    }
    std::string separator = "[\n";
    for (const Json& element : value) {
      text += separator + line_of(element);
      separator = ",\n";
    }
    text += "\n]";
  }
  return text + "\n}\n";
}

}  // namespace

RecordWriter::RecordWriter(fs::path file, Json header)
    : file_(std::move(file)), header_(std::move(header)) {}

fs::path RecordWriter::part() const { return file_.string() + ".part"; }
fs::path RecordWriter::temporary() const { return file_.string() + ".part.tmp"; }

Result<RecordWriter> RecordWriter::open(const fs::path& file, const RunHeader& header) {
  RecordWriter writer(resolved(file), to_json(header));
  if (Status status = check_target(writer.file_); !status.ok()) return status;
  auto part = open_locked(writer.part(), Missing::create);
  if (part.ok() && ::lseek(part->get(), 0, SEEK_END) > 0) {
    const auto kept = keep_aside(writer.part());
    if (!kept.ok()) return kept.status();
    writer.notice_ = "an interrupted run left " + writer.part().string() + ": kept as " +
                     kept->string() + " (--resume goes on with one)";
    part = open_locked(writer.part(), Missing::create);
  }
  if (!part.ok()) return part.status();
  writer.part_ = std::move(*part);
  if (Status status = writer.append_line(part_json(header)); !status.ok()) {
    ::unlink(writer.part().c_str());
    return status;
  }
  return writer;
}

bool RecordWriter::is_finished(const fs::path& file) {
  std::error_code error;
  const fs::path target = resolved(file);
  return fs::exists(target, error) && !fs::exists(target.string() + ".part", error);
}

Json RecordWriter::recorded_device(const fs::path& file) {
  const fs::path target = resolved(file);
  Json record;
  if (is_finished(file)) {
    const auto finished = read_record(target);
    if (finished) record = *finished;
  } else {
    std::string header;
    std::ifstream part(target.string() + ".part");
    std::getline(part, header);
    record = Json::parse(header, nullptr, false);
  }
  return record.is_object() ? record.value("device", Json()) : Json();
}

Result<RecordWriter> RecordWriter::resume(const fs::path& file, const RunHeader& header) {
  RecordWriter writer(resolved(file), to_json(header));
  if (Status status = check_target(writer.file_); !status.ok()) return status;
  auto fd = open_locked(writer.part(), Missing::allow);
  if (!fd.ok()) return fd.status();
  writer.part_ = std::move(*fd);
  std::string text;
  if (writer.part_) {
    auto read = read_whole(writer.part_.get(), writer.part());
    if (!read.ok()) return read.status();
    text = std::move(*read);
  }
  auto left = parse_part(text, writer.part());
  if (!left.ok()) return left.status();
  if (left->header_line.empty()) return begin_anew(std::move(writer), file, header);
  const Status same = same_run(left->header, part_json(header), writer.part().string());
  if (!same.ok()) return same;
  if (Status status = writer.go_on(std::move(*left), text); !status.ok()) return status;
  return writer;
}

// Where a part has not even its first line, nothing is lost with it.
Result<RecordWriter> RecordWriter::begin_anew(RecordWriter&& empty, const fs::path& file,
                                              const RunHeader& header) {
  if (empty.part_ && ::ftruncate(empty.part_.get(), 0) != 0) return write_error(empty.part());
  empty.part_ = UniqueFd();
  auto anew = open(file, header);
  if (anew.ok()) {
    anew->notice_ = "there is nothing to resume in " + anew->part().string() + ": started anew";
  }
  return anew;
}

// Takes over what an interrupted run left: its header, and the groups that are wholly there.
Status RecordWriter::go_on(Part left, const std::string& text) {
  header_ = left.header;
  header_.erase("complete");
  header_.erase("part");
  const std::size_t dropped = drop_incomplete(left);
  good_bytes_ = static_cast<std::int64_t>(text.size());
  if (dropped > 0 || left.torn) {
    std::string kept = left.header_line + "\n";
    for (const PartCase& one : left.cases) kept += one.line + "\n";
    auto fd = replace_locked(part(), temporary(), kept);
    if (!fd.ok()) return fd.status();
    part_ = std::move(*fd);
    good_bytes_ = static_cast<std::int64_t>(kept.size());
  }
  for (PartCase& one : left.cases) {
    cases_.emplace_back(one.place.group, std::move(one.json));
    resumed_[one.place.group].push_back(std::move(one.one));
  }
  notice_ = fmt::format("resuming {}: {} cases are kept", part().string(), left.cases.size());
  if (dropped > 0) notice_ += fmt::format(", {} of an incomplete group are run again", dropped);
  return {};
}

Status RecordWriter::append_line(const Json& line) {
  const std::string text = line_of(line) + "\n";
  Status status = write_durably(part_.get(), text, part());
  if (status.ok()) {
    good_bytes_ += static_cast<std::int64_t>(text.size());
  } else if (::lseek(part_.get(), 0, SEEK_END) > good_bytes_ &&
             ::ftruncate(part_.get(), good_bytes_) != 0) {
    status.text += "; its last line is cut short";
  }
  return status;
}

Status RecordWriter::add(const Case& one, const Place& place) {
  if (Status status = check_case(one); !status.ok()) return status;
  Json json = part_json(one, place);
  if (Status status = append_line(json); !status.ok()) return status;
  json.erase("part");
  cases_.emplace_back(place.group, std::move(json));
  return {};
}

Status RecordWriter::finish(std::span<const Answer> answers, const std::string& finished) {
  Json record;
  for (const auto& [key, value] : header_.items()) {
    record[key] = value;
    if (key == "started") record["finished"] = finished;
    if (key == "started") record["complete"] = true;
  }
  std::ranges::stable_sort(cases_, {}, &std::pair<std::size_t, Json>::first);
  record["cases"] = Json::array();
  for (const auto& [group, one] : cases_) record["cases"].push_back(one);
  record["answers"] = Json::array();
  for (const Answer& answer : answers) {
    if (Status status = check_answer(answer); !status.ok()) return status;
    record["answers"].push_back(to_json(answer));
  }
  Status status = replace_durably(file_, temporary(), record_text(record));
  if (!status.ok()) return status;
  if (::unlink(part().c_str()) != 0) return write_error(part());
  return {};
}

}  // namespace kvroof
