// SPDX-License-Identifier: Apache-2.0
// Restoring layer by layer: each layer's attention waits for its own KV alone.
#include <gtest/gtest.h>

#include "suites/serving/test_rig.h"

namespace kvroof {
namespace {

struct ByLayerRig : Rig {
  ByLayerRig(std::unique_ptr<Device> inner, std::uint32_t tokens, std::uint32_t requests,
             const ModelShape& shape = small_model())
      : Rig(std::move(inner), tokens, requests, shape, Layout::layer_first) {
    batch.by_layer = true;
  }
};

TEST(ByLayerOnHost, TheRestIsComputedFromWhatWasLoaded) {
  for (const ChunkRange range : {ChunkRange{0, 5}, ChunkRange{2, 3}, ChunkRange{1, 2}}) {
    ByLayerRig rig(open_host(), 5 * kChunkTokens + 3, 2);
    const auto done = restore(*rig.session, rig.batch, range, {});
    ASSERT_TRUE(done.ok()) << done.status().text;
    EXPECT_EQ(done->chunks_loaded, 2 * range.count);
    EXPECT_EQ(done->failed_loads, 0u);
    EXPECT_LT(rig.difference(), 1e-5);
  }
}

TEST(ByLayerOnHost, MoreStepsThanOneWaitForTheirLayersToo) {
  ByLayerRig rig(open_host(), 8 * kChunkTokens, 1);  // the last four chunks are two steps
  const auto done = restore(*rig.session, rig.batch, {0, 4}, {});
  ASSERT_TRUE(done.ok()) << done.status().text;
  EXPECT_LT(rig.difference(), 1e-5);
}

TEST(ByLayerOnHost, ARequestOneOfWhoseLayersFailsIsRecomputed) {
  for (const int failing : {1, 3, 4, 6, 7, 12}) {  // of three chunks' two layers, two requests
    ByLayerRig rig(open_host(), 3 * kChunkTokens + 1, 2);
    rig.plant_failing_load(failing);
    const auto done = copy(*rig.session, rig.batch, {});
    ASSERT_TRUE(done.ok()) << done.status().text;
    EXPECT_EQ(done->failed_loads, 1u) << failing;
    EXPECT_EQ(done->chunks_loaded, 5u);
    EXPECT_LT(rig.difference(), 1e-5) << failing;
  }
}

TEST(ByLayerOnSim, LayersAreComputedWhileTheNextAreLoaded) {
  ModelShape shape = heavy_model();
  shape.layers = 4;
  shape.intermediate = 1024;
  shape.heads = shape.kv_heads = 16;  // copies that take longer than to submit them
  shape.head_dim = 128;
  ByLayerRig rig(open_simulator(), 20 * kChunkTokens, 1, shape);
  const auto by_layer = copy(*rig.session, rig.batch, {});
  rig.batch.by_layer = false;
  const auto by_request = copy(*rig.session, rig.batch, {});
  ASSERT_TRUE(by_layer.ok() && by_request.ok());
  EXPECT_EQ(by_layer->bytes_loaded, by_request->bytes_loaded);
  const Nanos compute = by_request->ttft - by_request->load_end;
  EXPECT_LT(by_layer->ttft, by_request->ttft - std::min(compute, by_request->load) / 2);
  EXPECT_GE(by_layer->ttft, std::max(compute, by_layer->load));
}

}  // namespace
}  // namespace kvroof
