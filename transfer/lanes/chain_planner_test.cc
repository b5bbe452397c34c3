// SPDX-License-Identifier: Apache-2.0
#include "transfer/lanes/chain_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "backends/conformance/null_device.h"
#include "backends/faults/faulty_device.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kBlocksPerChunk = 3;
constexpr std::uint64_t kPlaces = 2;

// Two layers of one KV head of 4 f32 and 2 tokens a block: planes of 32 bytes, blocks of 128.
KvLayout tiny(Layout layout) {
  return {.layout = layout,
          .dtype = DType::f32,
          .layers = 2,
          .kv_heads = 1,
          .head_dim = 4,
          .block_tokens = 2,
          .blocks = 8};
}

// On the null device pinned memory is memory of this process.
struct ChainPlannerTest : testing::Test {
  StoredForm form(Layout layout) const { return {tiny(layout), narrow}; }

  ChainPlanner planner(Direction direction, Layout layout, std::uint64_t max_regions = 0) {
    DeviceInfo info;
    info.max_regions = max_regions;
    info.sums_copies = sums_copies;
    CopyPlaces places;
    places.index = std::move(*RowIndex::create(*device, tiny(layout), kBlocksPerChunk, kPlaces));
    places.staging =
        std::move(*Staging::create(*device, form(layout), kBlocksPerChunk, kPlaces, true));
    places.sums =
        std::move(*SumPlaces::create(*device, form(layout), kBlocksPerChunk, kPlaces, true));
    return {direction, form(layout), *cache, info, std::move(places)};
  }

  // The chunk lies at 1000, and of its blocks `skipped` come before these.
  std::span<const CopyStep> plan(ChainPlanner& planner, CopyPath path, std::vector<BlockId> blocks,
                                 std::uint32_t skipped = 0, bool summed = false) {
    lane.push({.path = path, .summed = summed});
    return planner.plan(lane, *lane.next(),
                        {blocks, {tier.get(), 1000, narrow ? 192u : 384u}, skipped});
  }

  static std::vector<std::int32_t> rows(const Span& index) {
    std::vector<std::int32_t> rows(index.bytes / sizeof(std::int32_t));
    std::memcpy(rows.data(), index.buffer->host().data() + index.offset, index.bytes);
    return rows;
  }

  std::unique_ptr<Device> device = make_null_device();
  std::unique_ptr<Buffer> cache =
      std::move(*device->allocate({.kind = MemoryKind::device, .bytes = 4096}));
  std::unique_ptr<Buffer> tier =
      std::move(*device->allocate({.kind = MemoryKind::pinned, .bytes = 4096}));
  bool sums_copies = false;
  std::optional<DType> narrow;
  Lane lane = std::move(*Lane::create(*device, {.ops = true, .most_open = kPlaces}));
};

const Regions& regions(const CopyStep& step) { return std::get<Regions>(step.body); }
template <class Body>
const Body& op(const CopyStep& step) {
  return std::get<Body>(std::get<Op>(step.body));
}

TEST_F(ChainPlannerTest, PlainPathsAreRegionsInPartsOfAtMostAsManyAsTheDeviceTakes) {
  auto out = planner(Direction::offload, Layout::layer_first, 3);
  const auto steps = plan(out, CopyPath::batch, {5, 1});  // four regions each
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(regions(steps[0]).list.size(), 3u);
  EXPECT_EQ(regions(steps[2]).list.size(), 2u);
  for (const CopyStep& step : steps) {
    EXPECT_EQ(regions(step).method, CopyMethod::batch);
    EXPECT_EQ(step.station, Station::copies);
    EXPECT_TRUE(step.touches_cache);
  }
}

TEST_F(ChainPlannerTest, AStagedOffloadGathersAndIsOneRegion) {
  auto out = planner(Direction::offload, Layout::block_first);
  const auto steps = plan(out, CopyPath::staged, {5, 1, 3});
  ASSERT_EQ(steps.size(), 2u);
  const auto& gather = op<Gather>(steps[0]);
  EXPECT_TRUE(steps[0].touches_cache && !steps[1].touches_cache);
  EXPECT_EQ(gather.source.buffer, cache.get());
  EXPECT_EQ(gather.row_bytes, 128u);
  EXPECT_EQ(rows(gather.index), (std::vector<std::int32_t>{5, 1, 3}));
  ASSERT_EQ(regions(steps[1]).list.size(), 1u);
  const Region& region = regions(steps[1]).list[0];
  EXPECT_EQ(region.source.buffer, gather.out.buffer);
  EXPECT_EQ(region.source.offset, gather.out.offset);
  EXPECT_EQ(region.destination.offset, 1000u);
  EXPECT_EQ(region.source.bytes, 3 * 128u);
  EXPECT_EQ(region.destination.bytes, 3 * 128u);
}

