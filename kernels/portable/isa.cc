// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/isa.h"

#include <algorithm>

namespace kvroof {

bool runs_here(Isa isa) {
  switch (isa) {
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::avx512:
      return runs_here(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    case Isa::avx512_bf16:
      return runs_here(Isa::avx512) && __builtin_cpu_supports("avx512bf16");
    default:
      return true;
  }
}

Isa best_isa() { return *std::find_if(kIsas.rbegin(), kIsas.rend(), runs_here); }

}  // namespace kvroof
