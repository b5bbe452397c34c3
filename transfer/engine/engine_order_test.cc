// SPDX-License-Identifier: Apache-2.0
// The engine's duties of order and honesty. Each is a check that must hold on an honest device and
// must fail on a device that breaks what the engine relies on for it: so the check can see.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>

#include "transfer/testing/test_rig.h"

namespace kvroof {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;
constexpr std::uint8_t kOld = 0x11, kNew = 0x22, kStored = 0x33;

std::vector<ChunkKey> keys(std::vector<std::uint64_t> numbers) {
  std::vector<ChunkKey> list;
  for (const std::uint64_t n : numbers) list.push_back(Rig::key(n));
  return list;
}

// What key(n) serves is `value`, read from blocks that held something else.
AssertionResult serves(Rig& rig, std::uint64_t n, std::uint8_t value) {
  const Blocks elsewhere = {29, 24};
  rig.wait(rig.fill(elsewhere, 0xee));
  if (!rig.fetch(n, elsewhere)) return AssertionFailure() << "chunk " << n << " is not served";
  if (!rig.all_are(elsewhere, value)) return AssertionFailure() << "chunk " << n << " is wrong";
  return AssertionSuccess();
}

AssertionResult store_waits_for_compute(Rig& rig) {
  const Blocks blocks = {7, 3};
  rig.wait(rig.fill(blocks, kOld));
  rig.hold(1);
  rig.engine->note_write(blocks, rig.fill(blocks, kNew));
  if (!rig.engine->offload(keys({1}), blocks).ok()) return AssertionFailure() << "refused";
  rig.run();
  EXPECT_TRUE(rig.device.open_gate(1).ok());
  rig.run();
  return serves(rig, 1, kNew);
}

AssertionResult nothing_is_visible_before_it_landed(Rig& rig) {
  const Blocks blocks = {7, 3}, target = {8, 9};
  rig.hold(1);
  rig.engine->note_write(blocks, rig.fill(blocks, kNew));
  if (!rig.engine->offload(keys({1}), blocks).ok()) return AssertionFailure() << "refused";
  rig.run();
  if (rig.holds(1)) return AssertionFailure() << "visible before it landed";
  if (rig.engine->load(keys({1}), target).ok()) return AssertionFailure() << "loadable too early";
  EXPECT_TRUE(rig.device.open_gate(1).ok());
  rig.run();
  return serves(rig, 1, kNew);
}

AssertionResult load_waits_for_compute_that_reads(Rig& rig) {
  rig.store(1, Blocks{2, 3}, kStored);
  const Blocks blocks = {6, 5};
  rig.wait(rig.fill(blocks, kOld));
  const Point held = rig.hold(1), read = rig.read(blocks, {&held, 1});
  rig.engine->note_read(blocks, read);
  if (!rig.engine->load(keys({1}), blocks).ok()) return AssertionFailure() << "refused";
  rig.run();
  EXPECT_TRUE(rig.device.open_gate(1).ok());
  rig.wait(read);
  for (const std::byte byte : rig.seen().first(2 * rig.kv.block_bytes())) {
    if (byte != std::byte{kOld}) return AssertionFailure() << "overwritten while it was read";
  }
  rig.run();
  return rig.all_are(blocks, kStored) ? AssertionSuccess() : AssertionFailure() << "not loaded";
}

AssertionResult load_waits_for_compute_that_writes(Rig& rig) {
  rig.store(1, Blocks{2, 3}, kStored);
  const Blocks blocks = {6, 5};
  rig.hold(1);
  rig.engine->note_write(blocks, rig.fill(blocks, kOld));
  if (!rig.engine->load(keys({1}), blocks).ok()) return AssertionFailure() << "refused";
  rig.run();
  EXPECT_TRUE(rig.device.open_gate(1).ok());
  rig.run();
  return rig.all_are(blocks, kStored) ? AssertionSuccess() : AssertionFailure() << "overwritten";
}

// The offload of {5, 6} stands behind two others that gates hold: with room for two copies in the
// lane it has no ticket yet when the load is asked for, else it has.
AssertionResult load_waits_for_an_offload_that_reads(Rig& rig) {
  rig.store(1, Blocks{2, 3}, kStored);
  const Blocks blocks = {6, 5};
  rig.wait(rig.fill(blocks, kOld));
  rig.engine->note_write(Blocks{10, 11}, rig.hold(1));
  rig.engine->note_write(Blocks{12, 13}, rig.hold(2));
  const Blocks all = {10, 11, 12, 13, 6, 5};
  if (!rig.engine->offload(keys({8, 9, 5}), all).ok()) return AssertionFailure() << "refused";
  if (!rig.engine->load(keys({1}), blocks).ok()) return AssertionFailure() << "refused";
  for (const Gate gate : {1, 2}) {
    rig.run();
    EXPECT_TRUE(rig.device.open_gate(gate).ok());
  }
  rig.run();
  if (!rig.all_are(blocks, kStored)) return AssertionFailure() << "not loaded";
  return serves(rig, 5, kOld);
}

AssertionResult offload_waits_for_a_load_that_writes(Rig& rig) {
  rig.store(1, Blocks{2, 3}, kStored);
  rig.store(2, Blocks{2, 3}, kNew);
  const Blocks blocks = {6, 5};
  rig.wait(rig.fill(blocks, kOld));
  rig.engine->note_read(Blocks{10, 11}, rig.hold(1));
  rig.engine->note_read(Blocks{12, 13}, rig.hold(2));
  const Blocks all = {10, 11, 12, 13, 6, 5};
  if (!rig.engine->load(keys({1, 1, 2}), all).ok()) return AssertionFailure() << "refused";
  if (!rig.engine->offload(keys({5}), blocks).ok()) return AssertionFailure() << "refused";
  for (const Gate gate : {1, 2}) {
    rig.run();
    EXPECT_TRUE(rig.device.open_gate(gate).ok());
  }
  rig.run();
  return serves(rig, 5, kNew);
}

AssertionResult readers_can_wait_for_a_load(Rig& rig) {
  rig.store(1, Blocks{2, 3}, kStored);
  const Blocks blocks = {6, 5};
  rig.wait(rig.fill(blocks, kOld));
  rig.engine->note_read(blocks, rig.hold(1));
  if (!rig.engine->load(keys({1}), blocks).ok()) return AssertionFailure() << "refused";
  rig.run();
  const auto fences = rig.engine->fences_for_read(blocks);
  if (!fences.ok()) return AssertionFailure() << fences.status().text;
  const Point read = rig.read(blocks, *fences);
  if (rig.device.wait_any({&read, 1}, Nanos::max()).ok()) {
    return AssertionFailure() << "read although the load can't have landed";
  }
  EXPECT_TRUE(rig.device.open_gate(1).ok());
  rig.wait(read);
  for (const std::byte byte : rig.seen().first(2 * rig.kv.block_bytes())) {
    if (byte != std::byte{kStored}) return AssertionFailure() << "read before it was loaded";
  }
  return AssertionSuccess();
}

AssertionResult bytes_arrive(Rig& rig) {
  rig.store(1, Blocks{2, 3}, kStored);
  return serves(rig, 1, kStored);
}

AssertionResult a_load_that_lands_late_is_whole(Rig& rig) {
  rig.store(1, Blocks{2, 3}, kStored);
  const Blocks blocks = {6, 5};
  rig.wait(rig.fill(blocks, kOld));
  rig.device.faults.copies_behind = rig.hold(1);
  if (!rig.engine->load(keys({1}), blocks).ok()) return AssertionFailure() << "refused";
  rig.run();
  EXPECT_TRUE(rig.device.open_gate(1).ok());
  rig.run();
  return rig.all_are(blocks, kStored) ? AssertionSuccess() : AssertionFailure() << "not loaded";
}

AssertionResult a_failed_offload_is_never_served(Rig& rig) {
  const Blocks blocks = {7, 3};
  rig.engine->note_write(blocks, rig.fill(blocks, kNew));
  const auto id = rig.engine->offload(keys({1}), blocks);
  const auto result = rig.engine->wait(*id, Nanos::max());
  if (!result.ok() || result->status.ok()) return AssertionFailure() << "not reported";
  if (result->failed_chunks != 1 || result->bytes != 0) return AssertionFailure() << "miscounted";
  if (rig.engine->counters().chunks_failed != 1) return AssertionFailure() << "not counted";
  if (rig.holds(1)) return AssertionFailure() << "visible";
  rig.store(1, blocks, kStored);  // the key is free for another try
  return serves(rig, 1, kStored);
}

AssertionResult a_failed_load_is_reported_and_not_offloaded(Rig& rig) {
  rig.store(1, Blocks{2, 3}, kStored);
  const Blocks blocks = {6, 5};
  const auto id = rig.engine->load(keys({1}), blocks);
  const auto result = rig.engine->wait(*id, Nanos::max());
  if (!result.ok() || result->failed_chunks != 1) return AssertionFailure() << "not reported";
  if (rig.engine->fences_for_read(blocks).code() != Code::failed) {
    return AssertionFailure() << "its blocks may be read";
  }
  if (!rig.engine->offload(keys({5}), blocks).ok()) return AssertionFailure() << "refused";
  rig.run();
  if (rig.holds(5)) return AssertionFailure() << "undefined bytes are visible";
  rig.store(5, blocks, kNew);  // recomputed: good again
  return serves(rig, 5, kNew);
}

AssertionResult what_compute_failed_to_write_is_not_offloaded(Rig& rig) {
  const Blocks blocks = {7, 3};
  rig.device.faults.fails = [](QueueKind kind, Ticket) { return kind == QueueKind::compute; };
  rig.engine->note_write(blocks, rig.fill(blocks, kNew));
  rig.device.faults.fails = nullptr;
  if (!rig.engine->offload(keys({1}), blocks).ok()) return AssertionFailure() << "refused";
  rig.run();
  if (rig.holds(1)) return AssertionFailure() << "visible";
  rig.store(1, blocks, kStored);
  return serves(rig, 1, kStored);
}

bool first_copy_out(QueueKind kind, Ticket ticket) {
  return kind == QueueKind::copy_out && ticket == 1;
}
bool first_copy_in(QueueKind kind, Ticket ticket) {
  return kind == QueueKind::copy_in && ticket == 1;
}
Fault moves_nothing(QueueKind kind, Ticket) {
  return kind == QueueKind::compute ? Fault::none : Fault::silent_nothing;
}

// One that is true the first time that an op is a Body.
template <class Body>
std::function<bool(const Op&)> first() {
  return [seen = false](const Op& op) mutable {
    return std::holds_alternative<Body>(op) && !std::exchange(seen, true);
  };
}

struct Duty {
  const char* name;
  AssertionResult (*check)(Rig&);
  Faults violation;
  Faults honest = {};

