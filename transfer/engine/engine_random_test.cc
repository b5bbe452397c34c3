// SPDX-License-Identifier: Apache-2.0
// Random sequences of writes, offloads and loads that overlap as they please, against a plain model
// that does one thing after the other. A failing seed replays alike: there is no other clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>

#include "transfer/testing/test_rig.h"

namespace kvroof {
namespace {

using Content = std::uint8_t;  // every byte of a block

// A key stands for what its blocks hold, as a real one does.
ChunkKey key_of(Content first, Content second) { return Rig::key(256u * first + second); }

class Model {
 public:
  Model(Rig& rig, std::uint32_t seed) : rig_(rig), random_(seed) {
    std::vector<BlockId> all(Rig::kBlocks);
    std::iota(all.begin(), all.end(), 0u);
    write(all);
  }

  void step() {
    switch (random_() % 6) {
      case 0:
        return write(pick(1 + random_() % 3));
      case 1:
      case 2:
        return offload(1 + random_() % 3);
      case 3:
      case 4:
        return load(1 + random_() % 3);
      default:
        EXPECT_TRUE(rig_.engine->poll().ok());
        let_time_pass();
    }
  }

  void check_everything() {
    rig_.run();
    for (const TransferResult& result : rig_.engine->take_results()) {
      EXPECT_TRUE(result.status.ok()) << result.status.text;
    }
    for (BlockId block = 0; block < Rig::kBlocks; ++block) {
      EXPECT_TRUE(rig_.all_are({{block}}, blocks_[block])) << "block " << block;
    }
    for (const auto& [key, content] : offloaded_) {
      if (rig_.engine->lookup({&key, 1}) == 0) continue;  // evicted
      const std::vector<BlockId> to = {30, 31};
      const auto id = rig_.engine->load({&key, 1}, to);
      ASSERT_TRUE(id.ok() && rig_.engine->wait(*id, Nanos::max()).ok());
      EXPECT_TRUE(rig_.all_are({{30}}, content.first) && rig_.all_are({{31}}, content.second));
      ++served_;
    }
  }

  std::uint32_t loads() const { return loads_; }
  std::uint32_t served() const { return served_; }

 private:
  std::vector<BlockId> pick(std::size_t count) {
    std::vector<BlockId> all(Rig::kBlocks);
    std::iota(all.begin(), all.end(), 0u);
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(count);
    return all;
  }

  // Compute, fenced as the engine says, and sometimes only asked for, not done.
  void write(const std::vector<BlockId>& blocks) {
    auto fences = rig_.engine->fences_for_write(blocks);
    while (fences.code() == Code::busy) {
      EXPECT_TRUE(rig_.engine->poll().ok());
      EXPECT_TRUE(rig_.device.wait_any(rig_.engine->open_points(), Nanos::max()).ok());
      fences = rig_.engine->fences_for_write(blocks);
    }
    for (const BlockId block : blocks) {
      blocks_[block] = static_cast<Content>(random_() % 6);
      rig_.engine->note_write({{block}}, rig_.fill({{block}}, blocks_[block], *fences));
    }
  }

  void offload(std::size_t chunks) {
    const auto blocks = pick(chunks * Rig::kBlocksPerChunk);
    std::vector<ChunkKey> keys;
    for (std::size_t i = 0; i < blocks.size(); i += 2) {
      const Content first = blocks_[blocks[i]], second = blocks_[blocks[i + 1]];
      keys.push_back(key_of(first, second));
      offloaded_[keys.back()] = {first, second};
    }
    const Offer offer = random_() % 4 == 0 ? Offer::used : Offer::evicted;
    EXPECT_TRUE(rig_.engine->offload(keys, blocks, {.offer = offer}).ok());
    EXPECT_TRUE(rig_.engine->offload(keys, blocks, {.offer = Offer::used}).ok());  // another use
    protect_one_of(keys);
  }

  // Or no longer. A refusal is none of the model's business.
  void protect_one_of(const std::vector<ChunkKey>& keys) {
    (void)rig_.engine->protect(keys[random_() % keys.size()], random_() % 2 == 0);
  }

  void load(std::size_t chunks) {
    std::vector<ChunkKey> keys;
    std::vector<Content> contents;
    for (const auto& [key, content] : offloaded_) {
      if (keys.size() == chunks || rig_.engine->lookup({&key, 1}) == 0 || random_() % 3 == 0) {
        continue;
      }
      keys.push_back(key);
      contents.insert(contents.end(), {content.first, content.second});
    }
    const auto blocks = pick(contents.size());
    EXPECT_TRUE(rig_.engine->load(keys, blocks).ok());
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks_[blocks[i]] = contents[i];
    loads_ += static_cast<std::uint32_t>(keys.size());
  }

  void let_time_pass() {
    const Nanos until = rig_.device.now() + Nanos(random_() % 20000);
    EXPECT_FALSE(rig_.device.wait_any({}, until).ok());  // a timeout
  }

  Rig& rig_;
  std::mt19937 random_;
  std::map<BlockId, Content> blocks_;
  std::map<ChunkKey, std::pair<Content, Content>> offloaded_;
  std::uint32_t loads_ = 0, served_ = 0;
};

// The last: small transfers by one way, larger ones by others, so that they meet in a lane.
CopyChoice choice(std::uint32_t index) {
  if (index < kCopyPaths) return static_cast<CopyPath>(index);
  std::vector<CopyRule> rules;
  for (const Direction direction : {Direction::offload, Direction::load}) {
    rules.push_back({direction, 0, 0, CopyPath::dma});
    rules.push_back({direction, 0, 2 * Rig::kBlocksPerChunk, CopyPath::staged});
    rules.push_back({direction, 0, 3 * Rig::kBlocksPerChunk, CopyPath::kernel});
  }
  return CopyChoice(rules);
}

struct EngineRandomTest : testing::TestWithParam<std::uint32_t> {};

TEST_P(EngineRandomTest, AgreesWithAPlainModel) {
  const std::uint32_t seed = GetParam();
  Rig rig({.layout = seed % 2 == 0 ? Layout::block_first : Layout::layer_first,
           .tier_chunks = 4 + seed % 9,
           .lane_chunks = 2 + seed % 3,
           .eviction = static_cast<Eviction>(seed % 3),
           .store = static_cast<StorePolicy>(seed / 3 % 3),
           .copy = choice(seed / 2 % (kCopyPaths + 1))},
          {.max_regions = seed % 4 == 3 ? 3u : 0u, .max_open_tickets = seed % 8 == 7 ? 2u : 0u});
  Model model(rig, seed);
  for (int i = 0; i < 200 && !testing::Test::HasFailure(); ++i) model.step();
  model.check_everything();
  EXPECT_GT(model.loads(), 10u);  // it did try something
  EXPECT_GT(model.served(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EngineRandomTest, testing::Range(0u, 160u));

}  // namespace
}  // namespace kvroof
