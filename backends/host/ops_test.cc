// SPDX-License-Identifier: Apache-2.0
// The ops through the seam: that spans become the right addresses, and that failures come back as
// completions. The kernels' numbers have their own tests.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "backends/host/adapter.h"
#include "backends/host/buffer.h"

namespace kvroof::host {
namespace {

constexpr std::uint64_t kBytes = 1 << 16;

class OpsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = std::move(*open({"host", "", {}, ""}));
    memory_ = std::move(*device_->allocate({MemoryKind::device, kBytes}));
    host_ = std::move(*device_->allocate({MemoryKind::pinned, kBytes}));
    compute_ = std::move(*device_->open_queue(QueueKind::compute, Priority::normal));
    in_ = std::move(*device_->open_queue(QueueKind::copy_in, Priority::normal));
    out_ = std::move(*device_->open_queue(QueueKind::copy_out, Priority::normal));
  }

  Status run(Queue& queue, const Work& work) {
    const auto ticket = queue.submit(work);
    if (!ticket) return ticket.status();
    const Point point{&queue, *ticket};
    EXPECT_TRUE(device_->wait_any({&point, 1}, Nanos::max()));
    Completion completion;
    EXPECT_EQ(*queue.reap({&completion, 1}), 1u);
    return completion.status;
  }
  Status run(const Op& op) { return run(*compute_, {{}, op}); }

  template <class T>
  Span put(std::uint64_t offset, const std::vector<T>& values) {
    const std::uint64_t bytes = values.size() * sizeof(T);
    std::memcpy(host_->host().data() + offset, values.data(), bytes);
    const Region region{{host_.get(), offset, bytes}, {memory_.get(), offset, bytes}};
    EXPECT_TRUE(run(*in_, {{}, Regions{{&region, 1}}}).ok());
    return region.destination;
  }
  template <class T>
  std::vector<T> get(const Span& span) {
    const Region region{span, {host_.get(), span.offset, span.bytes}};
    EXPECT_TRUE(run(*out_, {{}, Regions{{&region, 1}}}).ok());
    std::vector<T> values(span.bytes / sizeof(T));
    std::memcpy(values.data(), host_->host().data() + span.offset, span.bytes);
    return values;
  }
  Span at(std::uint64_t offset, std::uint64_t bytes) { return {memory_.get(), offset, bytes}; }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Buffer> memory_, host_;
  std::unique_ptr<Queue> compute_, in_, out_;
};

TEST_F(OpsTest, GemmFollowsWeightsThatEachKindOfWriteChanges) {
  const Span a = put<float>(0, {1, 2}), b = put<float>(64, {3, 4, 5, 6}), c = at(128, 8);
  const Gemm gemm{a, b, c, 1, 2, 2, DType::f32, DType::f32};
  ASSERT_TRUE(run(gemm).ok());
  EXPECT_EQ(get<float>(c), (std::vector<float>{11, 17}));
  put<float>(64, {1, 0, 0, 1});
  ASSERT_TRUE(run(gemm).ok());
  EXPECT_EQ(get<float>(c), (std::vector<float>{1, 2}));
  ASSERT_TRUE(run(*compute_, {{}, Fill{b, 0}}).ok());
  ASSERT_TRUE(run(gemm).ok());
  EXPECT_EQ(get<float>(c), (std::vector<float>{0, 0}));
}

TEST_F(OpsTest, NormTakesAnAbsentX) {
  const Span residual = put<float>(0, {3, 4}), weight = put<float>(64, {1, 10});
  ASSERT_TRUE(run(Norm{{}, residual, weight, at(128, 8), 1, 2, 0, DType::f32}).ok());
  const auto out = get<float>(at(128, 8));
  EXPECT_NEAR(out[0], 3 / std::sqrt(12.5), 1e-5);
  EXPECT_NEAR(out[1], 40 / std::sqrt(12.5), 1e-5);
}

TEST_F(OpsTest, RopeThenAttentionOverTheCache) {
  PagedKv kv{};
  kv.cache = at(4096, 4 * 64), kv.block_table = put<std::int32_t>(0, {2});
  kv.v_offset = 32, kv.block_stride = 64, kv.token_stride = 8, kv.head_stride = 8;
  kv.block_tokens = 4, kv.kv_heads = 1, kv.head_dim = 2, kv.dtype = DType::f32;
  // One token at position 0: not rotated, and attention returns its v.
  const Span qkv = put<float>(64, {1, 2, 3, 4, 5, 6}), frequency = put<float>(128, {1});
  ASSERT_TRUE(run(RopeAppend{qkv, frequency, kv, 1, 0, 1, DType::f32}).ok());
  ASSERT_TRUE(run(Attention{qkv, at(192, 8), 24, kv, 1, 0, 1, 1, DType::f32}).ok());
  EXPECT_EQ(get<float>(at(192, 8)), (std::vector<float>{5, 6}));
  EXPECT_EQ(get<float>(at(4096 + 2 * 64, 8)), (std::vector<float>{3, 4}));
}

