// SPDX-License-Identifier: Apache-2.0
// The checks that `kvroof verify` makes: each looks for one way in which a wrong block could be
// served, on the device under test, and returns cases.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/api/device.h"
#include "kernels/model/model_shape.h"
#include "suites/harness/record.h"
#include "transfer/keys/record_flips.h"

namespace kvroof {

// What may happen to a file of the disk tier while nobody looks.
struct FileDamage {
  std::string_view name;
  void (*apply)(const std::filesystem::path& file, const std::filesystem::path& other);
};

std::span<const FileDamage> file_damages();

struct VerifySetup {
  Device& device;
  ModelShape shape;  // of the check that computes
  std::uint64_t seed = 1;
  // What the checks rely on, for tests that plant a bug in it.
  std::span<const RecordFlip> flips = record_flips();
  bool check_tokens = true, checks_sums = true;
  std::span<const FileDamage> damages = file_damages();
  Digest128 other_record = {5, 7};  // than the one that files are written under: {5, 6}
};

// What a check, or one of its cases, found.
struct Finding {
  Status status;      // why it could not be made
  std::string wrong;  // empty: nothing
  std::uint64_t compared = 0;
};

struct VerifyKind {
  std::string_view name, about;
  std::vector<Case> (*run)(const VerifySetup& setup);
};

std::span<const VerifyKind> verify_kinds();

// `unsupported` and `no_memory` are skipped; `counted` names the metric of what was compared.
Case make_case(const VerifySetup& setup, std::string_view check, const Finding& finding,
               std::string_view counted = "chunks_compared");

}  // namespace kvroof
