// SPDX-License-Identifier: Apache-2.0
// A block of floats that grows and is kept: 64-byte aligned, contents undefined.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace kvroof {

class Scratch {
 public:
  // Valid until the next call. Throws std::bad_alloc.
  float* at_least(std::uint64_t floats) {
    if (floats > held_) {
      data_.reset();
      held_ = 0;
      const std::uint64_t bytes = (floats * sizeof(float) + kAlign - 1) / kAlign * kAlign;
      data_.reset(static_cast<float*>(std::aligned_alloc(kAlign, bytes)));
      if (!data_) throw std::bad_alloc();
      held_ = floats;
    }
    return data_.get();
  }

 private:
  static constexpr std::uint64_t kAlign = 64;
  struct Free {
    void operator()(float* data) const { std::free(data); }
  };
  std::unique_ptr<float, Free> data_;
  std::uint64_t held_ = 0;
};

}  // namespace kvroof
