// SPDX-License-Identifier: Apache-2.0
// `kvroof run`: suites over a grid on one device and model, into one result file.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>

#include "backends/registry/registry.h"
#include "suites/catalog/model_config.h"
#include "suites/command/commands.h"
#include "suites/command/open_balanced.h"
#include "suites/command/open_named.h"
#include "suites/command/result_table.h"
#include "suites/harness/benchmark_glue.h"
#include "suites/harness/grid.h"
#include "suites/harness/grid_values.h"
#include "suites/harness/progress.h"
#include "suites/harness/provenance.h"
#include "suites/harness/record_writer.h"
#include "suites/harness/system_info.h"
#include "suites/harness/table.h"
#include "suites/harness/wall_clock.h"
#include "suites/ttft/crossover.h"
#include "suites/ttft/ttft.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kMostDraws = 100'000;

// Everything that a run needs, once all of it is known to be good.
struct Job {
  std::unique_ptr<Device> device;
  std::optional<Balance> balance;  // of a wind tunnel
  ModelShape shape;
  std::uint32_t full_layers = 0;  // 0: the model runs whole
  std::uint64_t seed = 1;
  std::uint32_t draws = 0;
  std::vector<ComparisonGroup> groups;
};

Status read_model(const RunOptions& options, Job& job) {
  auto shape = find_model(options.model);
  if (!shape) return shape.status();
  job.shape = std::move(*shape);
  if (options.layers.empty()) return {};
  const auto layers = parse_count(options.layers, 1, job.shape.layers);
  if (!layers) {
    return {Code::invalid,
            fmt::format("--layers: '{}' is not a whole number from 1 to the {} layers "
                        "of {}",
                        options.layers, job.shape.layers, job.shape.name)};
  }
  if (*layers == job.shape.layers) return {};
  job.full_layers = job.shape.layers;
  job.shape.layers = static_cast<std::uint32_t>(*layers);
  if (!job.shape.kinds.empty()) job.shape.kinds.resize(*layers);
  return {};
}

Status read_seed(const RunOptions& options, Job& job) {
  const auto seed = parse_count(options.seed, 0, UINT64_MAX / 2);
  if (!seed) return {Code::invalid, fmt::format("--seed: {}", seed.status().text)};
  job.seed = *seed;
  return {};
}

Status read_draws(const RunOptions& options, Job& job) {
  const auto draws = parse_count(options.draws, 0, kMostDraws);
  if (!draws) return {Code::invalid, fmt::format("--draws: {}", draws.status().text)};
  job.draws = static_cast<std::uint32_t>(*draws);
  return {};
}

Status read_grid(const RunOptions& options, Job& job) {
  if (options.suites.size() > 1) return {Code::invalid, "suites: each may be named once"};
  for (const std::string& suite : options.suites) {
    if (suite != "ttft") {
      return {Code::invalid, fmt::format("suite '{}' is not known, expected ttft", suite)};
    }
  }
  const auto grid = parse_grid(options.grid);
  if (!grid) return grid.status();
  auto groups = expand(*grid);
  if (!groups) return groups.status();
  job.groups = std::move(*groups);
  return {};
}

// The record and Google Benchmark's own output must not overwrite each other.
Status check_outputs(const RunOptions& options, const BenchmarkArguments& benchmark) {
  namespace fs = std::filesystem;
  if (benchmark.list_only()) return {};
  if (options.out.empty()) return {Code::invalid, "--out: the name of a result file is expected"};
  std::error_code error;
  const auto same = [&](const std::string& record) {
    return fs::weakly_canonical(fs::absolute(record), error) ==
           fs::weakly_canonical(fs::absolute(benchmark.output()), error);
  };
  if (benchmark.output().empty() || !(same(options.out) || same(options.out + ".part"))) return {};
  return {Code::invalid, fmt::format("--benchmark_out: {} is where --out writes the record: give "
                                     "another file",
                                     benchmark.output())};
}

RunHeader make_header(const RunOptions& options, const Job& job) {
  RunHeader header;
  header.tool = tool_json();
  header.argv = options.argv;
  header.started = utc_now();
  header.seed = job.seed;
  header.system = system_json(read_system_info());
  header.device = device_json(job.device->info(), options.device);
  if (job.balance) header.device["balance"] = to_json(*job.balance);
  header.model = model_json(job.shape, job.full_layers);
  return header;
}

// Runs the groups that Google Benchmark selects, each case on disk before the next group starts.
class Runner {
 public:
  Runner(Job& job, std::string device) : job_(job), device_text_(std::move(device)) {}

  std::vector<BenchmarkGroup> benchmarks() {
    std::vector<BenchmarkGroup> all;
    for (const ComparisonGroup& group : job_.groups) {
      const std::string name = group_name("ttft", job_.shape.name, group.point);
      all.push_back({name, [this, &group] { return run(group); }});
    }
    return all;
  }

  void start(RecordWriter& writer, Progress& progress) {
    writer_ = &writer;
    progress_ = &progress;
  }

  const std::vector<Case>& cases() const { return cases_; }
  const Status& status() const { return status_; }  // of writing the record

 private:
  static std::string short_name(const GridPoint& p) {
    return fmt::format("ttft context {} batch {}", token_count(p.context_tokens), p.batch);
  }

  GroupReport run(const ComparisonGroup& group) {
    if (!status_.ok()) return {0, {}, "skipped: the record can't be written"};
    progress_->begin(short_name(group.point));
    GroupReport report;
    std::vector<Case> made = suite_for(group.point.link).run(group);
    for (Case& one : made) {
      if (status_.ok()) status_ = writer_->add(one);
      add(report, one);
      cases_.push_back(std::move(one));
    }
    progress_->end(status_.ok() ? outcomes(made.size()) : "not written", made.size());
    return report;
  }

