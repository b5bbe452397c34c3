// SPDX-License-Identifier: Apache-2.0
// The one place where the kernel's and the libraries' error codes become ours.
#pragma once
#include <string_view>

#include "backends/api/status.h"

namespace kvroof::os {

// `doing` names what failed ("mapping 4096 bytes"); the system's own words are kept.
Status from_errno(int error, std::string_view doing);

// For the handler of a catch (...): what the exception in flight says at the seam.
Status from_exception() noexcept;

}  // namespace kvroof::os
