// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include "suites/harness/record_check.h"
#include "suites/harness/test_folder.h"
#include "suites/harness/unavailable.h"

namespace kvroof {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Flags = std::map<std::string, std::string>;

Grid parsed(const Flags& flags) {
  const auto grid = parse_grid(flags);
  EXPECT_TRUE(grid.ok()) << grid.status().text;
  return grid.ok() ? *grid : Grid{};
}

std::string refused(const Flags& flags) {
  const auto grid = parse_grid(flags);
  EXPECT_EQ(grid.code(), Code::invalid);
  return grid.status().text;
}

TEST(Grid, DefaultsAreTheQuickPreset) {
  const Grid grid = parsed({});
  EXPECT_THAT(grid.context_tokens, ElementsAre(1024, 10240, 102400));
  EXPECT_THAT(grid.batch, ElementsAre(1));
  EXPECT_THAT(grid.live, ElementsAre(0));
  EXPECT_THAT(grid.kv_dtype, ElementsAre(DType::bf16));
  EXPECT_THAT(grid.block_tokens, ElementsAre(16));
  EXPECT_THAT(grid.blocks_per_chunk, ElementsAre(16));
  EXPECT_THAT(grid.layout, ElementsAre(Layout::block_first));
  EXPECT_THAT(grid.copy, ElementsAre(CopyKind{CopyPath::dma}));
  EXPECT_THAT(grid.plan, ElementsAre(PlanKind::recompute, PlanKind::copy));
  EXPECT_THAT(grid.pipeline, ElementsAre(PipelineKind::request));
  EXPECT_THAT(grid.link, ElementsAre("native"));
  EXPECT_EQ(grid.serving_cost.text, "none");
  EXPECT_EQ(grid.cases(), 6);
  EXPECT_EQ(parsed({{"grid", "quick"}}).cases(), 6);
}

TEST(Grid, FullHasThePowersOfTwoAndFlagsOverrideIt) {
  const Grid full = parsed({{"grid", "full"}});
  EXPECT_THAT(full.context_tokens,
              ElementsAre(1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072));
  EXPECT_EQ(full.cases(), 8 * 3 * 2 * 2 * 3);
  const Grid narrowed = parsed({{"batch", "2"}, {"grid", "full"}});
  EXPECT_THAT(narrowed.batch, ElementsAre(2));
  EXPECT_EQ(narrowed.cases(), 8 * 1 * 2 * 2 * 3);
}

TEST(Grid, TakesEveryNameThatTheDesignLists) {
  const Grid grid = parsed({{"kv-dtype", "bf16,fp8,int8,f32"},
                            {"layout", "layer_first,block_first"},
                            {"copy", "dma,batch,kernel,staged,auto"},
                            {"plan", "hybrid,copy,recompute"},
                            {"pipeline", "layer,request"},
                            {"link", "native,pcie4x16,pcie5x16,20GB/s"},
                            {"host-tier", "unbounded,16GiB"},
                            {"eviction", "lru,arc,s3fifo"},
                            {"store", "immediate,second-use,on-evict"},
                            {"checksum", "off,sampled,always"},
                            {"serving-cost", "vllm"}});
  EXPECT_EQ(grid.cases(), 3ull * 4 * 2 * 5 * 3 * 2 * 4 * 2 * 3 * 3 * 3);
  EXPECT_THAT(grid.host_tier, ElementsAre(TierSize{}, TierSize{16ull << 30}));
  EXPECT_THAT(grid.store,
              ElementsAre(StorePolicy::immediate, StorePolicy::second_use, StorePolicy::on_evict));
  EXPECT_THAT(grid.plan, ElementsAre(PlanKind::hybrid, PlanKind::copy, PlanKind::recompute));
  EXPECT_DOUBLE_EQ(grid.serving_cost.first_step_seconds, 0.003);
  EXPECT_DOUBLE_EQ(grid.serving_cost.prepare_seconds_per_16_tokens, 5e-6);
  EXPECT_DOUBLE_EQ(parsed({{"serving-cost", "0.002"}}).serving_cost.first_step_seconds, 0.002);
}

TEST(Grid, ErrorsNameFlagValueAndWhatIsExpected) {
  EXPECT_EQ(refused({{"context", "1k,0"}}),
            "--context: '0' is not a whole number from 1 to 16777216 (10k means 10240)");
  EXPECT_EQ(refused({{"plan", "copy,teleport"}}),
            "--plan: 'teleport' is not known, expected one of recompute, copy, hybrid");
  EXPECT_EQ(refused({{"layout", "block_first,block_first"}}),
            "--layout: 'block_first' is given twice");
  EXPECT_EQ(refused({{"context", "1k,1024"}}), "--context: 1024 is given twice");
  EXPECT_EQ(refused({{"grid", "huge"}}), "--grid: 'huge' is not known, expected quick or full");
  EXPECT_THAT(refused({{"link", "isa"}}), AllOf(HasSubstr("--link: 'isa'"), HasSubstr("pcie4x16")));
  EXPECT_THAT(refused({{"serving-cost", "-1"}}), HasSubstr("--serving-cost: '-1'"));
  EXPECT_THAT(refused({{"kv-dtype", "i32"}}), HasSubstr("--kv-dtype: 'i32'"));
  EXPECT_THAT(refused({{"colour", "red"}}), HasSubstr("--colour: is no axis"));
}

TEST(Grid, NeverCrashesOnHostileText) {
  std::mt19937_64 random(7);
  const std::string alphabet = "0123456789kKM,.…xGBis/ec-+ \t\n\xff\x80'\"abdmpn";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::size_t n = random() % 24; n > 0; --n) text += alphabet[random() % alphabet.size()];
    for (const GridFlag& flag : grid_flags()) {
      const auto grid = parse_grid({{std::string(flag.name), text}});
      if (!grid.ok()) {
        EXPECT_THAT(grid.status().text, HasSubstr("--" + std::string(flag.name)));
        EXPECT_EQ(grid.status().text.find('\n'), std::string::npos);
        continue;
      }
      EXPECT_GE(grid->cases(), 1);
    }
  }
}

