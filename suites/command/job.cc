// SPDX-License-Identifier: Apache-2.0
#include "suites/command/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "backends/registry/device_spec.h"
#include "suites/catalog/model_config.h"
#include "suites/command/disk_flags.h"
#include "suites/command/open_balanced.h"
#include "suites/command/suite_list.h"
#include "suites/harness/grid_values.h"
#include "suites/harness/provenance.h"
#include "suites/harness/record_writer.h"
#include "suites/harness/system_info.h"
#include "suites/harness/wall_clock.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kMostDraws = 100'000;
constexpr std::uint64_t kFewestDraws = 20;  // of which 95 % is a number less than all
constexpr std::uint64_t kMostRanks = 1024;

Status invalid(std::string text) { return {Code::invalid, std::move(text)}; }

Status read_suites(const RunOptions& options, Job& job) {
  for (const std::string& name : options.suites) {
    const SuiteKind* suite = find_suite(name);
    if (!suite) {
      return invalid(
          fmt::format("suite {} is not known, expected one of {}", in_quotes(name), suite_names()));
    }
    if (std::ranges::find(job.suites, suite) != job.suites.end()) {
      return invalid(fmt::format("suites: {} is named twice, each may be named once", name));
    }
    job.suites.push_back(suite);
  }
  return {};
}

Status read_grid(const RunOptions& options, Job& job) {
  auto grid = parse_grid(options.grid);
  if (!grid) return grid.status();
  auto groups = expand(*grid);
  if (!groups) return groups.status();
  job.grid = std::move(*grid);
  job.groups = std::move(*groups);
  return {};
}

Status read_seed(const RunOptions& options, Job& job) {
  const auto seed = parse_count(options.seed, 0, UINT64_MAX / 2);
  if (!seed) return invalid(fmt::format("--seed: {}", seed.status().text));
  job.seed = *seed;
  return {};
}

Status read_draws(const RunOptions& options, Job& job) {
  const auto draws = parse_count(options.draws, 0, kMostDraws);
  if (!draws) return invalid(fmt::format("--draws: {}", draws.status().text));
  job.draws = static_cast<std::uint32_t>(*draws);
  if (*draws == 0 || *draws >= kFewestDraws) return {};
  return invalid(
      fmt::format("--draws: {} are too few to hold 95 % of, expected 0 for no interval, or "
                  "{} and more",
                  *draws, kFewestDraws));
}

Status read_model(const RunOptions& options, Job& job) {
  auto shape = find_model(options.model);
  if (!shape) return shape.status();
  job.shape = std::move(*shape);
  if (options.layers.empty()) return {};
  const auto layers = parse_count(options.layers, 1, job.shape.layers);
  if (!layers) {
    return invalid(fmt::format("--layers: '{}' is not a whole number from 1 to the {} layers of {}",
                               options.layers, job.shape.layers, job.shape.name));
  }
  if (*layers == job.shape.layers) return {};
  job.whole = job.shape;
  job.shape.layers = static_cast<std::uint32_t>(*layers);
  if (!job.shape.kinds.empty()) job.shape.kinds.resize(*layers);
  return {};
}

Status read_ranks(const RunOptions& options, Job& job) {
  const auto ranks = parse_count(options.tp, 1, kMostRanks);
  if (!ranks) return invalid(fmt::format("--tp: {}", ranks.status().text));
  if (*ranks == 1) return {};
  const auto count = static_cast<std::uint32_t>(*ranks);
  std::string odd;
  auto part = shard(job.shape, count, odd);
  if (!part) {
    return invalid(fmt::format("--tp: {} of {} can't be divided among {} devices: give a divisor",
                               odd, job.shape.name, *ranks));
  }
  job.shape = std::move(*part);
  if (job.whole) job.whole = shard(*job.whole, count, odd);
  return {};
}

// A device whose text sets its link has no other.
Status check_links(const RunOptions& options, Job& job) {
  const auto spec = parse_device(options.device);
  if (!spec || !spec->options.contains("link")) return {};
  for (const std::string& link : job.grid.link) {
    if (link == "native") continue;
    return invalid(
        fmt::format("--link: --device {} sets the link itself; leave out --link {} or the "
                    "device's link={}",
                    options.device, link, spec->options.at("link")));
  }
  return {};
}

