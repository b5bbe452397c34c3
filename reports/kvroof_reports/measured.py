# SPDX-License-Identifier: Apache-2.0
"""Print the README's table of figures from the files that scripts/figures.sh wrote.

Example::

    python -m kvroof_reports.measured results/reference
"""

from __future__ import annotations

import argparse
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from kvroof_reports.load import load_record
from kvroof_reports.series import series_of
from kvroof_reports.tunnel_comparison import tunnel_of

Row = tuple[str, str, str]


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _benchmarks(path: Path) -> list[dict[str, Any]]:
    """Return Google Benchmark's rows that ran."""
    return [b for b in _read(path)["benchmarks"] if not b.get("error_occurred")]


def _metric(record: dict[str, Any], plan: str, name: str) -> dict[int, dict[str, Any]]:
    """Return a metric of a plan's cases, by context."""
    return {
        c["params"]["context_tokens"]: c["metrics"][name]
        for c in record["cases"]
        if c["outcome"] == "ok" and c["params"]["plan"] == plan
    }


def _seconds(record: dict[str, Any]) -> float:
    begin, end = (datetime.fromisoformat(record[k].rstrip("Z")) for k in ("started", "finished"))
    return (end - begin).total_seconds()


def headline_rows(folder: Path) -> list[Row]:
    """Rows of the simulated H100's run."""
    record = _read(folder / "h100-sxm.json")
    speedup = {k: m["median"] for k, m in _metric(record, "copy", "speedup").items()}
    rate = min(m["median"] for m in _metric(record, "copy", "copy_bandwidth").values())
    short, long = min(speedup), max(speedup)
    return [
        ("speedup at 1K, simulated H100", f"{speedup[short]:.2f}", "1.5 to 3"),
        ("speedup at 100K, simulated H100", f"{speedup[long]:.1f}", "19 to 26"),
        ("H2D dma at 2 MiB, simulated H100", f"{rate / 1e9:.1f} GB/s", "51.3 ± 1 %"),
    ]


def hybrid_rows(folder: Path) -> list[Row]:
    """Rows of the run of all three plans, where the pure ones are within 20 % of each other."""
    record = _read(folder / "hybrid.json")
    times = [_metric(record, plan, "ttft") for plan in ("recompute", "copy")]
    gains = _metric(record, "hybrid", "gain_over_pure")
    near = {k for k in gains if abs(times[0][k]["median"] / times[1][k]["median"] - 1) <= 0.2}
    least = min(gains[k]["median"] for k in near)
    what = f"hybrid over the better pure plan, simulated H100 at 5 GB/s, {len(near)} contexts"
    return [(what, f"{least:.2f} at least", "1.25")]


def host_rows(folder: Path) -> list[Row]:
    """Rows of the run that was measured on the host."""
    record = _read(folder / "host.json")
    worst = max(m["median"] for m in _metric(record, "copy", "logit_difference").values())
    dtype = record["cases"][0]["params"]["kv_dtype"]
    bound = "1e-5" if dtype == "f32" else "2e-2"
    what = f"logits after a load against a full prefill, host, {dtype}"
    return [
        (what, f"{worst:.1e}", f"under {bound}"),
        ("the measured run", f"{_seconds(record):.0f} s", "-"),
    ]


def tunnel_rows(folder: Path) -> list[Row]:
    """Rows of the wind tunnel's run beside the simulated one."""
    files = (folder / "h100-sxm.json", folder / "tunnel.json")
    tunnel = tunnel_of([series for file in files for series in series_of(load_record(file))])
    if not tunnel:
        return []
    off = {point.context: 100 * (point.deviation or 0.0) for point in tunnel.points}
    long = [deviation for context, deviation in off.items() if context >= 10240]
    what = "wind tunnel over the simulated H100, load and prefill alone"
    return [
        (f"{what}, 10K to 100K", f"{min(long):+.0f} to {max(long):+.0f} %", "± 15 %"),
        (f"{what}, 1K", f"{off[1024]:+.0f} %", "± 25 %"),
    ]


def bench_rows(folder: Path) -> list[Row]:
    """Rows of the benchmark programs."""
    copies = [b["ratio"] for b in _benchmarks(folder / "host-copy.json")]
    engine = {b["name"]: b["per_block"] for b in _benchmarks(folder / "engine.json")}
    prefill = _benchmarks(folder / "prefill.json")[0]
    both = engine["offload+load/block_first"] * 1e9
    return [
        (
            "host copy lanes over the best copy of as many threads",
            f"{min(copies):.2f} to {max(copies):.2f}",
            "0.90",
        ),
        (
            f"host prefill over oneDNN's best rate ({prefill['label'] or 'f32'})",
            f"{prefill['of_best']:.2f}",
            "0.85",
        ),
        ("engine's CPU a block, offload and load together", f"{both:.0f} ns", "under 300 ns"),
    ]


def table(folder: Path) -> str:
    """Return the figures as a Markdown table."""
    makers = (headline_rows, hybrid_rows, host_rows, tunnel_rows, bench_rows)
    rows = [row for maker in makers for row in maker(folder)]
    lines = ["| what | measured | asked |", "|---|---|---|"]
    return "\n".join(lines + [f"| {a} | {b} | {c} |" for a, b, c in rows])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where scripts/figures.sh wrote")
    print(table(parser.parse_args().folder))


if __name__ == "__main__":
    main()