// In the cache a layer's K or V of all 8 blocks follow one another, four such arrays in all.
TEST_F(ChainPlannerTest, AStagedLoadIsOneRegionAndScattersPlaneByPlane) {
  auto in = planner(Direction::load, Layout::layer_first);
  const auto steps = plan(in, CopyPath::staged, {5, 1});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_TRUE(!steps[0].touches_cache && steps[1].touches_cache);
  EXPECT_EQ(regions(steps[0]).list.size(), 1u);
  const auto& scatter = op<Scatter>(steps[1]);
  EXPECT_EQ(scatter.row_bytes, 32u);
  EXPECT_EQ(rows(scatter.index), (std::vector<std::int32_t>{5, 13, 21, 29, 1, 9, 17, 25}));
  EXPECT_EQ(scatter.source.offset, regions(steps[0]).list[0].destination.offset);
  EXPECT_EQ(scatter.out.buffer, cache.get());
}

TEST_F(ChainPlannerTest, CopiesThatAreOpenAtOnceHaveDifferentPlaces) {
  auto in = planner(Direction::load, Layout::block_first);
  std::vector<std::uint64_t> offsets;
  std::vector<Span> indices;
  for (const BlockId block : {4u, 6u}) {
    const auto steps = plan(in, CopyPath::staged, {block});
    offsets.push_back(op<Scatter>(steps[1]).source.offset);
    indices.push_back(op<Scatter>(steps[1]).index);
    ASSERT_TRUE(lane.submit({}, steps).ok());
  }
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, kBlocksPerChunk * 128}));
  EXPECT_EQ(rows(indices[0]), (std::vector<std::int32_t>{4}));
  EXPECT_EQ(rows(indices[1]), (std::vector<std::int32_t>{6}));
}

// Its op may be reading them.
TEST_F(ChainPlannerTest, TheRowsOfACopyThatIsBegunAreNotWrittenAgain) {
  auto in = planner(Direction::load, Layout::block_first);
  const auto steps = plan(in, CopyPath::staged, {5});
  const Span index = op<Scatter>(steps[1]).index;
  FaultyDevice busy(make_null_device(), {.max_open_tickets = 1});
  lane = std::move(*Lane::create(busy, {.ops = true, .most_open = kPlaces}));
  for (int i = 0; i < 2; ++i) lane.push({.path = CopyPath::staged});
  ASSERT_TRUE(lane.submit({}, steps).ok());
  ASSERT_EQ(lane.submit({}, steps).code, Code::busy);
  const auto all = index.buffer->host();
  std::memset(all.data(), 0x7f, all.size());
  const std::vector<BlockId> other{6};
  in.plan(lane, *lane.next(), {other, {tier.get(), 1000, 384}});
  EXPECT_EQ(std::count(all.begin(), all.end(), std::byte{0x7f}),
            static_cast<std::ptrdiff_t>(all.size()));
  lane = std::move(*Lane::create(*device, {}));  // `busy` ends before the fixture
}

TEST_F(ChainPlannerTest, MoreRowsThanAnIndexCanNameAreRefused) {
  KvLayout kv = tiny(Layout::layer_first);
  kv.blocks = 1u << 30;  // times four regions
  EXPECT_EQ(RowIndex::create(*device, kv, 1, 1).status().code, Code::invalid);
}

// Four rows a block, each one part.
TEST_F(ChainPlannerTest, APlainCopyIsSummedByAnOpOverTheCacheBehindIt) {
  for (const Direction direction : {Direction::offload, Direction::load}) {
    auto planner_of = planner(direction, Layout::layer_first);
    const auto steps = plan(planner_of, CopyPath::dma, {5, 1, 3}, 0, true);
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(regions(steps[0]).sums.out.buffer, nullptr);
    const auto& sum = op<Checksum>(steps[1]);
    EXPECT_EQ(steps[1].station, Station::ops);
    EXPECT_TRUE(steps[1].touches_cache);
    EXPECT_EQ(sum.source.buffer, cache.get());
    EXPECT_EQ(sum.rows, 12u);
    EXPECT_EQ(sum.row_bytes, 32u);
    EXPECT_EQ(sum.parts, 1u);
    EXPECT_EQ(rows(sum.index)[4], 1);  // layer 0's K of block 1
    lane = std::move(*Lane::create(*device, {.ops = true, .most_open = kPlaces}));
  }
}

TEST_F(ChainPlannerTest, AStagedCopyIsSummedWhileItIsStaged) {
  auto in = planner(Direction::load, Layout::layer_first);
  const auto load = plan(in, CopyPath::staged, {5, 1, 3}, 0, true);
  ASSERT_EQ(load.size(), 3u);
  const auto& sum = op<Checksum>(load[1]);
  EXPECT_FALSE(load[1].touches_cache);
  EXPECT_EQ(sum.source.buffer, op<Scatter>(load[2]).source.buffer);
  EXPECT_EQ(sum.index.buffer, nullptr);
  lane = std::move(*Lane::create(*device, {.ops = true, .most_open = kPlaces}));
  auto out = planner(Direction::offload, Layout::layer_first);
  const auto offload = plan(out, CopyPath::staged, {5, 1, 3}, 0, true);
  ASSERT_EQ(offload.size(), 3u);
  EXPECT_EQ(op<Checksum>(offload[1]).source.offset, op<Gather>(offload[0]).out.offset);
}