TEST(Expand, GivesOneGroupAParameterSetAndContextVariesFastest) {
  const auto groups = expand(parsed({{"context", "1k,2k"}, {"batch", "1,8"}}));
  ASSERT_TRUE(groups.ok());
  ASSERT_EQ(groups->size(), 4);
  EXPECT_EQ((*groups)[0].point.context_tokens, 1024);
  EXPECT_EQ((*groups)[1].point.context_tokens, 2048);
  EXPECT_EQ((*groups)[1].point.batch, 1);
  EXPECT_EQ((*groups)[2].point.batch, 8);
  EXPECT_THAT((*groups)[3].plans, ElementsAre(PlanKind::recompute, PlanKind::copy));
  std::set<std::string> names;
  for (const auto& group : *groups) names.insert(group_name("ttft", "m", group.point));
  EXPECT_EQ(names.size(), 4);
}

TEST(Expand, RefusesMoreCasesThanAnyoneReads) {
  Grid grid;
  grid.context_tokens.assign(kMaxCases / 2, 16);
  EXPECT_TRUE(expand(grid).ok());
  grid.context_tokens.push_back(16);
  EXPECT_THAT(expand(grid).status().text, HasSubstr("100000 cases"));
}

TEST(Expand, CountsWithoutOverflowing) {
  Grid grid;
  for (auto* axis : {&grid.batch, &grid.live, &grid.block_tokens, &grid.blocks_per_chunk}) {
    axis->assign(1 << 17, 1);
  }
  EXPECT_EQ(grid.cases(), UINT64_MAX);
  EXPECT_FALSE(expand(grid).ok());
}

TEST(Params, AreOfTheRecordsNames) {
  const Json params = case_params(GridPoint{.context_tokens = 4096}, PlanKind::copy);
  EXPECT_EQ(params["context_tokens"], 4096);
  EXPECT_EQ(params["kv_dtype"], "bf16");
  EXPECT_EQ(params["plan"], "copy");
  Case one;
  one.suite = "ttft";
  one.params = params;
  EXPECT_EQ(check_case(one).text, "");
}

