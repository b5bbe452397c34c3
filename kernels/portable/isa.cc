// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/isa.h"

namespace kvroof {

bool runs_here(Isa isa) {
  switch (isa) {
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::avx512:
      return runs_here(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    default:
      return true;
  }
}

Isa best_isa() {
  if (runs_here(Isa::avx512)) return Isa::avx512;
  return runs_here(Isa::avx2) ? Isa::avx2 : Isa::baseline;
}

}  // namespace kvroof
