// SPDX-License-Identifier: Apache-2.0
// Tests only: a small batch whose KV is in the host tier, on the host or on the made-up simulator.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "backends/faults/faulty_device.h"
#include "backends/registry/registry.h"
#include "backends/sim/adapter.h"
#include "backends/sim/test_profile.h"
#include "suites/serving/kv_contents.h"
#include "suites/serving/restore.h"

namespace kvroof {

constexpr std::uint32_t kChunkTokens = 8;  // 2 blocks of 4

inline ModelShape small_model() {
  ModelShape shape;
  shape.name = "small";
  shape.layers = 2;
  shape.hidden = 64;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_dim = 16;
  shape.intermediate = 96;
  shape.vocab = 97;
  shape.max_position = 4096;
  return shape;
}

// As little KV, but half a millisecond a pass on the made-up device, for its weights alone.
inline ModelShape heavy_model() {
  ModelShape shape = small_model();
  shape.hidden = 4096;
  shape.intermediate = 4096;
  return shape;
}

inline SessionSpec spec_of(const ModelShape& shape, std::uint32_t tokens, std::uint32_t batch,
                           Layout layout = Layout::block_first) {
  SessionSpec spec;
  spec.layout = layout;
  spec.dtype = spec.kv_dtype = DType::f32;
  spec.block_tokens = 4;
  spec.blocks_per_chunk = 2;
  spec.blocks = batch * ((tokens + 3) / 4);
  spec.sequences = spec.restored = batch;
  spec.sequence_tokens = tokens;
  spec.step_tokens = 16;
  spec.host_tier_bytes = session_layouts(shape, spec).front().cache_bytes();
  return spec;
}

inline std::unique_ptr<Device> open_simulator() {
  DeviceSpec spec;
  spec.adapter = "sim";
  spec.profile_text = sim::test_profile();
  return std::move(*sim::open(spec));
}

// A batch whose KV was computed and offloaded, and whose cache was wiped since.
struct Rig {
  Rig(std::unique_ptr<Device> inner, std::uint32_t tokens, std::uint32_t requests,
      const ModelShape& shape = small_model(), Layout layout = Layout::block_first)
      : device(std::move(inner)),
        session(
            std::move(*Session::create(device, shape, spec_of(shape, tokens, requests, layout)))),
        batch(std::move(*RequestBatch::create(*session, tokens, requests, 5))) {
    EXPECT_TRUE(recompute(*session, batch, {}).ok());
    full = logits();
    EXPECT_TRUE(offload(*session, batch).ok());
    EXPECT_TRUE(wipe(*session, batch).ok());
  }

  std::vector<float> logits() {
    std::vector<float> all;
    for (const Request& request : batch.requests) {
      std::vector<float> one(session->shape.vocab);
      const Span from{request.logits.get(), 0, one.size() * sizeof(float)};
      EXPECT_TRUE(read_device(*session, std::as_writable_bytes(std::span(one)), from).ok());
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  // The largest difference from the full prefill's logits, in their largest. NaN where any is.
  double difference() {
    const std::vector<float> now = logits();
    double most = 0, scale = 0;
    for (std::size_t i = 0; i < full.size(); ++i) {
      if (std::isnan(now[i])) return NAN;
      most = std::max(most, std::abs(double{now[i]} - full[i]));
      scale = std::max(scale, std::abs(double{full[i]}));
    }
    return most / scale;
  }

  // The n-th copy into the device from now on fails.
  void plant_failing_load(int n) {
    device.faults.fails = [this, n](QueueKind kind, Ticket) {
      return kind == QueueKind::copy_in && ++copies == n;
    };
  }

  FaultyDevice device;
  std::unique_ptr<Session> session;
  RequestBatch batch;
  std::vector<float> full;
  int copies = 0;
};

inline std::unique_ptr<Device> open_host() {
  return std::move(*open_device(*parse_device("host")));
}

}  // namespace kvroof
