// SPDX-License-Identifier: Apache-2.0
// The roofs that shares are taken of: the device's own peaks where it states them, else the best
// rates that plain work reaches through the seam on this machine.
#pragma once
#include "backends/api/device.h"

namespace kvroof {

struct Ceilings {
  double flops = 0;                  // FLOP/s of one large GEMM in the case's dtype
  double link_in = 0, link_out = 0;  // bytes/s of large copies, host to device and back
  bool measured = false;             // one of them at least; else the device states them all
};

Result<Ceilings> find_ceilings(Device& device, DType dtype);

}  // namespace kvroof
