#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job: installs what is missing, builds, asks "copy or recompute?" of a modelled H100 and of
# this CPU, writes the report and says where it is.
# Usage: quickstart.sh [OUT]      (OUT defaults to out/quickstart)
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-out/quickstart}

scripts/install-packages.sh build
cmake --preset release >/dev/null
cmake --build build/release --target kvroof
kvroof=build/release/kvroof
mkdir -p "$out"

# bf16 wherever this CPU runs it at its own speed; `devices` says when it can't.
dtype=$("$kvroof" devices --json | python3 -c '
import json, sys
host = next(a for a in json.load(sys.stdin) if a["adapter"] == "host")["devices"][0]
print("f32" if host.get("bf16_unavailable") else "bf16")')

echo
echo "== Llama-3.1-8B on a modelled H100 SXM, 1K to 100K tokens"
"$kvroof" run ttft --device sim:h100-sxm --model llama-3.1-8b --serving-cost vllm \
  --context 1k,10k,20k,...,100k --plan recompute,copy --out "$out/h100-sxm.json"
echo
echo "== Llama-3.2-1B, 4 layers, measured on this CPU in $dtype"
"$kvroof" run ttft --device host --model llama-3.2-1b --layers 4 --kv-dtype "$dtype" \
  --context 256,1k,4k --plan recompute,copy --out "$out/host.json"
echo
"$kvroof" report "$out/h100-sxm.json" "$out/host.json" --out "$out/report"
echo "The report is $out/report/report.html"