Status read_device(const RunOptions& options, Job& job) {
  job.device_text = options.device;
  const Json recorded = options.resume ? RecordWriter::recorded_device(options.out) : Json();
  auto opened = open_balanced(job.device_text, job.shape, job.groups, job.seed, recorded);
  if (!opened) return opened.status();
  job.device = std::move(opened->device);
  job.balance = std::move(opened->balance);
  return {};
}

Status check_host_tier(const RunOptions& options, Job& job) {
  const std::uint64_t most = job.device->info().host_memory_bytes;
  for (const TierSize& size : job.grid.host_tier) {
    if (size.bytes <= most) continue;
    return invalid(fmt::format(
        "--host-tier: {} bytes are more than the {} of host memory that {} may take; give less, or "
        "unbounded for what each case needs",
        size.bytes, most, options.device));
  }
  return {};
}

// Of some context of the grid it must be a limit.
Status check_limits(const RunOptions&, Job& job) {
  const std::uint64_t longest = std::ranges::max(job.grid.context_tokens);
  for (const auto& [flag, limits] :
       {std::pair{"--max-offload-tokens", &job.grid.max_offload_tokens},
        {"--max-load-tokens", &job.grid.max_load_tokens}}) {
    for (const std::uint64_t limit : *limits) {
      if (limit <= longest) continue;
      return invalid(
          fmt::format("{}: {} is above the longest context of {} tokens; give less, or 0 "
                      "for no limit",
                      flag, limit, longest));
    }
  }
  return {};
}

Status check_disk(const RunOptions& options, Job& job) {
  const bool is_virtual = job.device->info().virtual_time;
  if (Status e = check_disk_flags(options.disk, job.grid, is_virtual); !e.ok()) return e;
  if (Status e = check_disk_bounds(job.shape, job.groups); !e.ok()) return e;
  job.disk = options.disk;
  if (options.disk.empty() || options.plan_only) return {};
  return open_disk_for(options.disk, job.grid);
}

Status check_modes(const RunOptions& options) {
  if (options.plan_only && options.resume) {
    return invalid("--resume and --plan-only: one runs and the other does not, give one of them");
  }
  if (options.json && !options.plan_only) {
    return invalid("--json: only --plan-only prints it, a run writes it to --out");
  }
  return {};
}

// The record and Google Benchmark's own output must not overwrite each other.
Status check_outputs(const RunOptions& options, const BenchmarkArguments& benchmark) {
  namespace fs = std::filesystem;
  if (benchmark.list_only() || options.plan_only) return {};
  if (options.out.empty()) return invalid("--out: the name of a result file is expected");
  std::error_code error;
  const auto same = [&](const std::string& record) {
    return fs::weakly_canonical(fs::absolute(record), error) ==
           fs::weakly_canonical(fs::absolute(benchmark.output()), error);
  };
  if (benchmark.output().empty() || !(same(options.out) || same(options.out + ".part"))) return {};
  return invalid(
      fmt::format("--benchmark_out: {} is where --out writes the record: give another "
                  "file",
                  benchmark.output()));
}

}  // namespace

Result<Job> read_job(const RunOptions& options, const BenchmarkArguments& benchmark) {
  if (Status e = check_modes(options); !e.ok()) return e;
  if (Status e = check_outputs(options, benchmark); !e.ok()) return e;
  Job job;
  for (const auto read : {read_suites, read_grid, read_seed, read_draws, read_model, read_ranks,
                          check_links, check_limits, read_device, check_host_tier, check_disk}) {
    if (Status e = read(options, job); !e.ok()) return e;
  }
  return job;
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
  header.model = model_json(job.shape, job.full_layers());
  Json suites = Json::array();
  for (const SuiteKind* suite : job.suites) suites.push_back(suite->name);
  header.part = {{"suites", suites}, {"grid", grid_json(job.grid)}, {"draws", job.draws}};
  return header;
}

}  // namespace kvroof