// Six regions of 32 bytes behind a block that is skipped, five a submission, and the second goes on
// where the first ended.
TEST_F(ChainPlannerTest, WhereCopiesSumTheyDoSoOnTheWay) {
  sums_copies = true;
  auto in = planner(Direction::load, Layout::layer_first, 5);
  const auto steps = plan(in, CopyPath::dma, {5, 1}, 1, true);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(regions(steps[0]).sums.part_bytes, 32u);
  EXPECT_EQ(regions(steps[0]).sums.out.offset, 4 * 8u);
  EXPECT_EQ(regions(steps[1]).sums.out.offset, (4 + 5) * 8u);
  EXPECT_EQ(regions(steps[0]).list[0].source.offset, 1000u + 128);
  const auto& rest = op<Checksum>(steps[2]);  // the skipped block, where it lies
  EXPECT_FALSE(steps[2].touches_cache);
  EXPECT_EQ(rest.source.offset, 1000u);
  EXPECT_EQ(rest.source.bytes, 128u);
  EXPECT_EQ(rest.out.offset, 0u);
  EXPECT_EQ(rest.rows, 4u);
}

// A block is a row of 8 vectors of 4 elements: 32 bytes of values and as many of scales.
TEST_F(ChainPlannerTest, ANarrowedCopyIsQuantisedOrDequantisedWhileItIsStaged) {
  narrow = DType::fp8;
  auto out = planner(Direction::offload, Layout::block_first);
  const auto offload = plan(out, CopyPath::staged, {5, 1, 3});
  ASSERT_EQ(offload.size(), 2u);
  EXPECT_TRUE(offload[0].converts && !offload[1].converts);
  const auto& quantise = op<Quantise>(offload[0]);
  EXPECT_EQ(quantise.source.buffer, cache.get());
  EXPECT_EQ(quantise.rows, 3u);
  EXPECT_EQ(quantise.row.wide_bytes(), 128u);
  EXPECT_EQ(quantise.row.narrow_bytes(), 64u);
  EXPECT_EQ(quantise.row.narrow, DType::fp8);
  EXPECT_EQ(regions(offload[1]).list[0].source.offset, quantise.out.offset);
  EXPECT_EQ(regions(offload[1]).list[0].destination.bytes, 3 * 64u);
  lane = std::move(*Lane::create(*device, {.ops = true, .most_open = kPlaces}));
  auto in = planner(Direction::load, Layout::block_first);
  const auto load = plan(in, CopyPath::staged, {5, 1}, 1);
  ASSERT_EQ(load.size(), 2u);
  EXPECT_EQ(regions(load[0]).list[0].source.offset, 1000u + 64);
  EXPECT_EQ(regions(load[0]).list[0].source.bytes, 2 * 64u);
  const auto& dequantise = op<Dequantise>(load[1]);
  EXPECT_TRUE(load[1].touches_cache && load[1].converts);
  EXPECT_EQ(dequantise.out.buffer, cache.get());
  EXPECT_EQ(rows(dequantise.index), (std::vector<std::int32_t>{5, 1}));
}

// By way of the cache's rows there is no sum of what is stored.
TEST_F(ChainPlannerTest, OfANarrowedChunkTheNarrowRowsAreSummed) {
  narrow = DType::int8;
  auto in = planner(Direction::load, Layout::layer_first);
  const auto steps = plan(in, CopyPath::staged, {5, 1}, 1, true);
  ASSERT_EQ(steps.size(), 4u);
  const auto& staged = op<Checksum>(steps[1]);
  EXPECT_EQ(staged.index.buffer, nullptr);
  EXPECT_EQ(staged.rows, 8u);
  EXPECT_EQ(staged.row_bytes, 16u);  // two vectors of 4 bytes, and two scales
  EXPECT_EQ(staged.out.offset, 4 * 8u);
  const auto& rest = op<Checksum>(steps[3]);
  EXPECT_EQ(rest.source.offset, 1000u);
  EXPECT_EQ(rest.source.bytes, 64u);
}

TEST_F(ChainPlannerTest, WhatALoadLeavesOutOnBothSidesIsSummedToo) {
  sums_copies = true;
  auto in = planner(Direction::load, Layout::block_first);
  const auto steps = plan(in, CopyPath::dma, {5}, 1, true);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(op<Checksum>(steps[1]).source.offset, 1000u);
  EXPECT_EQ(op<Checksum>(steps[2]).source.offset, 1000u + 2 * 128);
  EXPECT_EQ(op<Checksum>(steps[2]).out.offset, 2 * 8u);
}

}  // namespace
}  // namespace kvroof
