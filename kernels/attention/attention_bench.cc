// SPDX-License-Identifier: Apache-2.0
// Attention's rate on the heads of Llama-3.2-1B (32 of 64, 8 KV heads), FLOPs counted over the
// causal (query, key) pairs alone; prefill, and one token after a long past.
#include <benchmark/benchmark.h>

#include <random>

#include "kernels/attention/attention.h"
#include "kernels/portable/paged_fixture.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kHeads = 32, kKvHeads = 8, kHeadDim = 64, kBlockTokens = 16;

void attention(benchmark::State& state, DType dtype) {
  const auto tokens = static_cast<std::uint32_t>(state.range(0));
  const auto past = static_cast<std::uint32_t>(state.range(1));
  std::mt19937 random(1);
  oracle::PagedFixture paged(dtype, oracle::Order::nhd, past + tokens, kBlockTokens, kKvHeads,
                             kHeadDim, random);
  oracle::Tensor q =
      oracle::random_tensor(dtype, std::uint64_t{tokens} * kHeads * kHeadDim, random);
  oracle::Tensor out = q;
  AttentionKernel kernel;
  for (auto _ : state) {
    const Status status = kernel.run({q.data(), out.data(), kHeads * kHeadDim * bytes_of(dtype),
                                      paged.view, tokens, past, kHeads, 0.125f});
    if (!status.ok()) state.SkipWithError(status.text.c_str());
  }
  const double pairs = static_cast<double>(tokens) * past + 0.5 * tokens * (tokens + 1.0);
  const double flops = 4.0 * kHeads * kHeadDim * pairs;
  state.counters["GFLOPps"] =
      benchmark::Counter(flops / 1e9, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK_CAPTURE(attention, f32, DType::f32)
    ->Args({1024, 0})
    ->Args({4096, 0})
    ->Args({1, 8192})
    ->ArgNames({"tokens", "past"})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(attention, bf16, DType::bf16)
    ->Args({1024, 0})
    ->Args({1, 8192})
    ->ArgNames({"tokens", "past"})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kvroof

BENCHMARK_MAIN();
