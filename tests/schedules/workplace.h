// SPDX-License-Identifier: Apache-2.0
// A directory for one thread's schedules, one after the other: making one for each takes longer
// than running it.
#pragma once
#include <filesystem>

#include "backends/conformance/scratch.h"
#include "tests/schedules/schedule.h"

namespace kvroof::schedules {

class Workplace {
 public:
  Verdict run(std::uint64_t seed, const Plant& plant = nullptr) {
    if (!draw_setting(seed).with_disk) return run_schedule(seed, "", plant);
    remove_files();
    return run_schedule(seed, scratch_.path().string(), plant);
  }

 private:
  // The folders may stay, and what tells that they are a disk tier's.
  void remove_files() const {
    namespace fs = std::filesystem;
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(scratch_.path())) {
      const bool marker = entry.path().parent_path() == scratch_.path();
      if (!entry.is_directory() && !marker) files.push_back(entry.path());
    }
    for (const fs::path& file : files) fs::remove(file);
  }

  conformance::Scratch scratch_;
};

}  // namespace kvroof::schedules
