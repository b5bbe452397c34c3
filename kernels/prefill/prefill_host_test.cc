// SPDX-License-Identifier: Apache-2.0
// Prefill on the host device against a plain float64 transformer, with the cache's blocks shuffled:
// in one step and in many, after a cached prefix, packed beside another request, and decoding in
// one op with another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "backends/registry/registry.h"
#include "kernels/prefill/prefill.h"
#include "kernels/prefill/reference_transformer.h"
#include "kernels/prefill/step_plan.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kSeed = 11;
using Ids = std::vector<std::int32_t>;

ModelShape grouped() {  // four query heads on two KV heads
  ModelShape shape;
  shape.layers = 3;
  shape.hidden = 128;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_dim = 32;
  shape.intermediate = 320;
  shape.vocab = 511;
  return shape;
}

ModelShape llama_3_like() {  // tied, stretched rope, a head_dim that isn't hidden / heads
  ModelShape shape = grouped();
  shape.layers = 2;
  shape.hidden = 96;
  shape.heads = 3;
  shape.kv_heads = 1;
  shape.head_dim = 64;
  shape.tied_embeddings = true;
  shape.rope_theta = 500000;
  shape.rope_scaling = RopeScaling{32, 1, 4, 64};  // so short that these tests' waves feel it
  return shape;
}

Ids random_ids(std::size_t count, std::uint32_t vocab, unsigned seed) {
  std::mt19937 random(seed);
  Ids ids(count);
  for (auto& id : ids) id = static_cast<std::int32_t>(random() % vocab);
  return ids;
}

constexpr std::uint32_t kBlockTokens = 16;

// A model on the host device, with a cache whose blocks are handed out in random order.
class Model {
 public:
  Model(const ModelShape& shape, DType dtype, Layout layout, KvOrder order,
        std::uint32_t step_tokens)
      : shape_(shape), device_(std::move(*open_device(*parse_device("host")))) {
    PrefillConfig config;
    config.shape = shape;
    config.dtype = dtype;
    config.kv = {make_kv_layout(shape, dtype, layout, kBlockTokens, kBlocks)};
    config.kv.front().order = order;
    config.step_tokens = step_tokens;
    config.seed = kSeed;
    cache_ = allocate(MemoryKind::device, config.kv.front().cache_bytes());
    prefill_ = std::move(*Prefill::create(*device_, config));
    free_blocks_.resize(kBlocks);
    std::iota(free_blocks_.begin(), free_blocks_.end(), 0);
    std::shuffle(free_blocks_.begin(), free_blocks_.end(), std::mt19937(3));
  }

  // One sequence: its ids, its blocks and room for its logits on the device.
  struct Sequence {
    std::unique_ptr<Buffer> ids, logits;
    std::shared_ptr<Buffer> table;
    Span row, cache;  // its row of the table

    PrefillRequest request(std::uint32_t past, std::uint32_t tokens) const {
      const Span new_ids{ids.get(), past * 4ull, tokens * 4ull};
      return {.token_ids = new_ids,
              .kv = {{cache, row}},
              .past = past,
              .tokens = tokens,
              .logits = all(*logits)};
    }
  };

  Sequence sequence(const Ids& ids) { return std::move(neighbours({ids}).front()); }

  // Rows of one block table.
  std::vector<Sequence> neighbours(const std::vector<Ids>& several) {
    std::vector<Sequence> made;
    Ids table;
    for (const Ids& ids : several) {
      const std::uint64_t first = table.size(),
                          blocks = (ids.size() + kBlockTokens - 1) / kBlockTokens;
      table.insert(table.end(), free_blocks_.end() - static_cast<std::ptrdiff_t>(blocks),
                   free_blocks_.end());
      free_blocks_.resize(free_blocks_.size() - blocks);
      made.push_back({upload(ids), allocate(MemoryKind::device, shape_.vocab * 4ull), nullptr,
                      Span{nullptr, first * 4, blocks * 4}, all(*cache_)});
    }
    const std::shared_ptr<Buffer> shared = upload(table);
    for (Sequence& each : made) {
      each.table = shared;
      each.row.buffer = shared.get();
    }
    return made;
  }

  void run(const std::vector<PrefillRequest>& requests) {
    const auto ticket = prefill_->submit(requests, {});
    ASSERT_TRUE(ticket.ok()) << ticket.status().text;
    const Status status = prefill_->finish(*ticket);
    ASSERT_TRUE(status.ok()) << status.text;
  }

