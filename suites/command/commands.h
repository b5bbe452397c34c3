// SPDX-License-Identifier: Apache-2.0
// The subcommands of `kvroof`: what the command line says of each, and the function that runs it
// and returns the exit code. Only main.cc knows how the line is parsed.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kvroof {

constexpr int kDone = 0, kCheckFailed = 1, kBadUsage = 2, kNoDevice = 3;

struct DevicesOptions {
  bool json = false;
};

struct ModelsOptions {
  std::vector<std::string> models;  // names and paths; empty: the whole catalogue
  bool json = false;
};

struct RunOptions {
  std::vector<std::string> suites;
  std::string device, model, out;
  std::string disk;      // a directory; empty: none
  std::string layers;    // as typed; empty: all
  std::string tp = "1";  // as typed
  bool resume = false, plan_only = false;
  bool json = false;                             // of plan_only
  std::string seed = "1", draws = "200";         // as typed
  std::map<std::string, std::string> grid;       // flag of the grid -> its text
  std::vector<std::string> argv;                 // the whole line, for the record
  std::vector<std::string> benchmark_arguments;  // what stood behind `--`
};

struct VerifyOptions {
  std::string device = "host", model = "tunnel-512", out;
  std::vector<std::string> checks;  // names; empty: all
  std::string seed = "1";           // as typed
  std::vector<std::string> argv;
};

struct ReportOptions {
  std::vector<std::string> files;
  std::string out;
};

int list_devices(const DevicesOptions& options);
int show_models(const ModelsOptions& options);
int run_suites(const RunOptions& options);
int verify(const VerifyOptions& options);
int write_report(const ReportOptions& options);

// Prints `kvroof: sentence` on stderr and returns `code`.
int fail(int code, const std::string& sentence);

}  // namespace kvroof
