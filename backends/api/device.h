// SPDX-License-Identifier: Apache-2.0
// The seam: what the offload engine, the ops and the suites need of an accelerator, and no more.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backends/api/buffer.h"
#include "backends/api/queue.h"
#include "backends/api/status.h"

namespace kvroof {

// Where a figure comes from. Ordered: a result takes the weakest (largest) basis of its inputs.
enum class Basis : std::uint8_t {
  measured,    // real clock, the named device as it is
  emulated,    // real clock, an imposed limit such as a paced link
  calibrated,  // virtual clock, parameters fitted to a measured run of ours
  published,   // virtual clock, others' measurements
  datasheet,   // virtual clock, peaks times a stated efficiency
};

constexpr std::string_view name(Basis basis) {
  constexpr std::string_view kNames[] = {"measured", "emulated", "calibrated", "published",
                                         "datasheet"};
  return kNames[static_cast<std::size_t>(basis)];
}

struct LinkState {
  int generation = 0, width = 0;  // PCIe; 0: not PCIe or unknown
};

// Rates that nothing on this device can exceed; 0 where the device does not know them itself.
struct Peaks {
  double flops_f32 = 0, flops_bf16 = 0;  // FLOP/s, dense
  double link_in = 0, link_out = 0;      // bytes/s a direction, host to device and back
};

// Of what only some models use, where the device's figures for it are weaker than its own basis.
struct OpBases {
  Basis experts = Basis::measured, latent_attention = Basis::measured, all_reduce = Basis::measured;
  Basis disk = Basis::measured;  // of disk queues
};

struct DeviceInfo {
  std::string backend, name, driver, bus_id;
  int numa_node = -1;
  std::uint64_t memory_bytes = 0;       // device memory that allocate can hand out in all
  std::uint64_t host_memory_bytes = 0;  // host memory that the host tier may take
  Basis basis = Basis::measured;
  OpBases op_bases{};
  bool virtual_time = false;    // the clock moves in wait_any alone
  bool computes_values = true;  // false: compute ops are priced, and their outputs are not written
  // By CopyMethod: why regions can't be copied so, and are `unsupported`; empty: they can.
  std::array<std::string, kCopyMethods> copy_unavailable{};
  bool sums_copies = false;      // copies take CopySums; otherwise those are `unsupported`
  std::string bf16_unavailable;  // why bf16 cases must be skipped; empty: it runs at full speed
  std::uint64_t max_regions = 0, max_open_tickets = 0;  // a submission; a queue
  std::uint64_t max_registration_bytes = 0;  // of pinned memory in one piece; 0: no ceiling
  std::optional<LinkState> link_now, link_best;
  Peaks peaks;
  std::string profile_json;  // the profile in force on a simulated device, else empty
};

class Device {
 public:
  // Every queue and buffer of the device must be gone by now.
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const noexcept = 0;

  // The only clock above this line.
  virtual Nanos now() const noexcept = 0;

  // Blocks until one of `points` has completed (well or not, reaped or not) and returns its index,
  // the lowest where several have. `deadline` is absolute: past it the answer is `timeout`, and
  // Nanos::max() never passes. `stuck`, whatever the deadline, where virtual time has no event left
  // that could complete one. `invalid` where a point names a ticket that submit has not returned
  // yet. Without points it is a sleep until the deadline. One waiter at a time.
  virtual Result<std::size_t> wait_any(std::span<const Point> points, Nanos deadline) noexcept = 0;

  // `no_memory` leaves nothing allocated. Zero bytes is `invalid`.
  virtual Result<std::unique_ptr<Buffer>> allocate(const BufferSpec& spec) noexcept = 0;

  // Registers memory that the caller owns and keeps alive longer than the buffer.
  virtual Result<std::unique_ptr<Buffer>> adopt(void* host, std::uint64_t bytes) noexcept = 0;

  // `unsupported` where the device has no such lane (disk queues without a disk).
  virtual Result<std::unique_ptr<Queue>> open_queue(QueueKind kind, Priority priority) noexcept = 0;

  // Lets every Hold on `gate` pass, now and later. Opening twice is harmless.
  virtual Status open_gate(Gate gate) noexcept = 0;
};

}  // namespace kvroof
