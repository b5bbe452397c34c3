// SPDX-License-Identifier: Apache-2.0
// For tests: tensors of f32 or bf16 beside the same values in double, and the distance between
// them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "backends/api/dtype.h"
#include "kernels/portable/bf16.h"

namespace kvroof::oracle {

// The bounds that every op keeps: max abs difference over max abs reference.
inline double tolerance(DType dtype) { return dtype == DType::f32 ? 1e-5 : 1e-2; }

struct Tensor {
  DType dtype;
  std::vector<std::byte> bytes;

  Tensor(DType type, std::size_t count) : dtype(type), bytes(count * bytes_of(type)) {}

  std::size_t size() const { return bytes.size() / bytes_of(dtype); }
  std::byte* data() { return bytes.data(); }

  double at(std::size_t i) const {
    if (dtype == DType::f32) return read<float>(i);
    return to_float(read<Bf16>(i));
  }
  void set(std::size_t i, double value) {
    if (dtype == DType::f32) return write(i, static_cast<float>(value));
    Bf16 rounded;
    store(rounded, static_cast<float>(value));
    write(i, rounded);
  }
  std::vector<double> values() const {
    std::vector<double> out(size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = at(i);
    return out;
  }

 private:
  template <class T>
  T read(std::size_t i) const {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  template <class T>
  void write(std::size_t i, T value) {
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
};

inline Tensor random_tensor(DType dtype, std::size_t count, std::mt19937& random) {
  std::uniform_real_distribution<double> values(-1, 1);
  Tensor out(dtype, count);
  for (std::size_t i = 0; i < count; ++i) out.set(i, values(random));
  return out;
}

inline double distance(const std::vector<double>& got, const std::vector<double>& wanted) {
  if (got.size() != wanted.size()) return INFINITY;
  double worst = 0, scale = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(got[i])) return INFINITY;
    worst = std::max(worst, std::abs(got[i] - wanted[i]));
    scale = std::max(scale, std::abs(wanted[i]));
  }
  return scale > 0 ? worst / scale : worst;
}

}  // namespace kvroof::oracle
