// SPDX-License-Identifier: Apache-2.0
#include "suites/command/finished_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "suites/command/commands.h"
#include "suites/harness/part_file.h"
#include "suites/harness/record_reader.h"
#include "suites/harness/same_run.h"

namespace kvroof {
namespace {

bool is_bad(const Json& one) {
  const std::string outcome = one.value("outcome", "");
  return outcome == name(Outcome::failed) || outcome == name(Outcome::incorrect);
}

}  // namespace

int report_finished(const Runner& runner, std::span<const std::size_t> selected,
                    const std::string& file, const RunHeader& header) try {
  const auto record = read_record(file);
  if (!record) {
    return fail(kBadUsage, fmt::format("cannot resume {}; leave out --resume to replace it",
                                       record.status().text));
  }
  const Status same = same_run(*record, part_json(header), file);
  if (!same.ok()) return fail(kBadUsage, same.text);
  const Json& cases = record->at("cases");
  for (const std::size_t i : selected) {
    const Json group = group_params(runner.group_of(i).point);
    const auto fits = [&](const Json& one) {
      return one.value("suite", "") == runner.suite_of(i).name &&
             is_of(one.value("params", Json::object()), group);
    };
    if (std::ranges::any_of(cases, fits)) continue;
    return fail(kBadUsage,
                fmt::format("cannot resume {}: it is finished and has no case of {}; give another "
                            "--out, or leave out --resume to replace it",
                            file, runner.benchmarks()[i].name));
  }
  fmt::print("{} is finished already, with {} cases: nothing is run.\n", file, cases.size());
  return std::ranges::any_of(cases, is_bad) ? kCheckFailed : kDone;
} catch (const Json::exception& error) {
  return fail(kBadUsage, fmt::format("cannot resume {}: {}; leave out --resume to replace it", file,
                                     reason(error)));
}

}  // namespace kvroof