  // One device a link, opened when its first group runs: a link is what the whole device has.
  TtftSuite& suite_for(const std::string& link) {
    if (suite_ && link == link_) return *suite_;
    suite_.reset();
    linked_.reset();
    link_ = link;
    Status status;
    if (link != "native") {
      auto device = open_named(with_link(device_text_, link));
      status = device.status();
      if (device) linked_ = std::move(*device);
    }
    Device& device = linked_ ? *linked_ : *job_.device;
    TtftOptions options{job_.shape, job_.full_layers, job_.seed, {}};
    if (device.info().virtual_time && job_.draws > 0) {
      options.draws = {job_.draws, [&device](std::uint64_t seed) { return redraw(device, seed); }};
    }
    std::vector<ComparisonGroup> groups;
    std::ranges::copy_if(job_.groups, std::back_inserter(groups),
                         [&](const ComparisonGroup& group) { return group.point.link == link; });
    suite_ = std::make_unique<TtftSuite>(device, options, groups, status);
    return *suite_;
  }

  // Of the last cases: "ok" where all are, else "recompute ok, copy skipped".
  std::string outcomes(std::size_t last) const {
    const auto made = std::span(cases_).last(last);
    const auto same = [&](const Case& one) { return one.outcome == made.front().outcome; };
    if (std::ranges::all_of(made, same)) return std::string(name(made.front().outcome));
    std::vector<std::string> parts;
    for (const Case& one : made) {
      parts.push_back(
          fmt::format("{} {}", one.params.at("plan").get<std::string>(), name(one.outcome)));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  static void add(GroupReport& report, const Case& one) {
    if (one.outcome != Outcome::ok) {
      report.error = fmt::format("{}: {}", kvroof::name(one.outcome), one.reason);
      return;
    }
    const std::string plan = one.params.at("plan").get<std::string>();
    for (const auto& [key, metric] : one.metrics) {
      if (key == "ttft") report.seconds += *metric.median;
      if (key == "ttft") report.counters.emplace_back(plan + "_s", *metric.median);
      if (key == "speedup") report.counters.emplace_back("speedup", *metric.median);
    }
  }

  Job& job_;
  const std::string device_text_;
  std::string link_;
  std::unique_ptr<Device> linked_;  // null: the job's own
  std::unique_ptr<TtftSuite> suite_;
  RecordWriter* writer_ = nullptr;
  Progress* progress_ = nullptr;
  std::vector<Case> cases_;
  Status status_;
};

int exit_code(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    if (one.outcome == Outcome::failed || one.outcome == Outcome::incorrect) return kCheckFailed;
  }
  return kDone;
}

std::size_t count_cases(const Job& job, const std::vector<std::size_t>& selected) {
  std::size_t total = 0;
  for (const std::size_t i : selected) total += job.groups[i].plans.size();
  return total;
}

int run_and_record(Job& job, const RunOptions& options, const BenchmarkArguments& benchmark) {
  Runner runner(job, options.device);
  const std::vector<BenchmarkGroup> groups = runner.benchmarks();
  if (benchmark.list_only()) {
    const Status listed = benchmark.run(groups);
    return listed.ok() ? kDone : fail(kBadUsage, listed.text);
  }
  const auto selected = benchmark.select(groups);
  if (!selected) return fail(kBadUsage, selected.status().text);
  auto writer = RecordWriter::open(options.out, make_header(options, job));
  if (!writer) return fail(kBadUsage, writer.status().text);
  if (!writer->notice().empty()) fmt::print(stderr, "kvroof: {}\n", writer->notice());
  Progress progress = Progress::on_stderr(count_cases(job, *selected));
  runner.start(*writer, progress);
  const Status ran = benchmark.run(groups);
  progress.clear();
  if (!runner.status().ok()) return fail(kBadUsage, runner.status().text);
  if (!ran.ok()) return fail(kCheckFailed, ran.text);
  const std::vector<Answer> answers = crossovers(runner.cases());
  if (Status e = writer->finish(answers, utc_now()); !e.ok()) return fail(kBadUsage, e.text);
  if (benchmark.own_table()) {
    const ResultHeading heading{options.device, job.device->info(), job.shape, job.full_layers,
                                job.balance ? text(*job.balance) : ""};
    fmt::print("{}", result_text(heading, runner.cases(), answers));
    fmt::print("Result file: {}\n", options.out);
  }
  return exit_code(runner.cases());
}

}  // namespace

int run_suites(const RunOptions& options) {
  Job job;
  const auto benchmark = BenchmarkArguments::parse(options.benchmark_arguments);
  if (!benchmark) return fail(kBadUsage, benchmark.status().text);
  if (Status e = check_outputs(options, *benchmark); !e.ok()) return fail(kBadUsage, e.text);
  if (Status e = read_grid(options, job); !e.ok()) return fail(kBadUsage, e.text);
  if (Status e = read_seed(options, job); !e.ok()) return fail(kBadUsage, e.text);
  if (Status e = read_draws(options, job); !e.ok()) return fail(kBadUsage, e.text);
  if (Status e = read_model(options, job); !e.ok()) return fail(kBadUsage, e.text);
  auto opened = open_balanced(options.device, job.shape, job.groups, job.seed);
  if (!opened) {
    return fail(opened.code() == Code::invalid ? kBadUsage : kNoDevice, opened.status().text);
  }
  job.device = std::move(opened->device);
  job.balance = std::move(opened->balance);
  return run_and_record(job, options, *benchmark);
}

}  // namespace kvroof
