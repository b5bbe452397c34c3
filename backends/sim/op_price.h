// SPDX-License-Identifier: Apache-2.0
// What an op costs on a profile's device.
#pragma once
#include <cmath>
#include <initializer_list>
#include <string>

#include "backends/sim/price.h"

namespace kvroof::sim {

// `unsupported` where the profile has no figure for it.
Result<Price> price_of(const Profile& profile, const Op& op);
Result<Price> price_of(const Profile& profile, const Gemm& op);

// A kernel that takes `seconds`, or what moving `least_bytes` through HBM takes, or the launch
// floor.
Price kernel_price(const Profile& profile, double seconds, double least_bytes, double bytes);

// A kernel that does nothing but move bytes through HBM.
Price memory_price(const Profile& profile, double bytes);

// One after the other.
Price sum(std::initializer_list<Price> kernels);

// The profile has no such rates of `dtype`, or no rate of `what` at all.
Status not_priced(DType dtype, const char* what);
Status no_share(const std::string& what);

inline double to_double(std::uint64_t value) { return static_cast<double>(value); }
inline double size_of(DType dtype) { return to_double(bytes_of(dtype)); }

// Of a vector of the cache, with its scale where it has one.
inline double size_of_vector(const PagedKv& kv) {
  return kv.head_dim * size_of(kv.dtype) + to_double(scale_bytes_of(kv.dtype));
}

// How far two sizes are apart.
inline double log_distance(double a, double b) { return std::abs(std::log(a / b)); }

}  // namespace kvroof::sim
