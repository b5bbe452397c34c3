// SPDX-License-Identifier: Apache-2.0
#include "suites/verify/remembering_device.h"

#include <algorithm>
#include <functional>

namespace kvroof {

Result<std::unique_ptr<Buffer>> RememberingDevice::remembered(
    Result<std::unique_ptr<Buffer>> buffer) {
  if (buffer.ok() && !(*buffer)->host().empty()) host_.push_back((*buffer)->host());
  return buffer;
}

std::uint64_t RememberingDevice::flip_bit(std::span<const std::byte> bytes,
                                          std::uint64_t bit) const {
  const std::boyer_moore_searcher search(bytes.begin(), bytes.end());
  std::vector<std::byte*> found;
  for (const std::span<std::byte> memory : host_) {
    for (auto at = memory.begin();;) {
      at = std::search(at, memory.end(), search);
      if (at == memory.end()) break;
      found.push_back(&*at);
      at += static_cast<std::ptrdiff_t>(bytes.size());
    }
  }
  for (std::byte* const copy : found) copy[bit / 8] ^= std::byte{1} << (bit % 8);
  return found.size();
}

}  // namespace kvroof
