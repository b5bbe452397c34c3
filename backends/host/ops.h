// SPDX-License-Identifier: Apache-2.0
// Runs the seam's ops on this CPU, one at a time whatever the number of compute queues.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "backends/api/ops.h"
#include "backends/api/status.h"
#include "backends/host/copy_crew.h"
#include "backends/host/parked_team.h"
#include "backends/os/memory.h"
#include "kernels/attention/attention.h"
#include "kernels/gemm/gemm.h"

namespace kvroof::host {

class Ops {
 public:
  // Packed weights draw on `memory`, the device's, for as long as it has some left.
  explicit Ops(os::Budget& memory);

  // `unsupported` for types that this CPU does not compute in, `invalid` for odd addresses. Whether
  // the spans fit the op was checked.
  Status check(const Op& op) const;

  Status run(const Op& op);

  // Copies as a kernel does: by the threads that run ops, with ordinary loads and stores, while no
  // op runs.
  void copy(std::span<const Piece> pieces);

  // To be told of every write that is not an op's, before and after it, and of memory that goes.
  void written(const std::byte* data, std::uint64_t bytes) { gemm_.forget(data, bytes); }

  // Gives up what could be packed again, for an allocation that needs the room.
  void drop_packed() { gemm_.drop_packed(); }

 private:
  Status execute(const Gemm& op);
  Status execute(const Attention& op);
  Status execute(const Norm& op);
  Status execute(const RopeAppend& op);
  Status execute(const Activation& op);
  Status execute(const Embedding& op);
  Status execute(const Gather& op);
  Status execute(const Scatter& op);
  Status execute(const Quantise& op);
  Status execute(const Dequantise& op);
  Status execute(const Checksum& op);
  template <class Priced>
  Status execute(const Priced&) {  // check() has refused it
    return {Code::unsupported, "the host does not run this op"};
  }

  std::mutex running_;
  std::optional<ParkedTeam> parked_;  // from the first op on
  AttentionKernel attention_;
  GemmKernel gemm_;
};

}  // namespace kvroof::host
