// SPDX-License-Identifier: Apache-2.0
// What prefill submits, on the simulator: the ops of a step, how requests are packed into steps,
// and that the priced time is that of the FLOPs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/registry/registry.h"
#include "backends/sim/test_profile.h"
#include "kernels/prefill/memory_plan.h"
#include "kernels/prefill/prefill.h"
#include "kernels/prefill/step_plan.h"

namespace kvroof {
namespace {

ModelShape small() {
  ModelShape shape;
  shape.layers = 3;
  shape.hidden = 256;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_dim = 64;
  shape.intermediate = 512;
  shape.vocab = 1000;
  return shape;
}

class PrefillOnSim : public testing::Test {
 protected:
  static constexpr std::uint32_t kBlocks = 512, kBlockTokens = 16;

  PrefillOnSim() {
    DeviceSpec spec = *parse_device("sim:test");
    spec.profile_text = sim::test_profile();
    device_ = std::move(*open_device(spec));
  }

  std::unique_ptr<Buffer> buffer(std::uint64_t bytes) {
    return std::move(*device_->allocate({.bytes = bytes, .backed = false}));
  }

  std::unique_ptr<Prefill> make(const ModelShape& shape, std::uint32_t step_tokens,
                                bool op_by_op = true) {
    PrefillConfig config;
    config.op_by_op = op_by_op;
    config.shape = shape;
    std::uint64_t cache_bytes = 0;
    for (const KvGroup& group : kv_groups(shape)) {
      config.kv.push_back(
          make_kv_layout(shape, group, DType::bf16, Layout::block_first, kBlockTokens, kBlocks));
      cache_bytes = std::max(cache_bytes, config.kv.back().cache_bytes());
    }
    groups_ = config.kv.size();
    config.step_tokens = step_tokens;
    config.backed = false;
    cache_ = buffer(cache_bytes);
    ids_ = buffer(kBlocks * kBlockTokens * 4);
    table_ = buffer(kBlocks * 4);
    logits_ = buffer(4ull * shape.vocab * 4);
    auto prefill = Prefill::create(*device_, config);
    EXPECT_TRUE(prefill.ok()) << prefill.status().text;
    return std::move(*prefill);
  }

  // `slot`: where its logits go; -1: nowhere.
  PrefillRequest request(std::uint32_t past, std::uint32_t tokens, int slot) {
    PrefillRequest out;
    out.token_ids = {ids_.get(), 0, tokens * 4ull};
    const Span cache{cache_.get(), 0, cache_->facts().bytes};
    const Span table{table_.get(), 0, table_->facts().bytes};
    out.kv.assign(groups_, {cache, table});
    out.past = past;
    out.tokens = tokens;
    const std::uint64_t bytes = logits_->facts().bytes / 4;
    if (slot >= 0) out.logits = {logits_.get(), static_cast<std::uint64_t>(slot) * bytes, bytes};
    return out;
  }

  // One token behind `past`, with row `row` of the block table to itself.
  PrefillRequest decoding(std::uint32_t row, std::uint32_t past, int slot) {
    PrefillRequest out = request(past, 1, slot);
    const std::uint64_t bytes = (past / kBlockTokens + 1) * 4;
    for (KvSpans& kv : out.kv) kv.block_table = {table_.get(), row * bytes, bytes};
    return out;
  }

