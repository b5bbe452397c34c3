// SPDX-License-Identifier: Apache-2.0
// Chunks that the tiers hold narrower than the cache does: what comes back is what eight bits can
// say of what went, vector by vector, and the narrow bytes alone cross the link.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "backends/conformance/null_device.h"
#include "backends/conformance/scratch.h"
#include "transfer/testing/test_rig.h"

namespace kvroof {
namespace {

RigConfig narrowed(DType dtype, Layout layout = Layout::block_first) {
  return {.layout = layout, .copy = CopyPath::staged, .transfer_dtype = dtype};
}

constexpr std::uint32_t kWidth = 4;  // of the rig's vectors

class EngineNarrowTest : public testing::TestWithParam<std::tuple<DType, Layout>> {
 protected:
  DType dtype() const { return std::get<0>(GetParam()); }
  RigConfig config() const { return narrowed(dtype(), std::get<1>(GetParam())); }
  float largest() const { return dtype() == DType::fp8 ? 448 : 127; }

  // Vectors that eight bits can say: the largest value there is, and small ones, times a power of
  // two that is the vector's scale. No two vectors are alike.
  std::vector<float> exact(const Rig& rig, int salt) const {
    std::vector<float> values(rig.kv.cache_bytes() / sizeof(float));
    for (std::size_t v = 0; v < values.size() / kWidth; ++v) {
      const int n = static_cast<int>(v) + salt;
      const float vector[] = {largest(), static_cast<float>(n % 15),
                              static_cast<float>(-n / 15 % 15), static_cast<float>(n / 225 % 15)};
      const float scale = std::ldexp(1.0f, n % 7 - 3);
      for (std::uint32_t i = 0; i < kWidth; ++i) values[v * kWidth + i] = vector[i] * scale;
    }
    return values;
  }

  static void write(Rig& rig, const std::vector<float>& values) {
    rig.write_cache(std::as_bytes(std::span(values)));
  }
  static std::vector<float> read(Rig& rig) {
    const std::vector<std::byte> bytes = rig.read_cache();
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  // The blocks' vectors, in the order of their regions.
  static std::vector<float> of(const Rig& rig, const std::vector<float>& values,
                               const Blocks& blocks) {
    std::vector<float> picked;
    for (const BlockId block : blocks) {
      for (std::uint32_t r = 0; r < rig.kv.regions_per_block(); ++r) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(
                                                rig.kv.region_offset(block, r) / sizeof(float));
        picked.insert(picked.end(), first,
                      first + static_cast<std::ptrdiff_t>(rig.kv.region_bytes() / sizeof(float)));
      }
    }
    return picked;
  }

