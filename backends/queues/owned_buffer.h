// SPDX-License-Identifier: Apache-2.0
// A buffer that knows its device, so that a queue can tell its own from another's.
#pragma once
#include "backends/api/buffer.h"

namespace kvroof::queues {

class OwnedBuffer : public Buffer {
 public:
  const void* owner() const noexcept { return owner_; }

 protected:
  explicit OwnedBuffer(const void* owner) : owner_(owner) {}

 private:
  const void* owner_;  // the device, compared and never followed
};

}  // namespace kvroof::queues