  struct Run {
    Ticket ops;
    PrefillTimes times;
    double seconds() const {
      return std::chrono::duration<double>(times.end - times.begin).count();
    }
  };
  Run run(Prefill& prefill, std::vector<PrefillRequest> requests) {
    const Ticket before = last_;
    const auto ticket = prefill.submit(requests, {});
    EXPECT_TRUE(ticket.ok()) << ticket.status().text;
    last_ = *ticket;
    EXPECT_TRUE(prefill.finish(last_).ok());
    return {last_ - before, prefill.times()};
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Buffer> cache_, ids_, table_, logits_;
  std::size_t groups_ = 0;  // of the model's layers
  Ticket last_ = 0;
};

// A layer is 2 norms, 4 GEMMs, an activation, and rope with append and attention a request.
constexpr Ticket kLayerOps = 7, kSegmentOps = 2;

TEST_F(PrefillOnSim, SubmitsTheOpsOfALlama) {
  const ModelShape shape = small();
  const auto prefill = make(shape, 256);
  const Ticket layers = shape.layers * (kLayerOps + kSegmentOps);
  EXPECT_EQ(run(*prefill, {request(0, 100, -1)}).ops, 1 + layers);
  EXPECT_EQ(run(*prefill, {request(0, 100, 0)}).ops, 1 + layers + 2);
  const Ticket two = shape.layers * (kLayerOps + 2 * kSegmentOps);
  EXPECT_EQ(run(*prefill, {request(0, 100, 0), request(0, 20, 1)}).ops, 2 + two + 2 + 1)
      << "logits that lie side by side share one GEMM";
  EXPECT_EQ(run(*prefill, {request(0, 100, 0), request(0, 20, 2)}).ops, 2 + two + 2 + 2);
  EXPECT_EQ(run(*prefill, {request(0, 600, 0)}).ops, 3 * (1 + layers) + 2) << "256 + 256 + 88";
}

TEST_F(PrefillOnSim, LayersThatCostTheSameAreOnePieceOfWorkOfTheSameTime) {
  ModelShape shape = small();
  shape.layers = 12;
  const auto apart = make(shape, 256), together = make(shape, 256, false);
  const std::vector<PrefillRequest> work{request(0, 700, 0)};
  const Run ops = run(*apart, work), runs = [&] {
    last_ = 0;
    return run(*together, work);
  }();
  EXPECT_EQ(runs.ops, 3u * 3 + 1) << "a step: embedding, first layer, the others; once the head";
  EXPECT_NEAR(runs.seconds() / ops.seconds(), 1, 0.02);
  EXPECT_NEAR(static_cast<double>(runs.times.outside_layers.count()),
              static_cast<double>(ops.times.outside_layers.count()),
              0.02 * static_cast<double>(ops.times.end.count() - ops.times.begin.count()));
}

TEST_F(PrefillOnSim, PricedTimeFollowsTheWork) {
  ModelShape shape = small();
  shape.hidden = 2048;  // GEMMs of the order of their FLOPs rather than of their weights' bytes
  shape.intermediate = 8192;
  const auto prefill = make(shape, 8192);
  const Run one = run(*prefill, {request(0, 2048, -1)}),
            two = run(*prefill, {request(0, 4096, -1)});
  EXPECT_NEAR(two.seconds() / one.seconds(), 2, 0.1);
  const double floor = prefill_flops(shape, 0, 4096) / 100e12;  // the test profile's peak
  EXPECT_GT(two.seconds(), floor);
  EXPECT_LT(two.seconds(), 1.5 * floor);
  const Run late = run(*prefill, {request(4000, 2048, -1)});
  EXPECT_GT(late.seconds(), one.seconds()) << "a longer past costs attention";
}

TEST_F(PrefillOnSim, TimesAreSplitByOpAndByWhatScalesWithLayers) {
  const auto prefill = make(small(), 256);
  const Run with = run(*prefill, {request(0, 200, 0)}),
            without = run(*prefill, {request(0, 200, -1)});
  Nanos sum{};
  for (const Nanos each : with.times.by_op) sum += each;
  EXPECT_LE(sum, with.times.end - with.times.begin);
  EXPECT_GT(sum, Nanos{});
  EXPECT_GT(with.times.outside_layers, without.times.outside_layers);
  EXPECT_GT(without.times.outside_layers, Nanos{}) << "the embedding";
  EXPECT_EQ(
      with.times.outside_layers - without.times.outside_layers, sum - [&] {
        Nanos other{};
        for (const Nanos each : without.times.by_op) other += each;
        return other;
      }());
}

TEST_F(PrefillOnSim, MoreOpsThanTheQueueHoldsWaitForRoom) {
  const auto prefill = make(small(), 1);  // a step a token
  const std::uint32_t tokens = 400;
  const Run all = run(*prefill, {request(0, tokens, 0)});
  EXPECT_GT(all.ops, device_->info().max_open_tickets);
  EXPECT_EQ(all.ops, tokens * (1 + 3 * (kLayerOps + kSegmentOps)) + 2);
}

TEST_F(PrefillOnSim, SizesAreKnownBeforehand) {
  const ModelShape shape = small();
  const auto prefill = make(shape, 256);
  EXPECT_EQ(prefill->weight_bytes(), prefill_weight_bytes(shape, DType::bf16));
  EXPECT_EQ(prefill->activation_bytes(), prefill_activation_bytes(shape, DType::bf16, 256));
  const std::uint64_t parameters = total_parameters(shape) * 2;
  EXPECT_GE(prefill->weight_bytes(), parameters);
  EXPECT_LT(prefill->weight_bytes(), parameters + parameters / 50) << "alignment and rope's table";
  ModelShape tied = shape;
  tied.tied_embeddings = true;
  EXPECT_LE(prefill_weight_bytes(tied, DType::bf16) + head_parameters(shape) * 2,
            prefill->weight_bytes());
}

TEST_F(PrefillOnSim, FencesHoldItBackAndTheirFailureIsReportedOnce) {
  const auto prefill = make(small(), 256);
  const std::vector<PrefillRequest> requests{request(0, 10, 0)};
  auto holder = std::move(*device_->open_queue(QueueKind::compute, Priority::normal));
  const Point fence{holder.get(), *holder->submit({.fences = {}, .body = Hold{1}})};
  const Ticket ticket = *prefill->submit(requests, {&fence, 1});
  holder.reset();  // aborts the hold
  EXPECT_EQ(prefill->finish(ticket).code, Code::aborted);
  EXPECT_EQ(prefill->finish(ticket).code, Code::aborted) << "asked again, the same";
  EXPECT_TRUE(prefill->finish(*prefill->submit(requests, {})).ok());
}

TEST_F(PrefillOnSim, RefusesWhatItCannotDo) {
  const auto prefill = make(small(), 256);
  EXPECT_EQ(prefill->submit({}, {}).code(), Code::invalid);
  PrefillRequest bad = request(0, 0, 0);
  EXPECT_EQ(prefill->submit({&bad, 1}, {}).code(), Code::invalid);
  bad = request(0, 10, 0);
  bad.token_ids.bytes = 39;
  EXPECT_EQ(prefill->submit({&bad, 1}, {}).code(), Code::invalid);
  bad = request(0, 10, 0);
  bad.logits.bytes -= 4;
  EXPECT_EQ(prefill->submit({&bad, 1}, {}).code(), Code::invalid);

  PrefillConfig config;
  EXPECT_EQ(Prefill::create(*device_, config).code(), Code::invalid) << "an empty shape";
  config.shape = small();
  EXPECT_EQ(Prefill::create(*device_, config).code(), Code::invalid) << "another model's KV";
  config.kv = {make_kv_layout(config.shape, DType::fp8, Layout::block_first, 16, 8)};
  config.dtype = DType::fp8;
  EXPECT_EQ(Prefill::create(*device_, config).code(), Code::invalid);
}

TEST_F(PrefillOnSim, HeadNormsArePriced) {
  ModelShape shape = small();
  auto prefill = make(shape, 256);
  const Run plain = run(*prefill, {request(0, 100, 0)});
  prefill.reset();
  last_ = 0;
  shape.qk_norm = true;
  prefill = make(shape, 256);
  const Run normed = run(*prefill, {request(0, 100, 0)});
  EXPECT_EQ(normed.ops, plain.ops + shape.layers);
  EXPECT_GT(normed.seconds(), plain.seconds());
}

ModelShape mixed() {
  ModelShape shape = small();
  shape.layers = 4;
  shape.experts = Experts{.total = 8, .active = 2, .shared = 1, .intermediate = 64};
  shape.kinds = {{0, false}, {64, true}, {0, true}, {64, true}};
  shape.qk_norm = shape.outer_norms = shape.sinks = true;
  shape.biases = {true, true, true};
  return shape;
}

ModelShape with_latents() {
  ModelShape shape = small();
  shape.kv_heads = shape.heads;
  shape.latent =
      LatentAttention{.q_rank = 96, .kv_rank = 128, .nope_dim = 32, .rope_dim = 16, .v_dim = 32};
  shape.ranks = 2;
  return shape;
}

TEST_F(PrefillOnSim, LayersOfAKindStandForOneAnother) {
  for (ModelShape shape : {mixed(), with_latents()}) {
    shape.hidden = 2048, shape.intermediate = 4096;  // longer than submitting them one by one
    double seconds[2];
    for (const bool op_by_op : {false, true}) {
      last_ = 0;
      auto prefill = make(shape, 256, op_by_op);
      seconds[op_by_op ? 1 : 0] = run(*prefill, {request(0, 300, 0), request(40, 5, 1)}).seconds();
    }
    EXPECT_GT(seconds[0], 0);
    EXPECT_NEAR(seconds[0], seconds[1], 1e-6) << "nanoseconds an op, and the first submission";
  }
}

TEST_F(PrefillOnSim, WeightsAreAllOfTheParameters) {
  for (const ModelShape& shape : {small(), mixed(), with_latents()}) {
    const std::uint64_t bytes = prefill_weight_bytes(shape, DType::bf16);
    const std::uint64_t exact = 2 * total_parameters(shape);
    EXPECT_GE(bytes + 2 * shape.layers * shape.head_dim, exact);
    EXPECT_LE(bytes, exact + 256ull * 16 * (shape.layers + 1)) << "but for alignment";
  }
}

// The products with weights take the FLOPs of P and the head: latents' expansion is attention's.
TEST_F(PrefillOnSim, ProductsAreThoseOfTheParameters) {
  constexpr std::uint32_t kTokens = 1000;
  for (const ModelShape& shape : {small(), with_latents()}) {
    last_ = 0;
    auto prefill = make(shape, kTokens);
    const Run ran = run(*prefill, {request(0, kTokens, -1)});
    std::uint64_t products = body_parameters(shape);
    if (const auto& a = shape.latent) {
      products -= std::uint64_t{shape.layers} * shape.heads * (a->nope_dim + a->v_dim) * a->kv_rank;
    }
    const double seconds = std::chrono::duration<double>(ran.times.by_op[0]).count();
    const double flops = 2.0 * static_cast<double>(products) * kTokens;
    EXPECT_NEAR(seconds * 100e12, flops, 0.01 * flops);
  }
}

TEST_F(PrefillOnSim, RidersArePartOfEveryStep) {
  auto prefill = make(small(), 256);
  const Run alone = run(*prefill, {request(0, 500, 0)});
  const std::vector<PrefillRequest> one{request(0, 500, 0)},
      riders{request(100, 1, 1), request(200, 1, 2)};
  const auto ticket = prefill->submit(one, {}, nullptr, riders);
  ASSERT_TRUE(ticket.ok()) << ticket.status().text;
  ASSERT_TRUE(prefill->finish(*ticket).ok());
  // In two steps: append and attention a layer and rider, embedding, norm and head.
  const Ticket added = *ticket - last_ - alone.ops;
  EXPECT_EQ(added, 2 * (2 * (2 * small().layers + 1 + 1)) + 1) << "heads of neighbours are one";
  const std::vector<PrefillRequest> crowd(256, request(0, 1, -1));
  EXPECT_EQ(prefill->submit(one, {}, nullptr, crowd).code(), Code::invalid);
}

TEST_F(PrefillOnSim, EqualSequencesDecodeInOneOpALayer) {
  const auto prefill = make(small(), 256);
  const Ticket one = run(*prefill, {decoding(0, 100, -1)}).ops;
  EXPECT_EQ(one, 1 + small().layers * (kLayerOps + kSegmentOps));
  const auto decode = [&](const std::vector<std::uint32_t>& rows, std::uint32_t past) {
    std::vector<PrefillRequest> requests;
    for (const std::uint32_t row : rows) requests.push_back(decoding(row, past, -1));
    return run(*prefill, requests).ops;
  };
  const Ticket embedding = 1, apart = embedding + small().layers * kSegmentOps;
  EXPECT_EQ(decode({0, 1, 2, 3}, 100), one + 3 * embedding);
  EXPECT_EQ(decode({0, 1, 3}, 100), one + embedding + apart) << "a gap in the table";
  EXPECT_EQ(decode({1, 0}, 100), one + apart) << "rows the other way round";
  EXPECT_EQ(run(*prefill, {decoding(0, 100, -1), decoding(1, 101, -1)}).ops, one + apart)
      << "another past";
}

TEST_F(PrefillOnSim, EqualSequencesOfLatentsAndWindowsDecodeTogetherToo) {
  for (const ModelShape& shape : {mixed(), with_latents()}) {
    last_ = 0;
    const auto prefill = make(shape, 256);
    const Ticket one = run(*prefill, {decoding(0, 100, -1)}).ops;
    const Ticket three =
        run(*prefill, {decoding(0, 100, -1), decoding(1, 100, -1), decoding(2, 100, -1)}).ops;
    EXPECT_EQ(three, one + 2) << "their embeddings";
  }
}

class SegmentBatches : public PrefillOnSim {
 protected:
  std::vector<SegmentBatch> batches(const std::vector<PrefillRequest>& requests) {
    const auto steps = plan_steps(requests, 256);
    EXPECT_EQ(steps.size(), 1u);
    return batch_segments(steps.front(), requests, 0, kBlockTokens);
  }
  std::unique_ptr<Prefill> prefill_ = make(small(), 256);
};

TEST_F(SegmentBatches, SpanTheirRowsOfTheTable) {
  const auto made = batches({request(0, 10, -1), decoding(3, 100, -1), decoding(4, 100, -1)});
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].sequences, 1u);
  EXPECT_EQ(made[0].kv.block_table.bytes, table_->facts().bytes) << "as it was given";
  EXPECT_EQ(made[1].sequences, 2u);
  EXPECT_EQ(made[1].row, 10u);
  EXPECT_EQ(made[1].tokens, 1u);
  EXPECT_EQ(made[1].past, 100u);
  EXPECT_EQ(made[1].kv.block_table.offset, 3u * 7 * 4) << "101 tokens fill 7 blocks";
  EXPECT_EQ(made[1].kv.block_table.bytes, 2u * 7 * 4);
}

TEST_F(SegmentBatches, AreOfOneBufferOneCacheAndExactRows) {
  const PrefillRequest first = decoding(0, 100, -1);
  PrefillRequest other = decoding(1, 100, -1);
  ASSERT_EQ(batches({first, other}).size(), 1u);
  other.kv[0].cache.bytes -= 2;
  EXPECT_EQ(batches({first, other}).size(), 2u);
  other = decoding(1, 100, -1);
  other.kv[0].block_table.buffer = ids_.get();
  EXPECT_EQ(batches({first, other}).size(), 2u);
  other = decoding(1, 100, -1);
  other.kv[0].block_table.bytes += 4;
  EXPECT_EQ(batches({first, other}).size(), 2u) << "the next row would begin too early";
  other.kv[0].block_table.bytes -= 8;
  EXPECT_EQ(batches({first, other}).size(), 2u) << "too short: for the op to refuse";
  PrefillRequest longer = first;
  longer.kv[0].block_table.bytes += 4;
  other = decoding(1, 100, -1);
  other.kv[0].block_table.offset += 4;
  EXPECT_EQ(batches({longer, other}).size(), 2u);
  other = decoding(1, 100, -1);
  other.tokens = 3;  // in as many blocks
  EXPECT_EQ(batches({first, other}).size(), 2u);
}

}  // namespace
}  // namespace kvroof