  std::vector<float> logits(const Sequence& sequence) {
    const auto host = allocate(MemoryKind::pinned, shape_.vocab * 4ull);
    copy(QueueKind::copy_out, {all(*sequence.logits), all(*host)});
    std::vector<float> out(shape_.vocab);
    std::memcpy(out.data(), host->host().data(), out.size() * 4);
    return out;
  }

 private:
  static constexpr std::uint32_t kBlocks = 24;

  static Span all(Buffer& buffer) { return {&buffer, 0, buffer.facts().bytes}; }

  std::unique_ptr<Buffer> allocate(MemoryKind kind, std::uint64_t bytes) {
    return std::move(*device_->allocate({.kind = kind, .bytes = bytes}));
  }

  std::unique_ptr<Buffer> upload(const Ids& values) {
    const auto host = allocate(MemoryKind::pinned, values.size() * 4);
    auto there = allocate(MemoryKind::device, values.size() * 4);
    std::memcpy(host->host().data(), values.data(), values.size() * 4);
    copy(QueueKind::copy_in, {all(*host), all(*there)});
    return there;
  }

  void copy(QueueKind kind, const Region& region) {
    const auto lane = std::move(*device_->open_queue(kind, Priority::normal));
    const auto ticket = lane->submit({.fences = {}, .body = Regions{.list = {&region, 1}}});
    const Point point{lane.get(), *ticket};
    ASSERT_TRUE(device_->wait_any({&point, 1}, Nanos::max()).ok());
    Completion done;
    ASSERT_EQ(*lane->reap({&done, 1}), 1u);
    ASSERT_TRUE(done.status.ok()) << done.status.text;
  }

  ModelShape shape_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Buffer> cache_;
  std::unique_ptr<Prefill> prefill_;
  Ids free_blocks_;
};

template <class Values>
double distance(const std::vector<float>& got, const Values& wanted) {
  double apart = 0, largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double w = wanted[i], g = got[i];
    if (!std::isfinite(g)) return INFINITY;
    apart = std::max(apart, std::abs(g - w));
    largest = std::max(largest, std::abs(w));
  }
  return apart / largest;
}

struct Setting {
  const char* name;
  ModelShape shape;
  DType dtype;
  Layout layout;
  double bound;  // max abs difference over max abs logit
  KvOrder order = KvOrder::nhd;
};

class PrefillOnHost : public testing::TestWithParam<Setting> {
 protected:
  // bf16 too where the CPU has no fast one: slow there, and it must still be right.
  void SetUp() override {
    wanted_ = reference_logits(GetParam().shape, GetParam().dtype, kSeed, ids_);
  }

  Model model(std::uint32_t step_tokens) const {
    return {GetParam().shape, GetParam().dtype, GetParam().layout, GetParam().order, step_tokens};
  }
  void expect_reference(const std::vector<float>& got) const {
    EXPECT_LT(distance(got, wanted_), GetParam().bound);
  }

  static constexpr std::uint32_t kTokens = 83;  // no multiple of a block
  const Ids ids_ = random_ids(kTokens, GetParam().shape.vocab, 5);
  std::vector<double> wanted_;
};

TEST_P(PrefillOnHost, OneStepEqualsTheReference) {
  Model m = model(128);
  const auto sequence = m.sequence(ids_);
  m.run({sequence.request(0, kTokens)});
  expect_reference(m.logits(sequence));
}

TEST_P(PrefillOnHost, ManyStepsEqualTheReference) {
  Model m = model(17);
  const auto sequence = m.sequence(ids_);
  m.run({sequence.request(0, kTokens)});
  expect_reference(m.logits(sequence));
}

TEST_P(PrefillOnHost, PrefixThenRestEqualsTheReference) {
  for (const std::uint32_t rest : {1u, 16u, 40u}) {
    Model m = model(128);
    const auto sequence = m.sequence(ids_);
    PrefillRequest prefix = sequence.request(0, kTokens - rest);
    prefix.logits = {};
    m.run({prefix});
    m.run({sequence.request(kTokens - rest, rest)});
    expect_reference(m.logits(sequence));
  }
}

