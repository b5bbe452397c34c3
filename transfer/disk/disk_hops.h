// SPDX-License-Identifier: Apache-2.0
// A chunk's way between the host tier and the disk tier below it: what has landed in host memory is
// written behind, what will be loaded is read ahead. The accelerator never sees a file.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/api/device.h"
#include "transfer/disk/disk_tier.h"
#include "transfer/tier/host_tier.h"

namespace kvroof {

struct DiskHopCounters {
  std::uint64_t missed_writes = 0;  // evicted from the host tier before their turn to be written
};

// One read that a caller asked for.
struct FetchedChunk {
  std::uint32_t tag = 0;  // the caller's
  Status status;          // ok: the chunk is visible in the host tier
  Interval interval{};    // of the read; zero where there was none
};

class DiskHops {
 public:
  // `tier` and the device outlive it. Files of `depth` chunks are on their way at once, in each
  // direction; a direction on which nothing has ended for `timeout` (zero: no bound) although
  // something is open is given up for good. `unsupported` where the device has no disk queues;
  // otherwise as DiskTier::open.
  static Result<std::unique_ptr<DiskHops>> create(Device& device, HostTier& tier,
                                                  const DiskTierConfig& config, std::uint32_t depth,
                                                  Nanos timeout);
  ~DiskHops();

  // The chunk of a visible slot is to be written, once there is room on the lane. Until then
  // nothing holds it: what is evicted first is missed, and counted.
  void write(SlotId slot);

  // A file that is on its way out does not count, though it may still lie there.
  bool holds(const ChunkKey& key) { return !reading_.lost && disk_.find(key) && !leaves(key); }

  // Reads a chunk into the host tier, in its turn; poll() says how it ended: at once where the host
  // tier has it by then, `no_memory` where every chunk there is in use, `invalid` where the disk
  // tier does not have it, `lost` where reading was given up.
  void fetch(const ChunkKey& key, std::uint32_t tag) { wanted_.push_back({key, tag}); }

  // Its bytes turned out not to be the chunk's: its file goes, in its turn.
  void discard(const ChunkKey& key) { disk_.discard(key); }

  // Submits what waits, and appends the reads that ended. Never blocks.
  Status poll(std::vector<FetchedChunk>& fetched);

  Nanos next_expiry() const;  // when poll() gives up a direction, if nothing ends before

  // Of each lane the oldest open ticket.
  void add_open_points(std::vector<Point>& points) const;

  const DiskTier& disk() const { return disk_; }
  DiskFacts read_facts() const { return read_queue_->disk_facts(); }
  DiskFacts write_facts() const { return write_queue_->disk_facts(); }
  const DiskHopCounters& counters() const { return counters_; }

 private:
  struct Write {
    std::optional<DiskWrite> file;  // empty: a removal, of
    std::string removed;
    SlotId slot = kNoSlot;
    std::uint32_t header = 0;
  };
  struct Read {
    DiskRead file;
    SlotId slot = kNoSlot;
    std::uint32_t header = 0, tag = 0;
    Nanos submitted{};
  };
  struct Waiting {
    SlotId slot;
    ChunkKey key;  // the slot may hold another chunk by the time of its turn
  };
  struct Wanted {
    ChunkKey key;
    std::uint32_t tag;
  };

  // One direction's liveness.
  struct Watch {
    Nanos progress{};   // when something ended, or began on an idle lane
    bool lost = false;  // given up
  };

  DiskHops(Device& device, HostTier& tier, DiskTier disk, Nanos timeout)
      : device_(device), tier_(tier), disk_(std::move(disk)), timeout_(timeout) {}
  bool leaves(const ChunkKey& key) const;
  Status set_up(std::uint32_t depth);
  Span header_span(std::uint32_t header) const;
  std::span<std::byte> bytes_of(const Span& span) const;
  std::optional<std::uint32_t> take_header();
  void feed_writes();
  void feed_reads(std::vector<FetchedChunk>& fetched);
  Status begin_read(const ChunkKey& key, std::uint32_t tag);
  bool feed_removals();
  bool feed_write(const Waiting& waiting);
  Status reap_writes();
  Status reap_reads(std::vector<FetchedChunk>& fetched);
  void push(Write write);
  void push(Read read);
  void give_up_stalled(std::vector<FetchedChunk>& fetched);
  void give_up_reads(std::vector<FetchedChunk>& fetched);
  void give_up_writes();
  bool wait_for_progress();
  static Status never_ended();
  void end(const Write& write, const Status& status);
  Status end(const Read& read, const Status& status);

  Device& device_;
  HostTier& tier_;
  DiskTier disk_;
  Nanos timeout_;
  Watch reading_, writing_;
  std::unique_ptr<Buffer> headers_;  // pinned, kChunkHeaderBytes each
  std::vector<std::uint32_t> free_headers_;
  std::unique_ptr<Queue> write_queue_, read_queue_;  // before what is on them: see ~DiskHops
  std::deque<Write> writes_;
  std::deque<Read> reads_;
  Ticket first_write_ = 1, first_read_ = 1;  // of those at the deques' fronts
  std::deque<Waiting> waiting_;
  std::deque<Wanted> wanted_;
  std::deque<std::string> removals_;
  DiskHopCounters counters_;
};

}  // namespace kvroof
