// SPDX-License-Identifier: Apache-2.0
// `kvroof run`: suites over a grid on one device and model, into one result file.

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "suites/command/commands.h"
#include "suites/command/finished_run.h"
#include "suites/command/group_report.h"
#include "suites/command/job.h"
#include "suites/command/plan_json.h"
#include "suites/command/plan_text.h"
#include "suites/command/result_table.h"
#include "suites/command/run_plan.h"
#include "suites/command/runner.h"
#include "suites/harness/benchmark_glue.h"
#include "suites/harness/progress.h"
#include "suites/harness/provenance.h"
#include "suites/harness/record_writer.h"
#include "suites/harness/wall_clock.h"
#include "suites/harness/wrap.h"

namespace kvroof {
namespace {

int exit_code(const std::vector<Case>& cases) {
  const bool bad = std::ranges::any_of(cases, [](const Case& one) {
    return one.outcome == Outcome::failed || one.outcome == Outcome::incorrect;
  });
  return bad ? kCheckFailed : kDone;
}

int list_groups(const Runner& runner, const BenchmarkArguments& benchmark) {
  const Status listed = benchmark.run(runner.benchmarks());
  return listed.ok() ? kDone : fail(kBadUsage, listed.text);
}

int finish(const Job& job, const Runner& runner, RecordWriter& writer, const RunOptions& options,
           bool show_table) {
  const std::vector<Answer> answers = runner.answers();
  if (Status e = writer.finish(answers, utc_now()); !e.ok()) return fail(kBadUsage, e.text);
  const std::vector<Case> cases = runner.cases();
  if (show_table) {
    const ResultHeading heading{options.device, job.device->info(), job.shape, job.full_layers(),
                                job.balance ? text(*job.balance) : ""};
    for (const SuiteKind* suite : job.suites) {
      std::vector<Case> own;
      std::ranges::copy_if(cases, std::back_inserter(own),
                           [&](const Case& one) { return one.suite == suite->name; });
      fmt::print("{}", result_text(heading, *suite, own, suite->answers(own)));
    }
    const std::string drift = job.balance ? drift_text(*job.balance, cases) : "";
    if (!drift.empty()) fmt::print("{}\n", wrap(drift));
    fmt::print("Result file: {}\n", options.out);
  }
  return exit_code(cases);
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

int run_and_record(Job& job, const RunOptions& options, const BenchmarkArguments& benchmark) {
  Runner runner(job);
  if (benchmark.list_only()) return list_groups(runner, benchmark);
  const auto selected = benchmark.select(runner.benchmarks());
  if (!selected) return fail(kBadUsage, selected.status().text);
  if (options.plan_only) {
    const RunPlan plan = make_plan(job, runner, *selected);
    fmt::print("{}", options.json ? json_text(plan_json(job, plan)) : plan_text(job, plan));
    return kDone;
  }
  const RunHeader header = make_header(options, job);
  if (options.resume && RecordWriter::is_finished(options.out)) {
    return report_finished(runner, *selected, options.out, header);
  }
  auto writer = options.resume ? RecordWriter::resume(options.out, header)
                               : RecordWriter::open(options.out, header);
  if (!writer) return fail(kBadUsage, writer.status().text);
  if (Status e = runner.take_over(writer->resumed(), writer->part().string()); !e.ok()) {
    return fail(kBadUsage, e.text);
  }
  if (!writer->notice().empty()) fmt::print(stderr, "kvroof: {}\n", writer->notice());
  Progress progress = Progress::on_stderr(runner.count_cases(*selected));
  runner.start(*writer, progress);
  const Status ran = benchmark.run(runner.benchmarks());
  progress.clear();
  if (!runner.status().ok()) return fail(kBadUsage, runner.status().text);
  const int code = finish(job, runner, *writer, options, benchmark.own_table());
  return ran.ok() ? code : fail(code == kDone ? kBadUsage : code, ran.text);
}

// What Google Benchmark's own output says of the run.
void add_context(const Job& job, BenchmarkArguments& benchmark) {
  const Json tool = tool_json();
  const auto text = [&](const char* key) { return tool[key].get<std::string>(); };
  benchmark.set_counters(counter_names(job.grid.plan));
  benchmark.add_context("kvroof", text("version") + " " + text("commit"));
  benchmark.add_context("kvroof_build", tool["build"]["type"].get<std::string>());
  benchmark.add_context("device", job.device_text);
  benchmark.add_context("device_name", job.device->info().name);
  benchmark.add_context("basis", std::string(name(job.device->info().basis)));
  benchmark.add_context("model", job.shape.name);
  benchmark.add_context("layers", std::to_string(job.shape.layers));
  benchmark.add_context("seed", std::to_string(job.seed));
}

}  // namespace

int run_suites(const RunOptions& options) {
  auto benchmark = BenchmarkArguments::parse(options.benchmark_arguments);
  if (!benchmark) return fail(kBadUsage, benchmark.status().text);
  auto job = read_job(options, *benchmark);
  if (!job) return fail(job.code() == Code::invalid ? kBadUsage : kNoDevice, job.status().text);
  add_context(*job, *benchmark);
  return run_and_record(*job, options, *benchmark);
}

}  // namespace kvroof
