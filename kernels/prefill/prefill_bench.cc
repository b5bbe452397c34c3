// SPDX-License-Identifier: Apache-2.0
// Prefill of Llama-3.2-1B on the host: 1,024 tokens, every op and the head, against the best rate
// that oneDNN reaches on that model's four matrix products in the same process. `of_best` is the
// median ratio over rounds of one prefill and the products right after it, since the machine's
// clock drifts: at least 0.85 on a quiet machine. The shares say where the time goes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <vector>

#include "backends/registry/registry.h"
#include "kernels/gemm/gemm_rate.h"
#include "kernels/prefill/prefill.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kTokens = 1024, kBlockTokens = 16, kBlocks = kTokens / kBlockTokens;
constexpr int kRounds = 9, kPasses = 3;

// https://huggingface.co/meta-llama/Llama-3.2-1B/blob/main/config.json
ModelShape llama_3_2_1b() {
  ModelShape shape;
  shape.name = "llama-3.2-1b";
  shape.layers = 16;
  shape.hidden = 2048;
  shape.heads = 32;
  shape.kv_heads = 8;
  shape.head_dim = 64;
  shape.intermediate = 8192;
  shape.vocab = 128256;
  shape.tied_embeddings = true;
  shape.rope_theta = 500000;
  shape.rope_scaling = RopeScaling{32, 1, 4, 8192};
  return shape;
}

// All layers, or as many as fit: weights lie in memory twice, since oneDNN wants them its own way.
PrefillConfig config_for(const DeviceInfo& info) {
  PrefillConfig config;
  config.shape = llama_3_2_1b();
  config.dtype = info.bf16_unavailable.empty() ? DType::bf16 : DType::f32;
  config.step_tokens = kTokens;
  const auto need = [&] {
    return 2 * prefill_weight_bytes(config.shape, config.dtype) +
           prefill_activation_bytes(config.shape, config.dtype, kTokens);
  };
  while (config.shape.layers > 1 && need() > info.memory_bytes) --config.shape.layers;
  config.kv = {
      make_kv_layout(config.shape, config.dtype, Layout::block_first, kBlockTokens, kBlocks)};
  return config;
}

Span all(Buffer& buffer) { return {&buffer, 0, buffer.facts().bytes}; }

std::unique_ptr<Buffer> allocate(Device& device, std::uint64_t bytes) {
  return std::move(*device.allocate({.bytes = bytes}));
}

std::unique_ptr<Buffer> upload(Device& device, const std::vector<std::int32_t>& values) {
  const std::uint64_t bytes = values.size() * 4;
  const auto host = std::move(*device.allocate({.kind = MemoryKind::pinned, .bytes = bytes}));
  auto there = allocate(device, bytes);
  std::memcpy(host->host().data(), values.data(), bytes);
  const auto lane = std::move(*device.open_queue(QueueKind::copy_in, Priority::normal));
  const Region region{all(*host), all(*there)};
  (void)lane->submit({.fences = {}, .body = Regions{.list = {&region, 1}}});
  return there;  // the lane's end waits for the copy
}

double seconds(Nanos nanos) { return std::chrono::duration<double>(nanos).count(); }

// Of one round.
struct Rates {
  double prefill, best_gemm;  // FLOP/s
  double ratio() const { return prefill / best_gemm; }
};

// The round of median ratio.
Rates typical(std::vector<Rates> rounds) {
  const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
  std::nth_element(rounds.begin(), middle, rounds.end(),
                   [](const Rates& a, const Rates& b) { return a.ratio() < b.ratio(); });
  return *middle;
}

void report(benchmark::State& state, const PrefillConfig& config, const std::vector<Rates>& rounds,
            const PrefillTimes& times) {
  const Rates median = typical(rounds);
  state.SetLabel(std::string(name(config.dtype)));
  state.counters["layers"] = config.shape.layers;
  state.counters["GFLOP/s"] = median.prefill / 1e9;
  state.counters["best_gemm_GFLOP/s"] = median.best_gemm / 1e9;
  state.counters["of_best"] = median.ratio();
  const double total = seconds(times.end - times.begin);
  for (std::size_t i = 0; i < times.by_op.size(); ++i) {
    if (times.by_op[i] == Nanos{}) continue;
    state.counters["share_" + std::string(kOpNames[i])] = seconds(times.by_op[i]) / total;
  }
}

void llama_1b_1024_tokens(benchmark::State& state) {
  auto device = open_device(*parse_device("host"));
  if (!device) return state.SkipWithError(device.status().text.c_str());
  const PrefillConfig config = config_for((*device)->info());
  const auto cache = allocate(**device, config.kv.front().cache_bytes());
  const auto logits = allocate(**device, config.shape.vocab * 4ull);
  std::vector<std::int32_t> ids(kTokens), blocks(kBlocks);
  std::iota(ids.begin(), ids.end(), 100);
  std::iota(blocks.rbegin(), blocks.rend(), 0);
  const auto device_ids = upload(**device, ids), table = upload(**device, blocks);
  auto prefill = Prefill::create(**device, config);
  if (!prefill) return state.SkipWithError(prefill.status().text.c_str());
  const PrefillRequest request{.token_ids = all(*device_ids),
                               .kv = {{all(*cache), all(*table)}},
                               .past = 0,
                               .tokens = kTokens,
                               .logits = all(*logits)};
  const double flops = prefill_flops(config.shape, 0, kTokens) + head_flops(config.shape);
  std::vector<Rates> rounds;
  const auto run = [&] {
    const Nanos begin = (*device)->now();
    const auto ticket = (*prefill)->submit({&request, 1}, {});
    const Status status = ticket ? (*prefill)->finish(*ticket) : ticket.status();
    if (!status.ok()) state.SkipWithError(status.text.c_str());
    return seconds((*device)->now() - begin);
  };
  run();  // packs the weights
  for (auto _ : state) {
    const double elapsed = run();
    state.SetIterationTime(elapsed);
    rounds.push_back(
        {flops / elapsed, best_gemm_rate(llama_3_2_1b_shapes(kTokens), config.dtype, kPasses)});
  }
  report(state, config, rounds, (*prefill)->times());
}
BENCHMARK(llama_1b_1024_tokens)
    ->UseManualTime()
    ->Iterations(kRounds)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kvroof

BENCHMARK_MAIN();
