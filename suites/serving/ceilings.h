// SPDX-License-Identifier: Apache-2.0
// The roofs that shares are taken of: the device's own peaks where it states them, else the best
// rates that plain work reaches through the seam on this machine.
#pragma once
#include "backends/api/device.h"
#include "suites/serving/session.h"

namespace kvroof {

struct Ceilings {
  double flops = 0;                  // FLOP/s of one large GEMM in the case's dtype
  double link_in = 0, link_out = 0;  // bytes/s of large copies, host to device and back
  bool measured = false;             // one of them at least; else the device states them all
};

// How long a copy of this session may be open before its lane is given up: a hundred times what a
// chunk takes at the link's rate and a forward step at the roof, and half a minute at least. What
// waits for neither, and for so long, is hung: no device is a hundred times slower than its roofs.
Nanos copy_timeout(const Ceilings& roofs, const ModelShape& shape, const SessionSpec& spec);

Result<Ceilings> find_ceilings(Device& device, DType dtype);

}  // namespace kvroof
