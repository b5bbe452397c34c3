// SPDX-License-Identifier: Apache-2.0
// Attention's rate on 32 query heads and 8 KV heads of Llama-3.2-1B (head size 64) and Llama-3.1-8B
// (128), FLOPs counted over the causal (query, key) pairs alone: prefill, and one token after a
// long past. `of_best_gemm` is its share of the best rate that oneDNN reaches in the same process
// on Llama-3.2-1B's four matrix products.
#include <benchmark/benchmark.h>

#include <chrono>
#include <random>

#include "kernels/attention/attention.h"
#include "kernels/gemm/gemm_rate.h"
#include "kernels/portable/paged_fixture.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kHeads = 32, kKvHeads = 8, kBlockTokens = 16;

void attention(benchmark::State& state, DType dtype) {
  const auto tokens = static_cast<std::uint32_t>(state.range(0));
  const auto past = static_cast<std::uint32_t>(state.range(1));
  const auto head_dim = static_cast<std::uint32_t>(state.range(2));
  std::mt19937 random(1);
  oracle::PagedFixture paged(dtype, oracle::Order::nhd, past + tokens, kBlockTokens, kKvHeads,
                             head_dim, random);
  oracle::Tensor q =
      oracle::random_tensor(dtype, std::uint64_t{tokens} * kHeads * head_dim, random);
  oracle::Tensor out = q;
  AttentionKernel kernel;
  double elapsed = 0;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    const Status status = kernel.run({q.data(), out.data(), kHeads * head_dim * bytes_of(dtype),
                                      paged.view, tokens, past, kHeads, 0.125f});
    if (!status.ok()) state.SkipWithError(status.text.c_str());
    elapsed += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  const double pairs = static_cast<double>(tokens) * past + 0.5 * tokens * (tokens + 1.0);
  const double flops = 4.0 * kHeads * head_dim * pairs;
  const double rate = flops * static_cast<double>(state.iterations()) / elapsed;
  state.counters["GFLOP/s"] = rate / 1e9;
  const double best = best_gemm_rate(llama_3_2_1b_shapes(1024), dtype, 7);
  if (best > 0 && tokens > 1) state.counters["of_best_gemm"] = rate / best;
}

void shapes(benchmark::internal::Benchmark* bench) {
  bench->Args({1024, 0, 64})->Args({1, 8192, 64})->Args({8192, 0, 128});
  bench->ArgNames({"tokens", "past", "head_dim"})->UseRealTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(attention, f32, DType::f32)->Apply(shapes);
BENCHMARK_CAPTURE(attention, bf16, DType::bf16)->Apply(shapes);

}  // namespace
}  // namespace kvroof

BENCHMARK_MAIN();