  static void offload(Rig& rig, std::uint64_t n, const Blocks& blocks) {
    EXPECT_TRUE(finish(rig, rig.engine->offload(keys(n, blocks.size() / 2), blocks)).status.ok());
  }
};

TEST_P(EngineNarrowTest, WhatEightBitsCanSayComesBackAsItWas) {
  Rig rig(config());
  const std::vector<float> before = exact(rig, 0);
  write(rig, before);
  offload(rig, 1, range(0, 4));
  write(rig, exact(rig, 1000));
  EXPECT_TRUE(finish(rig, rig.engine->load(keys(1, 2), range(10, 4))).status.ok());
  const std::vector<float> after = read(rig);
  EXPECT_EQ(of(rig, after, range(10, 4)), of(rig, before, range(0, 4)));
  EXPECT_EQ(of(rig, after, range(14, 18)), of(rig, exact(rig, 1000), range(14, 18)));
}

TEST_P(EngineNarrowTest, APartOfAChunkComesBackToo) {
  Rig rig(config());
  const std::vector<float> before = exact(rig, 0);
  write(rig, before);
  offload(rig, 1, range(0, 4));
  EXPECT_TRUE(
      finish(rig, rig.engine->load(keys(1, 2), range(10, 2), {.skip_blocks = 1})).status.ok());
  EXPECT_EQ(of(rig, read(rig), range(10, 2)), of(rig, before, range(1, 2)));
}

// Rounded to the nearest: within half a step of the largest element's binade (fp8), or of the
// vector's (int8).
TEST_P(EngineNarrowTest, AnythingElseComesBackRounded) {
  Rig rig(config());
  std::vector<float> before(rig.kv.cache_bytes() / sizeof(float));
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 3);
  for (float& value : before) value = normal(random);
  write(rig, before);
  offload(rig, 1, range(0, 4));
  EXPECT_TRUE(finish(rig, rig.engine->load(keys(1, 2), range(10, 4))).status.ok());
  const auto went = of(rig, before, range(0, 4)), came = of(rig, read(rig), range(10, 4));
  const float half_a_step = dtype() == DType::fp8 ? 16.0f / 448 : 0.5f / 127;
  EXPECT_NE(went, came);
  for (std::size_t v = 0; v < went.size(); v += kWidth) {
    float largest = 0;
    for (std::size_t i = v; i < v + kWidth; ++i) largest = std::max(largest, std::abs(went[i]));
    for (std::size_t i = v; i < v + kWidth; ++i) {
      EXPECT_NEAR(came[i], went[i], largest * half_a_step * 1.0001f);
    }
  }
}

TEST_P(EngineNarrowTest, TheNarrowBytesAreWhatIsHeldAndMoved) {
  Rig rig(config());
  write(rig, exact(rig, 0));
  const std::uint64_t vectors = 2 * rig.kv.block_bytes() / (kWidth * sizeof(float));
  const std::uint64_t narrow = vectors * (kWidth + sizeof(float));  // of a chunk
  EXPECT_EQ(rig.engine->tier().chunks, rig.engine->tier().bytes / narrow);
  const auto id = rig.engine->offload(keys(1, 2), range(0, 4));
  const TransferResult offloaded = finish(rig, id);
  EXPECT_EQ(offloaded.bytes, 2 * narrow);
  EXPECT_GT(offloaded.converting, Nanos{});
  EXPECT_LT(offloaded.converting, offloaded.interval.end - offloaded.interval.begin);
  const auto load = rig.engine->load(keys(1, 2), range(10, 3));
  EXPECT_GT(rig.engine->estimate(Direction::offload, 1), Nanos{});
  const TransferResult loaded = finish(rig, load);
  EXPECT_EQ(loaded.bytes, narrow + narrow / 2);
  EXPECT_GT(loaded.converting, Nanos{});
  EXPECT_EQ(rig.engine->counters().bytes_loaded, loaded.bytes);
}

TEST_P(EngineNarrowTest, ASpoiltChunkIsFoundByItsChecksum) {
  for (const bool spoilt : {false, true}) {
    RigConfig summed = config();
    summed.integrity = Integrity::always;
    Rig rig(summed, {.fault_of = [spoilt](QueueKind kind, Ticket) {
              return spoilt && kind == QueueKind::copy_in ? Fault::silent_short : Fault::none;
            }});
    write(rig, exact(rig, 0));
    offload(rig, 1, range(0, 4));
    const TransferResult loaded = finish(rig, rig.engine->load(keys(1, 2), range(10, 3)));
    EXPECT_EQ(loaded.failed_chunks, spoilt ? 2u : 0u);
    EXPECT_EQ(rig.engine->counters().chunks_checked, 2u);
  }
}

TEST_P(EngineNarrowTest, FilesHoldTheNarrowBytes) {
  const conformance::Scratch scratch;
  RigConfig below = config();
  below.tier_chunks = 1;
  below.disk = DiskTierConfig{.path = scratch.path().string(), .bytes = 1 << 20, .record = {1, 2}};
  Rig rig(below);
  const std::vector<float> before = exact(rig, 0);
  write(rig, before);
  const std::uint64_t chunks = rig.engine->tier().chunks + 1;
  for (std::uint64_t n = 0; n < chunks; ++n) {
    offload(rig, n, range(static_cast<BlockId>(2 * n), 2));
    rig.run();
  }
  EXPECT_FALSE(rig.holds(0));
  EXPECT_EQ(rig.engine->disk()->file_bytes() - kChunkHeaderBytes,
            rig.engine->tier().bytes / rig.engine->tier().chunks);
  EXPECT_TRUE(finish(rig, rig.engine->prefetch(keys(0, 1))).status.ok());
  EXPECT_TRUE(finish(rig, rig.engine->load(keys(0, 1), range(20, 2))).status.ok());
  EXPECT_EQ(of(rig, read(rig), range(20, 2)), of(rig, before, range(0, 2)));
}

INSTANTIATE_TEST_SUITE_P(Forms, EngineNarrowTest,
                         testing::Combine(testing::Values(DType::fp8, DType::int8),
                                          testing::Values(Layout::block_first,
                                                          Layout::layer_first)));

TEST(EngineNarrow, WhatCanNotBeNarrowedIsRefused) {
  const Rig rig;
  const auto refused = [&](const EngineConfig& config) {
    FaultyDevice device(make_null_device(), {});
    const auto cache =
        std::move(*device.allocate({MemoryKind::device, config.kv.cache_bytes(), -1, false}));
    return Engine::create(device, *cache, config).status();
  };
  EngineConfig config{.kv = rig.kv, .host_tier_bytes = 1 << 20, .copy = CopyPath::staged};
  EXPECT_TRUE(refused(config).ok());
  config.transfer_dtype = DType::fp8;
  EXPECT_TRUE(refused(config).ok());
  config.copy = CopyPath::dma;
  EXPECT_EQ(refused(config).code, Code::invalid);
  config.copy = CopyPath::staged;
  config.transfer_dtype = DType::bf16;
  EXPECT_EQ(refused(config).code, Code::invalid);
  config.transfer_dtype = DType::int8;
  config.kv.dtype = DType::fp8;
  EXPECT_EQ(refused(config).code, Code::invalid);
  config.kv.dtype = DType::bf16;
  config.kv.head_dim = 6;
  EXPECT_EQ(refused(config).code, Code::invalid);
}

}  // namespace
}  // namespace kvroof
