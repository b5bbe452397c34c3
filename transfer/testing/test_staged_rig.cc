// SPDX-License-Identifier: Apache-2.0
// Runs a program's tests once more, with staged copies in every rig that does not choose.
#include "transfer/testing/test_rig.h"

namespace kvroof {
namespace {

[[maybe_unused]] const bool kStaged = [] {
  rig_path = CopyPath::staged;
  return true;
}();

}  // namespace
}  // namespace kvroof
