#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the figures of the README's table on a quiet machine, writes them with their provenance
# below OUT, and prints the table's rows; the row of the crossover grid over every model is
# crossover_grid.py's. Run it alone: nothing else may use the cores. Needs a built release
# (quickstart.sh).
# Usage: figures.sh [OUT]      (OUT defaults to results/reference)
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-results/reference}
build=build/release
cmake --preset release >/dev/null
cmake --build "$build" --target kvroof host_copy_bench engine_bench tier_bench prefill_bench attention_bench
mkdir -p "$out"

bench() { "$build/$1" --benchmark_out="$out/$2" --benchmark_out_format=json >/dev/null; }

echo "== the simulated run, and its time"
time "$build/kvroof" run ttft --device sim:h100-sxm --model llama-3.1-8b --serving-cost vllm \
  --context 1k,10k,20k,...,100k --plan recompute,copy --out "$out/h100-sxm.json"
PYTHONPATH=reports python3 -m kvroof_reports.claim "$out/h100-sxm.json"

echo "== plan hybrid where the pure plans are near each other"
"$build/kvroof" run ttft --device sim:h100-sxm,link=5GB/s --model llama-3.1-8b \
  --context 4k,8k,12k,16k,20k --plan recompute,copy,hybrid --out "$out/hybrid.json"
PYTHONPATH=reports python3 -m kvroof_reports.hybrid "$out/hybrid.json"

echo "== the crossover grid of one model over three links"
"$build/kvroof" run crossover --device sim:h100-sxm --model llama-3.1-8b --grid full \
  --link native,pcie4x16,5GB/s --draws 20 --out "$out/crossover.json"

echo "== host lanes, engine cost, prefill"
bench backends/host/host_copy_bench host-copy.json
bench transfer/engine_bench engine.json
bench transfer/tier_bench tier.json
bench kernels/prefill/prefill_bench prefill.json
bench kernels/attention/attention_bench attention.json

echo "== the measured run"
dtype=f32
grep -qw avx512f /proc/cpuinfo && dtype=bf16
"$build/kvroof" run ttft --device host --model llama-3.2-1b --layers 4 --kv-dtype "$dtype" \
  --context 256,1k,4k --plan recompute,copy --out "$out/host.json"

echo "== plan hybrid on the host, its link paced so that both pure plans take as long at 4K"
"$build/kvroof" run ttft --device host --model llama-3.2-1b --layers 1 --kv-dtype "$dtype" \
  --context 4k --plan recompute,copy --out "$out/hybrid-host.json"
rate=$(PYTHONPATH=reports python3 -m kvroof_reports.equal_link "$out/hybrid-host.json")
"$build/kvroof" run ttft --device "host:link=$rate" --model llama-3.2-1b --layers 1 \
  --kv-dtype "$dtype" --context 4k --plan recompute,copy,hybrid --out "$out/hybrid-host.json"
PYTHONPATH=reports python3 -m kvroof_reports.hybrid "$out/hybrid-host.json"

# A team that has waited for 20 us without work is parked: at 128 tokens waking it is most of an op.
echo "== the wind tunnel beside the simulated run"
GOMP_SPINCOUNT=20000 "$build/kvroof" run ttft --device host:balance=h100-sxm --model tunnel-512 --kv-dtype "$dtype" \
  --context 128,1280,2560,...,12800 --blocks-per-chunk 2 --out "$out/tunnel.json"
PYTHONPATH=reports python3 -m kvroof_reports.tunnel "$out/h100-sxm.json" "$out/tunnel.json"

PYTHONPATH=reports python3 -m kvroof_reports.readme_figures "$out"