TEST(Params, HaveTheTiersBytesOrUnbounded) {
  EXPECT_EQ(group_params(GridPoint{})["host_tier"], "unbounded");
  EXPECT_EQ(group_params(GridPoint{.host_tier = {1 << 30}})["host_tier"], 1 << 30);
  EXPECT_EQ(refused({{"host-tier", "0"}}),
            "--host-tier: '0' is not a number of bytes above 0, such as 16GiB or 100000000, or "
            "unbounded");
  EXPECT_THAT(refused({{"eviction", "mru"}}), HasSubstr("expected one of lru, arc, s3fifo"));
  EXPECT_THAT(refused({{"store", "second_use"}}), HasSubstr("immediate, second-use, on-evict"));
}

TEST(Params, NameTheKeyedHashAndNeverItsSecret) {
  const TestFolder folder;
  const std::string path = folder / "secret";
  const std::string secret = "correct horse battery staple";
  std::ofstream(path) << secret << '\n';
  const Grid grid = parsed({{"tenant-secret", path}, {"check-tokens", "on"}});
  EXPECT_EQ(grid.key_hash, KeyHash(secret_of(secret))) << "without the end of its line";
  EXPECT_EQ(grid_json(grid)["key_hash"], "siphash");
  const Json params = case_params(expand(grid)->front().point, PlanKind::copy);
  EXPECT_EQ(params["key_hash"], "siphash");
  EXPECT_EQ(params["check_tokens"], "on");
  EXPECT_THAT(params.dump() + grid_json(grid).dump(), Not(HasSubstr("horse")));
  EXPECT_EQ(group_params(GridPoint{})["key_hash"], "xxh3");
}

TEST(Params, ASecretThatCanBeGuessedIsRefusedAndNotRepeated) {
  const TestFolder folder;
  const std::string path = folder / "secret";
  std::ofstream(path) << "swordfish\n";
  const std::string said = refused({{"tenant-secret", path}});
  EXPECT_THAT(said, AllOf(HasSubstr("--tenant-secret: "), HasSubstr(path), HasSubstr("9 bytes"),
                          Not(HasSubstr("swordfish"))));
  EXPECT_THAT(refused({{"tenant-secret", path + ".none"}}), HasSubstr("expected a regular file"));
  EXPECT_THAT(refused({{"check-tokens", "maybe"}}), HasSubstr("takes no value"));
}

TEST(GroupName, HasEveryParamButThePlan) {
  EXPECT_EQ(group_name("ttft", "llama-3.1-8b", GridPoint{.context_tokens = 10240}),
            "ttft/llama-3.1-8b/context:10240/batch:1/live:0/kv_dtype:bf16/block_tokens:16/"
            "blocks_per_chunk:16/layout:block_first/copy:dma/pipeline:request/link:native/"
            "host_tier:unbounded/disk_bytes:none/eviction:lru/store:immediate/"
            "max_offload_tokens:0/max_load_tokens:0/checksum:off/check_tokens:off/key_hash:xxh3/"
            "serving_cost:none");
}

TEST(Unavailable, SkipsWhatThisBuildCannotDoAndNothingElse) {
  EXPECT_EQ(unavailable(GridPoint{}), "");
  EXPECT_EQ(unavailable(GridPoint{.kv_dtype = DType::f32, .layout = Layout::layer_first}), "");
  EXPECT_EQ(unavailable(GridPoint{.copy = {CopyPath::staged}}), "");
  EXPECT_NE(unavailable(GridPoint{.pipeline = PipelineKind::layer}), "");
  GridPoint apart{.layout = Layout::layer_first, .pipeline = PipelineKind::layer};
  EXPECT_EQ(unavailable(apart), "");
  apart.copy = {CopyPath::staged};
  EXPECT_NE(unavailable(apart), "");
  apart.copy = kCopyAuto;
  EXPECT_NE(unavailable(apart), "");
  apart.copy = {CopyPath::dma};
  apart.disk.bytes = 1;
  EXPECT_NE(unavailable(apart), "");
  EXPECT_EQ(unavailable(GridPoint{.disk = {1}}), "");
}

}  // namespace
}  // namespace kvroof
