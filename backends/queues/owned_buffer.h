// SPDX-License-Identifier: Apache-2.0
// A buffer that knows its device, so that a queue can tell its own from another's.
#pragma once
#include <memory>

#include "backends/api/buffer.h"

namespace kvroof::queues {

class OwnedBuffer : public Buffer {
 public:
  const void* owner() const noexcept { return owner_; }

  // Expires with the buffer: for who remembers something of it, and must not take another buffer
  // at the same address for it.
  std::weak_ptr<const void> life() const noexcept { return life_; }

 protected:
  explicit OwnedBuffer(const void* owner) : owner_(owner) {}

 private:
  const void* owner_;  // the device, compared and never followed
  std::shared_ptr<const void> life_ = std::make_shared<char>();
};

}  // namespace kvroof::queues
