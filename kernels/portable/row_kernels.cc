// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/row_kernels.h"

namespace kvroof {

namespace baseline {
extern const RowKernels kRowKernelsF32, kRowKernelsBf16;
}
namespace avx2 {
extern const RowKernels kRowKernelsF32, kRowKernelsBf16;
}
namespace avx512 {
extern const RowKernels kRowKernelsF32, kRowKernelsBf16;
}

const RowKernels& row_kernels(DType dtype, Isa isa) {
  static const RowKernels* const kTables[][2] = {
      {&baseline::kRowKernelsF32, &baseline::kRowKernelsBf16},
      {&avx2::kRowKernelsF32, &avx2::kRowKernelsBf16},
      {&avx512::kRowKernelsF32, &avx512::kRowKernelsBf16},
      {&avx512::kRowKernelsF32, &avx512::kRowKernelsBf16}};
  return *kTables[static_cast<std::size_t>(isa)][dtype == DType::bf16 ? 1 : 0];
}

}  // namespace kvroof
