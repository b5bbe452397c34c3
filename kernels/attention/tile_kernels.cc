// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/tile_kernels.h"

namespace kvroof {

namespace baseline {
extern const TileKernels kTileKernelsF32, kTileKernelsBf16;
}
namespace avx2 {
extern const TileKernels kTileKernelsF32, kTileKernelsBf16;
}
namespace avx512 {
extern const TileKernels kTileKernelsF32, kTileKernelsBf16;
}

namespace avx512_bf16 {
extern const TileKernels kTileKernelsBf16;
}

const TileKernels& tile_kernels(DType dtype, Isa isa) {
  static const TileKernels* const kTables[][2] = {
      {&baseline::kTileKernelsF32, &baseline::kTileKernelsBf16},
      {&avx2::kTileKernelsF32, &avx2::kTileKernelsBf16},
      {&avx512::kTileKernelsF32, &avx512::kTileKernelsBf16},
      {&avx512::kTileKernelsF32, &avx512_bf16::kTileKernelsBf16}};
  return *kTables[static_cast<std::size_t>(isa)][dtype == DType::bf16 ? 1 : 0];
}

}  // namespace kvroof
