// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/block_ledger.h"

#include <algorithm>

namespace kvroof {
namespace {

// Neighbouring blocks mostly have the same last writer: look at what was added last first.
void add_distinct(std::vector<Need>& needs, std::size_t begin, Need need) {
  if (need.number == 0) return;
  for (std::size_t i = needs.size(); i-- > begin;) {
    if (needs[i] == need) return;
  }
  needs.push_back(need);
}

}  // namespace

BlockLedger::ComputeUse& BlockLedger::use_of(Queue* queue) {
  for (ComputeUse& use : compute_) {
    if (use.queue == queue) return use;
  }
  const std::vector<Ticket> never(copies_.size(), 0);
  return compute_.emplace_back(ComputeUse{queue, never, never});
}

void BlockLedger::note_write(std::span<const BlockId> blocks, Point by) {
  std::vector<Ticket>& written = use_of(by.queue).written;
  for (const BlockId block : blocks) written[block] = std::max(written[block], by.ticket);
}

void BlockLedger::note_read(std::span<const BlockId> blocks, Point by) {
  std::vector<Ticket>& read = use_of(by.queue).read;
  for (const BlockId block : blocks) read[block] = std::max(read[block], by.ticket);
}

void BlockLedger::begin_offload(std::span<const BlockId> blocks, CopyNumber number,
                                std::vector<Need>& needs) {
  const std::size_t begin = needs.size();
  for (const ComputeUse& use : compute_) {
    for (const BlockId block : blocks) add_distinct(needs, begin, {use.queue, use.written[block]});
  }
  for (const BlockId block : blocks) {
    add_distinct(needs, begin, {nullptr, copies_[block].load});
    copies_[block].offload = number;
  }
}

void BlockLedger::begin_load(std::span<const BlockId> blocks, CopyNumber number,
                             std::uint32_t layer_stride, std::vector<Need>& needs) {
  const std::size_t begin = needs.size();
  for (const ComputeUse& use : compute_) {
    Ticket last = 0;
    for (const BlockId block : blocks) last = std::max({last, use.written[block], use.read[block]});
    add_distinct(needs, begin, {use.queue, last});
  }
  CopyNumber last = 0;
  for (const BlockId block : blocks) {
    last = std::max(last, copies_[block].offload);
    copies_[block].load = number;
    copies_[block].layer_stride = layer_stride;
  }
  add_distinct(needs, begin, {nullptr, last});
}

}  // namespace kvroof
