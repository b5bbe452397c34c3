// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/errors.h"

#include <string>

namespace kvroof::cuda {
namespace {

kvroof::Code code_of(int answer) {
  switch (answer) {
    case kOutOfMemory:
      return kvroof::Code::no_memory;
    case kNoDevice:
    case kInvalidDevice:
    case kNotSupported:
      return kvroof::Code::unsupported;
    // After these no call on the context answers anything else again.
    case kDeinitialized:
    case kInvalidContext:
    case kEccUncorrectable:
    case kNvlinkUncorrectable:
    case kIllegalAddress:
    case kContextIsDestroyed:
    case kMisalignedAddress:
    case kLaunchFailed:
      return kvroof::Code::lost;
    default:
      return kvroof::Code::failed;
  }
}

}  // namespace

Status from_cuda(const EntryPoints& driver, int answer, std::string_view doing) {
  if (answer == kSuccess) return {};
  const char *name = nullptr, *text = nullptr;
  (void)driver.error_name(answer, &name);
  (void)driver.error_text(answer, &text);
  return {code_of(answer), std::string(doing) + ": " +
                               (name != nullptr ? name : "error " + std::to_string(answer)) +
                               (text != nullptr ? " (" + std::string(text) + ")" : "")};
}

}  // namespace kvroof::cuda
