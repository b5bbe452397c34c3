// SPDX-License-Identifier: Apache-2.0
// oneDNN's rate on the four products of a Llama-3.2-1B layer: what a prefill is measured against.
#include <benchmark/benchmark.h>

#include <string>

#include "kernels/gemm/gemm_rate.h"

namespace kvroof {
namespace {

constexpr int kRepeats = 5;

void product(benchmark::State& state, DType dtype) {
  const auto shapes = llama_3_2_1b_shapes(static_cast<std::uint32_t>(state.range(1)));
  const GemmShape& shape = shapes[static_cast<std::size_t>(state.range(0))];
  const double flops = 2.0 * shape.m * shape.n * shape.k;
  for (auto _ : state) {
    const double rate = gemm_rate(shape, dtype, kRepeats);
    if (rate == 0) {
      state.SkipWithError("oneDNN has no product of this type on this CPU");
      return;
    }
    state.SetIterationTime(flops / rate);
    state.counters["GFLOPps"] = rate / 1e9;
  }
  state.SetLabel(std::to_string(shape.n) + " x " + std::to_string(shape.k));
}

BENCHMARK_CAPTURE(product, f32, DType::f32)
    ->ArgsProduct({{0, 1, 2, 3}, {1024}})
    ->ArgNames({"shape", "tokens"})
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(product, bf16, DType::bf16)
    ->ArgsProduct({{0, 1, 2, 3}, {1024}})
    ->ArgNames({"shape", "tokens"})
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kvroof

BENCHMARK_MAIN();
