// SPDX-License-Identifier: Apache-2.0
#include "transfer/disk/disk_tier.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "transfer/disk/disk_root.h"
#include "transfer/disk/entries.h"

namespace kvroof {
namespace {

Status check(const DiskTierConfig& config) {
  const std::uint64_t file = kChunkHeaderBytes + config.chunk_bytes;
  if (config.chunk_bytes > 0 && config.bytes / file > 0 &&
      config.bytes / file <= SlotTable::kMostSlots) {
    return {};
  }
  return {Code::invalid, "A disk tier of " + std::to_string(config.bytes) +
                             " bytes must hold between 1 and " +
                             std::to_string(SlotTable::kMostSlots) + " files of " +
                             std::to_string(file) + " bytes: choose another size."};
}

bool is_foreign(ChunkFault fault) {
  return fault == ChunkFault::other_format || fault == ChunkFault::other_record ||
         fault == ChunkFault::other_key;
}

}  // namespace

DiskTier::DiskTier(const DiskTierConfig& config, Directory root,
                   std::optional<TemporaryNames> names)
    : config_(config),
      root_(std::make_unique<const Directory>(std::move(root))),
      names_(std::move(names)),
      slots_(static_cast<std::uint32_t>(config.bytes / file_bytes())),
      policy_(make_policy(config.eviction, slots_.size())) {
  for (SlotId slot = slots_.size(); slot-- > 0;) make_free(slot);
}

Result<DiskTier> DiskTier::open(const DiskTierConfig& config) {
  if (Status status = check(config); !status.ok()) return status;
  if (!config.backed) return DiskTier(config, Directory(UniqueFd(), config.path), std::nullopt);
  auto root = open_disk_root(config.path);
  if (!root) return root.status();
  DiskTier tier(config, std::move(*root), std::nullopt);
  auto names = TemporaryNames::open(*tier.root_);
  if (!names) return names.status();
  tier.names_.emplace(std::move(*names));
  if (Status status = tier.take_in(); !status.ok()) return status;
  return tier;
}

// The last written as far as the bound goes; the policy hears of the oldest first.
Status DiskTier::take_in() {
  auto files = chunk_files(*root_);
  if (!files) return files.status();
  std::uint64_t sum = 0;
  const auto over = std::ranges::find_if(
      *files, [&](const ChunkFile& file) { return (sum += file.bytes) > config_.bytes; });
  for (auto file = over; file != files->end(); ++file) {
    remove_entry(*root_, chunk_file_name(file->key));
    ++counters_.evicted;
  }
  files->erase(over, files->end());
  for (const ChunkFile& file : *files) {
    if (file.bytes != file_bytes()) others_.add(file);
  }
  for (auto file = files->rbegin(); file != files->rend(); ++file) {
    if (file->bytes != file_bytes()) continue;
    policy_->insert(take_slot(file->key, SlotState::visible), file->key);
  }
  return {};
}

bool DiskTier::find(const ChunkKey& key) { return visible_slot(key) != kNoSlot; }

std::uint32_t DiskTier::lookup(std::span<const ChunkKey> keys) {
  const auto missing =
      std::ranges::find_if(keys, [this](const ChunkKey& key) { return !find(key); });
  return static_cast<std::uint32_t>(missing - keys.begin());
}

SlotId DiskTier::visible_slot(const ChunkKey& key) {
  SlotId slot = slots_.find(key);
  if (slot == kNoSlot && adopt(key)) slot = slots_.find(key);
  return slot != kNoSlot && slots_[slot].state == SlotState::visible ? slot : kNoSlot;
}

bool DiskTier::adopt(const ChunkKey& key) {
  if (!config_.backed) return false;
  const auto file = look_at_chunk(*root_, key);
  if (!file || file->bytes != file_bytes()) return false;
  others_.forget(key);
  if (!make_room(key)) return false;
  policy_->insert(take_slot(key, SlotState::visible), key);
  ++counters_.adopted;
  return true;
}

std::optional<DiskWrite> DiskTier::begin_write(const ChunkKey& key) {
  if (slots_.find(key) != kNoSlot) return {};
  others_.forget(key);  // whose name the new file takes
  if (!make_room(key)) {
    ++counters_.refused;
    return {};
  }
  const SlotId slot = take_slot(key, SlotState::reserved);
  return DiskWrite{
      slot,
      names_ ? names_->next() : std::string(kTemporaries) + "/" + std::to_string(unbacked_names_++),
      chunk_file_name(key)};
}

void DiskTier::write_header(const DiskWrite& write, std::uint64_t chunk_sum,
                            std::span<const std::byte> data, std::span<std::byte> header) const {
  assert(data.size() == config_.chunk_bytes);
  write_chunk_header(config_.record, slots_[write.slot].key, chunk_sum, data, header);
}

void DiskTier::end_write(const DiskWrite& write, const Status& ended) {
  Slot& slot = slots_[write.slot];
  assert(slot.state == SlotState::reserved);
  if (!ended.ok()) {
    ++counters_.failed_writes;
    return forget(write.slot);
  }
  slot.state = SlotState::visible;
  policy_->insert(write.slot, slot.key);
  slot.in_policy = true;
  ++counters_.written_chunks;
  counters_.written_bytes += file_bytes();
}

std::optional<DiskRead> DiskTier::begin_read(const ChunkKey& key) {
  const SlotId slot = visible_slot(key);
  if (slot == kNoSlot) return {};
  ++slots_[slot].references;
  return DiskRead{slot, chunk_file_name(key)};
}

Status DiskTier::end_read(const DiskRead& read, const Status& ended,
                          std::span<const std::byte> header, std::span<const std::byte> data) {
  const ChunkKey key = slots_[read.slot].key;
  if (ended.code == Code::failed) remove_later(read.slot);
  if (!ended.ok()) {
    ++counters_.failed_reads;
    unpin(read.slot);
    return ended;
  }
  ++counters_.read_chunks;
  counters_.read_bytes += file_bytes();
  const ChunkFault fault =
      config_.backed ? check_chunk(config_.record, key, header, data) : ChunkFault::none;
  if (fault != ChunkFault::none) {
    ++(is_foreign(fault) ? counters_.foreign : counters_.torn);
    remove_later(read.slot);
  }
  unpin(read.slot);
  if (fault == ChunkFault::none) return {};
  return {Code::failed, "The disk tier's file " + root_->path() + "/" + read.name +
                            " is not used and removed: " + std::string(describe(fault)) + "."};
}

void DiskTier::discard(const ChunkKey& key) {
  if (const SlotId slot = slots_.find(key); slot != kNoSlot) remove_later(slot);
}

std::vector<std::string> DiskTier::take_removals() { return std::exchange(removals_, {}); }

WriteFile DiskTier::body(const DiskWrite& write, std::span<const Span> pieces) const {
  return {root_.get(), write.temporary, write.name, pieces};
}
ReadFile DiskTier::body(const DiskRead& read, std::span<const Span> pieces) const {
  return {root_.get(), read.name, pieces};
}
RemoveFile DiskTier::body(std::string_view removal) const { return {root_.get(), removal}; }

std::uint64_t DiskTier::bytes() const { return used_ * file_bytes() + others_.bytes(); }

bool DiskTier::make_room(const ChunkKey& key) {
  while (free_ == kNoSlot || bytes() + file_bytes() > config_.bytes) {
    if (const auto other = others_.take_oldest()) {
      removals_.push_back(chunk_file_name(*other));
    } else {
      const SlotId victim =
          policy_->evict(key, [this](SlotId slot) { return slots_[slot].references == 0; });
      if (victim == kNoSlot) return false;
      removals_.push_back(chunk_file_name(slots_[victim].key));
      slots_[victim].in_policy = false;
      forget(victim);
    }
    ++counters_.evicted;
  }
  return true;
}

SlotId DiskTier::take_slot(const ChunkKey& key, SlotState state) {
  const SlotId slot = std::exchange(free_, slots_[free_].next_free);
  slots_.insert(key, slot);
  slots_[slot].state = state;
  slots_[slot].in_policy = state == SlotState::visible;
  ++used_;
  return slot;
}

void DiskTier::unpin(SlotId slot) {
  Slot& one = slots_[slot];
  assert(one.references > 0);
  --one.references;
  if (one.state == SlotState::visible) return policy_->hit({&slot, 1});
  if (one.references == 0) make_free(slot);
}

// Of a file whose reads go on the slot stays, out of the index, until they have ended.
void DiskTier::forget(SlotId slot) {
  Slot& one = slots_[slot];
  slots_.erase(slot);
  if (std::exchange(one.in_policy, false)) policy_->forget(slot);
  one.state = SlotState::dropped;
  --used_;
  if (one.references == 0) make_free(slot);
}

void DiskTier::make_free(SlotId slot) {
  slots_[slot] = Slot();
  slots_[slot].next_free = std::exchange(free_, slot);
}

// Nothing to do where another reader of the file has said so already.
void DiskTier::remove_later(SlotId slot) {
  if (slots_[slot].state != SlotState::visible) return;
  removals_.push_back(chunk_file_name(slots_[slot].key));
  forget(slot);
}

}  // namespace kvroof
