// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/quantise.h"

namespace kvroof {

// [wide][narrow].
namespace baseline {
extern const QuantiseKernels kQuantiseKernels[2][2];
}
namespace avx2 {
extern const QuantiseKernels kQuantiseKernels[2][2];
}
namespace avx512 {
extern const QuantiseKernels kQuantiseKernels[2][2];
}

const QuantiseKernels& quantise_kernels(DType wide, DType narrow, Isa isa) {
  static const auto kTables = {baseline::kQuantiseKernels, avx2::kQuantiseKernels,
                               avx512::kQuantiseKernels, avx512::kQuantiseKernels};
  const auto* const table = kTables.begin()[static_cast<std::size_t>(isa)];
  return table[wide == DType::bf16 ? 1 : 0][narrow == DType::int8 ? 1 : 0];
}

}  // namespace kvroof