  friend std::ostream& operator<<(std::ostream& out, const Duty& duty) { return out << duty.name; }
};

const Duty kDuties[] = {
    {"StoreWaitsForCompute", store_waits_for_compute, {.unfenced_out = true}},
    {"NothingIsVisibleBeforeItLanded", nothing_is_visible_before_it_landed, {.lands_early = true}},
    {"LoadWaitsForComputeThatReads", load_waits_for_compute_that_reads, {.unfenced_in = true}},
    {"LoadWaitsForComputeThatWrites", load_waits_for_compute_that_writes, {.unfenced_in = true}},
    {"LoadWaitsForAnOffloadThatReads", load_waits_for_an_offload_that_reads, {.unfenced_in = true}},
    {"OffloadWaitsForALoadThatWrites",
     offload_waits_for_a_load_that_writes,
     {.unfenced_out = true}},
    {"ReadersCanWaitForALoad", readers_can_wait_for_a_load, {.lands_early = true}},
    {"BytesArrive", bytes_arrive, {.fault_of = moves_nothing}},
    {"AFailedOffloadIsNeverServed",
     a_failed_offload_is_never_served,
     {.fails = first_copy_out, .hides_failures = true},
     {.fails = first_copy_out}},
    {"AFailedLoadIsReportedAndNotOffloaded",
     a_failed_load_is_reported_and_not_offloaded,
     {.fails = first_copy_in, .hides_failures = true},
     {.fails = first_copy_in}},
    {"WhatComputeFailedToWriteIsNotOffloaded",
     what_compute_failed_to_write_is_not_offloaded,
     {.unfenced_out = true}},
};

// Of the steps that a staged copy has more.
const Duty kStagedDuties[] = {
    {"TheCopyWaitsForTheGather", store_waits_for_compute, {.unfenced_out = true}},
    {"TheScatterWaitsForTheCopy", a_load_that_lands_late_is_whole, {.unfenced_scatter = true}},
    {"AFailedGatherIsNeverServed",
     a_failed_offload_is_never_served,
     {.fails_op = first<Gather>(), .hides_failures = true},
     {.fails_op = first<Gather>()}},
    {"AFailedScatterIsReportedAndNotOffloaded",
     a_failed_load_is_reported_and_not_offloaded,
     {.fails_op = first<Scatter>(), .hides_failures = true},
     {.fails_op = first<Scatter>()}},
};

// Staged copies touch the cache by ops: what must wait there are those.
Faults at_the_cache(Faults faults, CopyPath path) {
  if (path != CopyPath::staged) return faults;
  faults.unfenced_gather = std::exchange(faults.unfenced_out, false);
  faults.unfenced_scatter = std::exchange(faults.unfenced_in, false);
  return faults;
}

// Both layouts; room in a lane for two copies or for many; a copy in one submission or in several;
// every way to copy.
using Variant = std::tuple<Duty, Layout, std::uint32_t, std::uint64_t, CopyPath>;

class EngineOrderTest : public testing::TestWithParam<Variant> {
 protected:
  AssertionResult check(Faults faults) {
    const auto& [duty, layout, lane_chunks, max_regions, path] = GetParam();
    faults.max_regions = max_regions;
    Rig rig({.layout = layout, .lane_chunks = lane_chunks, .copy = path}, std::move(faults));
    return duty.check(rig);
  }
};

TEST_P(EngineOrderTest, HoldsOnAnHonestDevice) {
  EXPECT_TRUE(check(std::get<Duty>(GetParam()).honest));
}

TEST_P(EngineOrderTest, TheCheckSeesAViolation) {
  EXPECT_FALSE(
      check(at_the_cache(std::get<Duty>(GetParam()).violation, std::get<CopyPath>(GetParam()))));
}

struct EngineStagedOrderTest : EngineOrderTest {};

TEST_P(EngineStagedOrderTest, HoldsOnAnHonestDevice) {
  EXPECT_TRUE(check(std::get<Duty>(GetParam()).honest));
}

TEST_P(EngineStagedOrderTest, TheCheckSeesAViolation) {
  EXPECT_FALSE(check(std::get<Duty>(GetParam()).violation));
}

std::string variant_name(const testing::TestParamInfo<Variant>& variant) {
  const auto& [duty, layout, lane_chunks, max_regions, path] = variant.param;
  const std::string layout_name = layout == Layout::block_first ? "BlockFirst" : "LayerFirst";
  return duty.name + layout_name + (lane_chunks == 2 ? "NarrowLane" : "WideLane") +
         (max_regions == 1 ? "Split" : "Whole") + std::string(name(path));
}

INSTANTIATE_TEST_SUITE_P(Duties, EngineOrderTest,
                         testing::Combine(testing::ValuesIn(kDuties),
                                          testing::Values(Layout::block_first, Layout::layer_first),
                                          testing::Values(2u, 16u), testing::Values(0u, 1u),
                                          testing::Values(CopyPath::dma, CopyPath::batch,
                                                          CopyPath::kernel, CopyPath::staged)),
                         variant_name);

INSTANTIATE_TEST_SUITE_P(Duties, EngineStagedOrderTest,
                         testing::Combine(testing::ValuesIn(kStagedDuties),
                                          testing::Values(Layout::block_first, Layout::layer_first),
                                          testing::Values(2u, 16u), testing::Values(0u, 1u),
                                          testing::Values(CopyPath::staged)),
                         variant_name);

}  // namespace
}  // namespace kvroof