TEST_F(OpsTest, RowsMoveByIndex) {
  const Span table = put<float>(0, {1, 2, 3, 4, 5, 6}), ids = put<std::int32_t>(64, {2, 0});
  const Span out = at(128, 16);
  ASSERT_TRUE(run(Embedding{ids, table, out, 2, 2, 3, DType::f32}).ok());
  EXPECT_EQ(get<float>(out), (std::vector<float>{5, 6, 1, 2}));
  ASSERT_TRUE(run(Gather{table, ids, at(256, 16), 2, 8}).ok());
  EXPECT_EQ(get<float>(at(256, 16)), (std::vector<float>{5, 6, 1, 2}));
  ASSERT_TRUE(run(Scatter{out, ids, at(512, 24), 2, 8}).ok());
  EXPECT_EQ(get<float>(at(512, 24)), (std::vector<float>{1, 2, 0, 0, 5, 6}));
}

TEST_F(OpsTest, ActivationMultiplies) {
  const Span gate_up = put<float>(0, {0, 100, 7, 2});
  ASSERT_TRUE(run(Activation{gate_up, at(64, 8), 1, 2, DType::f32}).ok());
  EXPECT_EQ(get<float>(at(64, 8)), (std::vector<float>{0, 200}));
}

TEST_F(OpsTest, AnIndexOutsideFailsItsTicketAndAbortsWhatFencesOnIt) {
  const Span table = put<float>(0, {1, 2}), ids = put<std::int32_t>(64, {3});
  const auto failed =
      compute_->submit({{}, Op{Embedding{ids, table, at(128, 8), 1, 2, 1, DType::f32}}});
  ASSERT_TRUE(failed.ok());
  const Point point{compute_.get(), *failed};
  EXPECT_EQ(run(*in_, {{&point, 1}, Fill{at(0, 4), 0}}).code, Code::aborted);
  Completion completion;
  ASSERT_EQ(*compute_->reap({&completion, 1}), 1u);
  EXPECT_EQ(completion.status.code, Code::failed);
}

TEST_F(OpsTest, RefusesAtSubmitWhatItCannotRun) {
  const Gemm gemm{at(0, 8), at(64, 16), at(128, 8), 1, 2, 2, DType::f32, DType::f32};
  Gemm odd = gemm;
  odd.dtype = DType::int8;
  EXPECT_EQ(run(odd).code, Code::unsupported);
  odd = gemm;
  odd.out_dtype = DType::bf16;
  EXPECT_EQ(run(odd).code, Code::unsupported);
  odd = gemm;
  odd.c.bytes = 7;
  EXPECT_EQ(run(odd).code, Code::invalid);
  std::vector<float> owned(9);
  auto crooked = device_->adopt(reinterpret_cast<std::byte*>(owned.data()) + 2, 8);
  ASSERT_TRUE(crooked.ok());
  odd = gemm;
  odd.a = {crooked->get(), 0, 8};
  EXPECT_EQ(run(odd).code, Code::invalid);
  EXPECT_EQ(in_->submit({{}, Op{gemm}}).code(), Code::invalid);
  auto host_lane = std::move(*device_->open_queue(QueueKind::host, Priority::normal));
  EXPECT_EQ(host_lane->submit({{}, Op{gemm}}).code(), Code::invalid);
}

TEST_F(OpsTest, RegionsCopiedByTheComputeThreadsArrive) {
  constexpr std::uint64_t kLarge = 5 << 20;
  const auto from = std::move(*device_->allocate({MemoryKind::pinned, kLarge}));
  const auto to = std::move(*device_->allocate({MemoryKind::device, kLarge}));
  const auto back = std::move(*device_->allocate({MemoryKind::pinned, kLarge}));
  for (std::uint64_t i = 0; i < kLarge; ++i) from->host()[i] = static_cast<std::byte>(i * 31);
  const Region there{{from.get(), 0, kLarge}, {to.get(), 0, kLarge}};
  const Region here{{to.get(), 0, kLarge}, {back.get(), 0, kLarge}};
  ASSERT_TRUE(run(*in_, {{}, Regions{{&there, 1}, CopyMethod::kernel}}).ok());
  ASSERT_TRUE(run(*out_, {{}, Regions{{&here, 1}, CopyMethod::kernel}}).ok());
  EXPECT_EQ(std::memcmp(back->host().data(), from->host().data(), kLarge), 0);
}

TEST_F(OpsTest, ABatchIsRefusedInTheWordsOfTheFacts) {
  const Region region{{host_.get(), 0, 64}, {memory_.get(), 0, 64}};
  const Status refused = run(*in_, {{}, Regions{{&region, 1}, CopyMethod::batch}});
  EXPECT_EQ(refused.code, Code::unsupported);
  const auto& facts = device_->info().copy_unavailable;
  EXPECT_EQ(refused.text, facts[static_cast<std::size_t>(CopyMethod::batch)]);
  EXPECT_TRUE(facts[static_cast<std::size_t>(CopyMethod::kernel)].empty());
}

}  // namespace
}  // namespace kvroof::host