TEST_P(PrefillOnHost, PackedRequestsEqualSeparateOnes) {
  const Ids other_ids = random_ids(30, GetParam().shape.vocab, 6);
  Model apart = model(128), packed = model(50);  // 50: the longer one is cut as well
  const auto a = apart.sequence(ids_), b = apart.sequence(other_ids);
  apart.run({a.request(0, kTokens)});
  apart.run({b.request(0, 30)});
  const auto c = packed.sequence(other_ids), d = packed.sequence(ids_);
  packed.run({c.request(0, 30), d.request(0, kTokens)});
  EXPECT_LT(distance(packed.logits(d), apart.logits(a)), GetParam().bound);
  EXPECT_LT(distance(packed.logits(c), apart.logits(b)), GetParam().bound);
  expect_reference(packed.logits(d));
}

TEST_P(PrefillOnHost, EqualSequencesOfOneOpEqualSeparateOnes) {
  const Ids other_ids = random_ids(kTokens, GetParam().shape.vocab, 6);
  Model apart = model(128), together = model(128);
  const auto alone = apart.sequence(other_ids);
  apart.run({alone.request(0, kTokens)});
  const auto pair = together.neighbours({other_ids, ids_});
  for (const auto& each : pair) together.run({each.request(0, kTokens - 1)});
  const std::vector<PrefillRequest> both{pair[0].request(kTokens - 1, 1),
                                         pair[1].request(kTokens - 1, 1)};
  ASSERT_EQ(batch_segments(plan_steps(both, 128).front(), both, 0, kBlockTokens).size(), 1u);
  together.run(both);
  EXPECT_LT(distance(together.logits(pair[0]), apart.logits(alone)), GetParam().bound);
  expect_reference(together.logits(pair[1]));
}

TEST_P(PrefillOnHost, OtherTokensGiveOtherLogits) {
  Ids changed = ids_;
  changed.front() = (changed.front() + 1) % static_cast<std::int32_t>(GetParam().shape.vocab);
  Model m = model(128);
  const auto sequence = m.sequence(changed);
  m.run({sequence.request(0, kTokens)});
  EXPECT_GT(distance(m.logits(sequence), wanted_), GetParam().bound) << "the bound tells nothing";
}

constexpr double kF32 = 1e-5, kBf16 = 2e-2;

INSTANTIATE_TEST_SUITE_P(
    All, PrefillOnHost,
    testing::Values(
        Setting{"grouped_f32_block_first", grouped(), DType::f32, Layout::block_first, kF32},
        Setting{"grouped_f32_layer_first", grouped(), DType::f32, Layout::layer_first, kF32},
        Setting{"llama3_f32_block_first", llama_3_like(), DType::f32, Layout::block_first, kF32},
        Setting{"grouped_bf16_block_first", grouped(), DType::bf16, Layout::block_first, kBf16},
        Setting{"llama3_bf16_layer_first", llama_3_like(), DType::bf16, Layout::layer_first,
                kBf16}),
    [](const auto& param) { return std::string(param.param.name); });

// At two KV heads (grouped) and at one (llama3).
INSTANTIATE_TEST_SUITE_P(
    Orders, PrefillOnHost,
    testing::Values(Setting{"grouped_block_first_hnd", grouped(), DType::f32, Layout::block_first,
                            kF32, KvOrder::hnd},
                    Setting{"grouped_layer_first_hnd", grouped(), DType::f32, Layout::layer_first,
                            kF32, KvOrder::hnd},
                    Setting{"grouped_block_first_packed", grouped(), DType::f32,
                            Layout::block_first, kF32, KvOrder::packed},
                    Setting{"grouped_layer_first_packed", grouped(), DType::f32,
                            Layout::layer_first, kF32, KvOrder::packed},
                    Setting{"llama3_block_first_hnd", llama_3_like(), DType::f32,
                            Layout::block_first, kF32, KvOrder::hnd},
                    Setting{"llama3_layer_first_packed", llama_3_like(), DType::f32,
                            Layout::layer_first, kF32, KvOrder::packed}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(PrefillOnHostRefuses, HeadNorms) {
  const auto device = std::move(*open_device(*parse_device("host")));
  PrefillConfig config;
  config.shape = grouped();
  config.shape.qk_norm = true;
  config.dtype = DType::f32;
  config.kv = {make_kv_layout(config.shape, DType::f32, Layout::block_first, 16, 4)};
  EXPECT_EQ(Prefill::create(*device, config).code(), Code::unsupported);
}

}  // namespace
}  // namespace kvroof
