// SPDX-License-Identifier: Apache-2.0
// kvroof: copy or recompute? The command line.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>

#include "suites/command/commands.h"
#include "suites/command/install_paths.h"
#include "suites/command/suite_list.h"
#include "suites/harness/grid.h"
#include "suites/verify/verify_kind.h"

namespace kvroof {

int fail(int code, const std::string& sentence) {
  std::fprintf(stderr, "kvroof: %s\n", sentence.c_str());
  return code;
}

namespace {

struct Options {
  DevicesOptions devices;
  ModelsOptions models;
  RunOptions run;
  VerifyOptions verify;
  ReportOptions report;
};

struct Command {
  CLI::App* app;
  std::function<int()> main;
};

CLI::App* subcommand(CLI::App& root, const char* name, const char* what, const char* example) {
  CLI::App* app = root.add_subcommand(name, what);
  app->footer(std::string("Example:\n  ") + example);
  return app;
}

Command devices_command(CLI::App& root, DevicesOptions& to) {
  CLI::App* app = subcommand(root, "devices", "List adapters and devices", "kvroof devices --json");
  app->add_flag("--json", to.json, "A list of objects instead of text");
  return {app, [&to] { return list_devices(to); }};
}

Command models_command(CLI::App& root, ModelsOptions& to) {
  CLI::App* app = subcommand(root, "models", "Show models: geometry, KV bytes, FLOPs",
                             "kvroof models llama-3.1-8b path/to/config.json");
  app->add_option("models", to.models, "Names or config.json paths (default: all)");
  app->add_flag("--json", to.json, "A list of objects instead of a table");
  return {app, [&to] { return show_models(to); }};
}

void add_grid_flags(CLI::App& app, std::map<std::string, std::string>& flags) {
  for (const GridFlag& flag : grid_flags()) {
    const std::string name(flag.name);
    const auto keep = [&flags, name](const std::string& text) { flags[name] = text; };
    const std::string help(flag.help);
    if (flag.is_switch) {
      app.add_flag_callback(
             "--" + name, [keep] { keep("on"); }, help)
          ->group("Grid");
    } else {
      app.add_option_function<std::string>("--" + name, keep, help)->group("Grid");
    }
  }
}

std::string suites_help() {
  std::string text = "Suites to run:";
  for (const SuiteKind& suite : suite_list()) {
    text += "\n" + std::string(suite.name) + ": " + std::string(suite.about);
  }
  return text;
}

Command run_command(CLI::App& root, RunOptions& to) {
  CLI::App* app =
      subcommand(root, "run", "Run suites on a device and write a result file",
                 "kvroof run ttft --device sim:h100-sxm --model llama-3.1-8b \\\n"
                 "    --context 1k,10k,20k,...,100k --serving-cost vllm --out h100.json\n"
                 "What follows -- goes to Google Benchmark: -- --benchmark_filter=10240");
  app->add_option("suites", to.suites, suites_help())->required();
  app->add_option("--device", to.device,
                  "host, sim:h100-sxm, sim:profile.json, cuda:0;\n"
                  "with another link: sim:h100-sxm,link=pcie4x16,\n"
                  "host:link=5GB/s; a wind tunnel:\n"
                  "host:balance=h100-sxm (kvroof devices has names)")
      ->required();
  app->add_option("--model", to.model, "A catalogue name, or a config.json's path")->required();
  app->add_option("--out", to.out, "The result file; required, but not to list");
  app->add_flag("--resume", to.resume, "Go on with the FILE.part that a stopped run left");
  app->add_flag("--plan-only", to.plan_only, "Only say what would run, how much and how long");
  app->add_flag("--json", to.json, "With --plan-only: an object instead of text");
  app->add_option("--layers", to.layers, "Run only this many of the model's layers");
  app->add_option("--tp", to.tp, "Tensor-parallel devices; figures are one's")
      ->capture_default_str();
  app->add_option("--seed", to.seed, "Of weights, tokens, block order and sampling")
      ->capture_default_str();
  app->add_option("--draws", to.draws,
                  "Of a profile's parameters, for modelled intervals:\n"
                  "0 for none, or 20 and more")
      ->capture_default_str();
  app->add_option("--disk", to.disk,
                  "A directory on a disk for the tier of --disk-bytes; on a\n"
                  "simulated device only where data are to move");
  add_grid_flags(*app, to.grid);
  return {app, [&to] { return run_suites(to); }};
}

std::string checks_help() {
  std::string text = "Only these, with commas between:";
  for (const VerifyKind& kind : verify_kinds()) text += "\n" + std::string(kind.name);
  return text;
}

Command verify_command(CLI::App& root, VerifyOptions& to) {
  CLI::App* app = subcommand(root, "verify", "Look for a wrong block: the correctness checks alone",
                             "kvroof verify --device sim:h100-sxm --out verify.json");
  app->add_option("--device", to.device, "As for run")->capture_default_str();
  app->add_option("--check", to.checks, checks_help())->delimiter(',');
  app->add_option("--model", to.model, "Of the check that computes logits")->capture_default_str();
  app->add_option("--out", to.out, "A result file");
  app->add_option("--seed", to.seed, "Of tokens, weights and block order")->capture_default_str();
  return {app, [&to] { return verify(to); }};
}

Command report_command(CLI::App& root, ReportOptions& to) {
  CLI::App* app = subcommand(root, "report", "Draw figures and write report.html and report.md",
                             "kvroof report h100.json host.json --out report");
  app->add_option("files", to.files, "Result files of kvroof run, or folders of them")->required();
  app->add_option("--out", to.out, "Folder for report.html, report.md and the figures")->required();
  return {app, [&to] { return write_report(to); }};
}

// Everything behind the first `--` is Google Benchmark's; returns how many words are ours.
int split_at_dashes(int argc, char** argv, RunOptions& run) {
  run.argv.assign(argv, argv + argc);
  const auto dashes = std::find(run.argv.begin(), run.argv.end(), "--");
  if (dashes == run.argv.end()) return argc;
  run.benchmark_arguments.assign(dashes + 1, run.argv.end());
  return static_cast<int>(dashes - run.argv.begin());
}

int parse_and_run(int argc, char** argv) {
  CLI::App root{"Is a KV block cheaper to copy from host memory or to recompute?", "kvroof"};
  root.set_version_flag("--version", "kvroof " + kVersion);
  root.require_subcommand(1);
  Options options;
  const Command commands[] = {devices_command(root, options.devices),
                              models_command(root, options.models), run_command(root, options.run),
                              verify_command(root, options.verify),
                              report_command(root, options.report)};
  const int ours = split_at_dashes(argc, argv, options.run);
  options.verify.argv = options.run.argv;
  try {
    root.parse(ours, argv);
  } catch (const CLI::Success& asked) {
    return root.exit(asked);
  } catch (const CLI::Error& error) {
    return fail(kBadUsage, std::string(error.what()) + " (kvroof --help shows what is known)");
  }
  for (const Command& command : commands) {
    if (ours != argc && command.app->parsed() && command.app->get_name() != "run") {
      return fail(kBadUsage, command.app->get_name() + " takes nothing behind --, only run does");
    }
    if (command.app->parsed()) return command.main();
  }
  return kBadUsage;
}

// What was printed may still be in a buffer: a full disk shows here.
int check_output(int code) {
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written) return code;
  return fail(code == kDone ? kBadUsage : code, "standard output cannot be written in full");
}

}  // namespace
}  // namespace kvroof

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is then an error like a full disk
  try {
    return kvroof::check_output(kvroof::parse_and_run(argc, argv));
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return kvroof::check_output(kvroof::kDone);
    return kvroof::fail(kvroof::kCheckFailed, error.what());
  }
}
