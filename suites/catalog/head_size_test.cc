// SPDX-License-Identifier: Apache-2.0
// Attention of one prefill on the catalogue's devices, by head size.
#include <gtest/gtest.h>

#include "backends/registry/registry.h"
#include "suites/catalog/catalog.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kHeads = 32, kKvHeads = 8, kTokens = 8192;

// Of 32 heads over 8 KV heads, bf16, 8192 tokens.
Result<double> attention_seconds(std::string_view profile, std::uint32_t head_dim) {
  DeviceSpec spec;
  spec.adapter = "sim";
  spec.profile_text = profile;
  const auto device = std::move(*open_device(spec));
  constexpr std::uint64_t kBytes = 1 << 30;
  const auto memory =
      std::move(*device->allocate({.kind = MemoryKind::device, .bytes = kBytes, .backed = false}));
  const auto queue = std::move(*device->open_queue(QueueKind::compute, Priority::normal));
  const Span all{memory.get(), 0, kBytes};
  const std::uint64_t row = head_dim * bytes_of(DType::bf16);
  Attention op{};
  op.q = op.out = op.kv.cache = op.kv.block_table = all;
  op.q_row_bytes = kHeads * row;
  op.kv.head_stride = row;
  op.kv.token_stride = kKvHeads * row;
  op.kv.block_tokens = 16;
  op.kv.block_stride = op.kv.block_tokens * op.kv.token_stride;
  op.kv.kv_heads = kKvHeads;
  op.kv.head_dim = head_dim;
  op.kv.dtype = DType::bf16;
  op.tokens = kTokens;
  op.heads = kHeads;
  op.scale = 1;
  op.dtype = DType::bf16;
  const auto ticket = queue->submit({{}, Op{op}});
  if (!ticket.ok()) return ticket.status();
  const Point end{queue.get(), *ticket};
  const auto reached = device->wait_any({&end, 1}, Nanos::max());
  if (!reached.ok()) return reached.status();
  return static_cast<double>(device->now().count()) * 1e-9;
}

TEST(HeadSize, EveryDevicePrices64And128) {
  for (const CatalogEntry& entry : device_profiles()) {
    for (const std::uint32_t head_dim : {64u, 128u}) {
      const auto seconds = attention_seconds(entry.text, head_dim);
      EXPECT_TRUE(seconds.ok()) << entry.name << ": " << seconds.status().text;
    }
  }
}

// Half the FLOPs at 460 of 602 TFLOP/s, and twice at 628: FlashAttention 3, causal, 8192 tokens.
TEST(HeadSize, H100KeepsTheRatiosOfFlashAttention3) {
  const std::string_view h100 = find_entry(device_profiles(), "h100-sxm")->text;
  const double seconds = *attention_seconds(h100, 128);
  EXPECT_NEAR(*attention_seconds(h100, 64) / seconds, 0.5 * 602 / 460, 0.01);
  EXPECT_NEAR(*attention_seconds(h100, 256) / seconds, 2.0 * 602 / 628, 0.02);
}

}  // namespace
}  // namespace kvroof
