// SPDX-License-Identifier: Apache-2.0
// A small paged cache with an engine on the device under test, and lanes that play compute: blocks
// are written and checked by the pattern that says what every vector is.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/api/device.h"
#include "kernels/model/kv_pattern.h"
#include "transfer/engine/engine.h"

namespace kvroof {

struct CellSpec {
  KvLayout kv;
  std::uint32_t blocks_per_chunk = 4;
  std::uint32_t tier_chunks = 16;
  Integrity checksum = Integrity::off;
  CopyPath copy = CopyPath::dma;
  bool check_tokens = false;
  std::optional<DiskTierConfig> disk{};
};

// Two layers of `kv_heads` heads of 64, blocks of 4 tokens, 48 of them.
KvLayout cell_layout(Layout layout, KvOrder order, DType dtype, std::uint32_t kv_heads);

// What compute does to blocks is submitted to its own lane, in order; nothing here waits unless it
// says so.
class Cell {
 public:
  static Result<std::unique_ptr<Cell>> create(Device& device, const CellSpec& spec);

  // Compute writes the pattern of `names`, one a block, into `blocks`, behind `fences`. The point
  // of the last of it.
  Result<Point> write(std::span<const BlockId> blocks, std::span<const std::uint32_t> names,
                      std::span<const Point> fences = {});

  // The same where nothing written before is on its way any more: its room is used again.
  Result<Point> write_again(std::span<const BlockId> blocks, std::span<const std::uint32_t> names,
                            std::span<const Point> fences) {
    written_bytes_ = 0;
    return write(blocks, names, fences);
  }

  // Compute reads `blocks` behind `fences`, to be looked at by mismatch() once the point has
  // passed.
  Result<Point> read(std::span<const BlockId> blocks, std::span<const Point> fences = {});

  // The lane waits until the gate opens.
  Status hold(Gate gate);

  Status wait(Point point);
  Status settle();  // until the engine has nothing open, its disk tier included
  Result<TransferResult> wait(Result<TransferId> id);  // of the engine's

  // Until the engine would have no wait for a writer, or a reader, of the blocks.
  Result<std::vector<Point>> fences_for_write(std::span<const BlockId> blocks);
  Result<std::vector<Point>> fences_for_read(std::span<const BlockId> blocks);

  // Reads the blocks now, and waits. Empty where they hold the pattern of `names`, else which
  // vector is wrong.
  Result<std::string> mismatch(std::span<const BlockId> blocks,
                               std::span<const std::uint32_t> names);
  // The same of what the last read() saw.
  std::string seen_mismatch(std::span<const std::uint32_t> names);

  Device& device() { return device_; }
  Engine& engine() { return *engine_; }
  const CellSpec& spec() const { return spec_; }
  std::uint64_t vectors(std::size_t blocks) const;  // so many are compared by mismatch()

 private:
  Cell(Device& device, const CellSpec& spec) : device_(device), spec_(spec) {}
  Status set_up();
  std::vector<Region> regions(std::span<const BlockId> blocks, Buffer& host, bool to_host,
                              std::uint64_t offset) const;
  Result<Point> submit(Queue& queue, std::span<const Point> fences,
                       std::span<const Region> regions);
  template <class Ask>
  Result<std::vector<Point>> drive(Ask ask);

  Device& device_;
  const CellSpec spec_;
  std::unique_ptr<Buffer> cache_, written_, seen_;
  std::uint64_t written_bytes_ = 0;  // of `written_`: each write has a place of its own
  std::unique_ptr<Queue> writer_, reader_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace kvroof
