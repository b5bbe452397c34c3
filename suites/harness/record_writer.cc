// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/record_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "suites/harness/durable_file.h"
#include "suites/harness/record_check.h"

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

// Opens FILE.part without touching what is in it, and locks it until this process ends.
Result<UniqueFd> open_part(const fs::path& part) {
  UniqueFd fd(::open(part.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd) return write_error(part);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return Status{Code::invalid, "another run is writing " + part.string() +
                                     ": wait for it, or give another file"};
  }
  return fd;
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

Result<RecordWriter> RecordWriter::open(const fs::path& file, const RunHeader& header) {
  RecordWriter writer(resolved(file), to_json(header));
  if (Status status = check_target(writer.file_); !status.ok()) return status;
  auto part = open_part(writer.part());
  if (part.ok() && ::lseek(part->get(), 0, SEEK_END) > 0) {
    const auto kept = keep_aside(writer.part());
    if (!kept.ok()) return kept.status();
    writer.notice_ =
        "an interrupted run left " + writer.part().string() + ": kept as " + kept->string();
    part = open_part(writer.part());
  }
  if (!part.ok()) return part.status();
  writer.part_ = std::move(*part);
  Json line = writer.header_;
  line["complete"] = false;
  if (Status status = writer.append_line(line); !status.ok()) {
    ::unlink(writer.part().c_str());
    return status;
  }
  return writer;
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

Status RecordWriter::add(const Case& one) {
  if (Status status = check_case(one); !status.ok()) return status;
  Json json = to_json(one);
  if (Status status = append_line(json); !status.ok()) return status;
  cases_.push_back(std::move(json));
  return {};
}

Status RecordWriter::finish(std::span<const Answer> answers, const std::string& finished) {
  Json record;
  for (const auto& [key, value] : header_.items()) {
    record[key] = value;
    if (key == "started") record["finished"] = finished;
    if (key == "started") record["complete"] = true;
  }
  record["cases"] = cases_;
  record["answers"] = Json::array();
  for (const Answer& answer : answers) {
    if (Status status = check_answer(answer); !status.ok()) return status;
    record["answers"].push_back(to_json(answer));
  }
  if (Status status = replace_durably(file_, record_text(record)); !status.ok()) return status;
  if (::unlink(part().c_str()) != 0) return write_error(part());
  return {};
}

}  // namespace kvroof
