// SPDX-License-Identifier: Apache-2.0
// `kvroof report`: hands the result files to the Python package that draws them.
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "suites/command/commands.h"
#include "suites/command/install_paths.h"

namespace kvroof {
namespace {

namespace fs = std::filesystem;

// Runs a program to its end. Its exit code, or 127 where it can't be started.
int run_program(const std::vector<std::string>& words, bool quiet) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int state = 0;
  if (error != 0 || waitpid(child, &state, 0) != child) return 127;
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

// The configured interpreter, the project's virtual environment, then what the PATH and the
// distribution have: the first that imports matplotlib.
std::optional<std::string> find_interpreter() {
  const std::string candidates[] = {kConfiguredPython, kSourceDir + "/.venv/bin/python", "python3",
                                    "/usr/bin/python3"};
  for (const std::string& python : candidates) {
    if (python.empty()) continue;
    if (run_program({python, "-c", "import matplotlib"}, /*quiet=*/true) == 0) return python;
  }
  return {};
}

// Beside an installed binary first, else in the source tree it was built from.
std::optional<fs::path> find_reports() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  for (const fs::path& folder :
       {self.parent_path() / ".." / kInstalledReports, fs::path(kSourceDir) / "reports"}) {
    if (fs::exists(folder / "kvroof_reports" / "__main__.py", error)) return folder;
  }
  return {};
}

}  // namespace

int write_report(const ReportOptions& options) {
  if (options.out.empty()) {
    return fail(kBadUsage, "--out is empty; give . for the current folder");
  }
  const auto folder = find_reports();
  if (!folder) {
    return fail(kCheckFailed,
                fmt::format("the Python package kvroof_reports is neither beside the "
                            "installed binary nor in {}/reports; install kvroof again",
                            kSourceDir));
  }
  const auto python = find_interpreter();
  if (!python) {
    return fail(kCheckFailed,
                "no Python interpreter imports matplotlib, which draws the figures; "
                "install the package python3-matplotlib");
  }
  setenv("PYTHONPATH", folder->c_str(), 1);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  std::vector<std::string> words{*python, "-m", "kvroof_reports"};
  words.insert(words.end(), options.files.begin(), options.files.end());
  words.insert(words.end(), {"--out", options.out});
  return run_program(words, /*quiet=*/false);
}

}  // namespace kvroof
