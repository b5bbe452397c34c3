// SPDX-License-Identifier: Apache-2.0
// The disk tier's store of one directory: which chunks are files there, what must go for a new one,
// and whether what was read is what was written. It moves no data: its owner submits the bodies to
// disk queues and says how they ended.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/api/queue.h"
#include "transfer/disk/chunk_file.h"
#include "transfer/disk/other_files.h"
#include "transfer/disk/temporary_names.h"
#include "transfer/eviction/policy.h"
#include "transfer/tier/slot_table.h"

namespace kvroof {

struct DiskTierConfig {
  std::string path;
  std::uint64_t bytes = 0;  // of all chunks' files together, headers included
  std::uint64_t chunk_bytes = 0;
  Digest128 record;  // of the compatibility record; all keys chain from it
  Eviction eviction = Eviction::lru;
  bool backed = true;  // false: no directory and no contents (simulator with data off)
};

struct DiskTierCounters {
  std::uint64_t written_chunks = 0, written_bytes = 0, failed_writes = 0;
  std::uint64_t read_chunks = 0, read_bytes = 0, failed_reads = 0;  // failed: at the queue
  std::uint64_t torn = 0;     // read, but not what its header says
  std::uint64_t foreign = 0;  // read, and of another record, key or format
  std::uint64_t refused = 0;  // writes that found no room: all chunks were being read or written
  std::uint64_t evicted = 0;  // of ours, of other models and what was too much at the opening
  std::uint64_t adopted = 0;  // found where other processes wrote them after the opening
};

struct DiskWrite {
  SlotId slot = kNoSlot;
  std::string temporary, name;
};

struct DiskRead {
  SlotId slot = kNoSlot;
  std::string name;
};

// Processes may share a directory. Each knows the files that lay there when it opened it, those it
// wrote, and those that it found when it looked for them; its bound is over these. A file that
// another process removed or replaced is a miss, or the same chunk; never a wrong one. One thread
// at a time.
class DiskTier {
 public:
  // Every sentence of open_disk_root; `invalid` also where not one chunk fits. Removes temporaries
  // whose owners are gone, and the oldest files over the bound.
  static Result<DiskTier> open(const DiskTierConfig& config);

  // It is there, as far as is known, and not being written. Where the index lacks it, one look at
  // the directory, since another process may have written it: a chain of keys costs one such look
  // at most, as it ends at its first miss.
  bool find(const ChunkKey& key);
  std::uint32_t lookup(std::span<const ChunkKey> keys);  // how many leading ones are there

  // Names for a chunk that the index lacks; makes room. Empty where it is there or being written
  // already, or where all that could go is in use.
  std::optional<DiskWrite> begin_write(const ChunkKey& key);
  // The header of its file, from its data as they are in host memory and the sum that they were
  // stored with.
  void write_header(const DiskWrite& write, std::uint64_t chunk_sum,
                    std::span<const std::byte> data, std::span<std::byte> header) const;
  void end_write(const DiskWrite& write, const Status& ended);

  // Holds the chunk's file until end_read. Empty where find says no.
  std::optional<DiskRead> begin_read(const ChunkKey& key);
  // `ended` is the ticket's. Ok where the bytes are the chunk's; else it is a miss, and one
  // sentence says why. What failed or disagrees is forgotten, and its file removed, so that it is
  // not tried again for ever; work that was aborted says nothing of its file.
  Status end_read(const DiskRead& read, const Status& ended, std::span<const std::byte> header,
                  std::span<const std::byte> data);

  // Of a file whose bytes are what was written, but not the chunk's, as was found later. A file
  // that is still being written stays.
  void discard(const ChunkKey& key);

  // Files that have to go, by name, in order: to be submitted as RemoveFile ahead of the next
  // write.
  std::vector<std::string> take_removals();

  WriteFile body(const DiskWrite& write, std::span<const Span> pieces) const;
  ReadFile body(const DiskRead& read, std::span<const Span> pieces) const;
  RemoveFile body(std::string_view removal) const;

  std::uint64_t bytes() const;  // of the files that it knows, those being written included
  std::uint64_t max_bytes() const { return config_.bytes; }
  std::uint64_t file_bytes() const { return kChunkHeaderBytes + config_.chunk_bytes; }
  std::uint32_t chunks() const { return used_; }
  const DiskTierCounters& counters() const { return counters_; }

 private:
  DiskTier(const DiskTierConfig& config, Directory root, std::optional<TemporaryNames> names);
  Status take_in();
  bool adopt(const ChunkKey& key);
  bool make_room(const ChunkKey& key);
  SlotId take_slot(const ChunkKey& key, SlotState state);
  SlotId visible_slot(const ChunkKey& key);
  void unpin(SlotId slot);
  void forget(SlotId slot);
  void make_free(SlotId slot);
  void remove_later(SlotId slot);

  DiskTierConfig config_;
  std::unique_ptr<const Directory> root_;
  std::optional<TemporaryNames> names_;  // none where nothing is backed
  SlotTable slots_;
  std::unique_ptr<EvictionPolicy> policy_;
  OtherFiles others_;
  std::vector<std::string> removals_;
  SlotId free_ = kNoSlot;
  std::uint32_t used_ = 0;
  std::uint64_t unbacked_names_ = 0;
  DiskTierCounters counters_;
};

}  // namespace kvroof
