// SPDX-License-Identifier: Apache-2.0
#include "suites/ttft/whole_model.h"

#include <gtest/gtest.h>

#include "suites/serving/test_rig.h"

namespace kvroof {
namespace {

using std::chrono::milliseconds;

TEST(WholeModel, LayersAndLoadAreStretchedAndTheRestStays) {
  Restore run;
  run.ttft = milliseconds(100);
  run.outside_layers = milliseconds(10);
  run.load = milliseconds(60);
  // 10 outside, 60 of load by 2, the remaining 30 by 3.
  EXPECT_DOUBLE_EQ((Stretch{.layers = 3, .load = 2}).ttft(run), 0.010 + 0.120 + 0.090);
}

// One layer has a window of 16 tokens, the other three see everything.
ModelShape mixed() {
  ModelShape shape = small_model();
  shape.layers = 4;
  shape.kinds = {{16, false}, {0, false}, {0, false}, {0, false}};
  return shape;
}

ModelShape cut(ModelShape shape, std::uint32_t layers) {
  shape.layers = layers;
  shape.kinds.resize(layers);
  return shape;
}

std::optional<Stretch> stretch(Layout layout, PlanKind plan, std::uint32_t layers = 2) {
  constexpr std::uint32_t kTokens = 10 * kChunkTokens;
  const auto device = open_simulator();
  SessionSpec spec = spec_of(cut(mixed(), layers), kTokens, 1);
  spec.layout = layout;
  const auto session = Session::create(*device, cut(mixed(), layers), spec);
  const auto batch = RequestBatch::create(**session, kTokens, 1, 1);
  PlanRuns runs;
  runs.plan = plan;
  if (plan != PlanKind::recompute) runs.loaded = all_chunks(*batch);
  return find_stretch(**session, *batch, runs, mixed());
}

TEST(WholeModel, FactorsAreOfFlopsAndOfBytes) {
  const auto recompute = stretch(Layout::block_first, PlanKind::recompute);
  ASSERT_TRUE(recompute);
  // A token is multiplied by 64x64 for q and o, 64x32 for k and v, 3 of 64x96: 30,720 weights a
  // layer, 61,440 FLOPs, and 256 for each token that it sees (4 heads, d_qk + d_v = 32, times 2).
  // 80 tokens see 3,240 in all, in the window 80 * 16 - 120 = 1,160.
  const double windowed = 80 * 61440.0 + 256 * 1160, full = 80 * 61440.0 + 256 * 3240;
  EXPECT_DOUBLE_EQ(recompute->layers, (windowed + 3 * full) / (windowed + full));

  const auto copy = stretch(Layout::layer_first, PlanKind::copy);
  ASSERT_TRUE(copy);
  // The last token, 79, sees 64 on: the window layer loads 2 chunks of 10.
  EXPECT_DOUBLE_EQ(copy->load, (2 + 3 * 10.0) / (2 + 10.0));
  EXPECT_DOUBLE_EQ(copy->layers,
                   (4 * 61440.0 + 256 * (16 + 3 * 80)) / (2 * 61440.0 + 256 * (16 + 80)));
}

TEST(WholeModel, IsLeftOutWhereNoFactorTells) {
  EXPECT_FALSE(stretch(Layout::block_first, PlanKind::copy));
  EXPECT_FALSE(stretch(Layout::layer_first, PlanKind::hybrid));
  EXPECT_FALSE(stretch(Layout::layer_first, PlanKind::copy, 1)) << "the layer with a window alone";
  EXPECT_TRUE(stretch(Layout::layer_first, PlanKind::recompute, 1));
}

}  // namespace
}  // namespace kvroof
