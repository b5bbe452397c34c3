// SPDX-License-Identifier: Apache-2.0
// Runs a program's tests once more, with a checksum for every chunk in every rig.
#include "transfer/testing/test_rig.h"

namespace kvroof {
namespace {

[[maybe_unused]] const bool kSummed = [] {
  rig_integrity = Integrity::always;
  return true;
}();

}  // namespace
}  // namespace kvroof
