# SPDX-License-Identifier: Apache-2.0
"""Rows of the README's table from the files of the benchmark programs."""

from __future__ import annotations

from pathlib import Path

from kvroof_reports.load import read_json
from kvroof_reports.node import InputError, Node

Row = tuple[str, str, str]  # what, measured, asked

# What is asked of the programs.
COPY_OF_BEST = "0.90"
PREFILL_OF_BEST = "0.85"
ATTENTION_OF_BEST = "0.65"
ENGINE_NANOSECONDS = 300
LOOKUPS_A_SECOND = 10e6
ATTENTION = "attention/{}/tokens:8192/past:0/head_dim:128/real_time"


def bench_rows(folder: Path) -> list[Row]:
    """Rows of the benchmark programs."""
    copies = [b["ratio"].number() for b in _benchmarks(folder / "host-copy.json").values()]
    prefill = next(iter(_benchmarks(folder / "prefill.json").values()))
    dtype = (prefill["label"].text() if prefill.has("label") else "") or "f32"
    engine = _named(folder / "engine.json", "offload+load/block_first")
    return [
        (
            "host copy lanes over the best copy of as many threads",
            f"{min(copies):.2f} to {max(copies):.2f}",
            COPY_OF_BEST,
        ),
        (
            f"host prefill over oneDNN's best rate ({dtype})",
            f"{prefill['of_best'].number():.2f}",
            PREFILL_OF_BEST,
        ),
        _attention(folder / "attention.json"),
        (
            "engine's CPU a block, offload and load together",
            f"{1e9 * engine['per_block'].number():.0f} ns",
            f"under {ENGINE_NANOSECONDS} ns",
        ),
        *_lookups(folder / "tier.json"),
    ]


def _lookups(path: Path) -> list[Row]:
    """In a full tier; no rows for a folder that was measured before there was such a program."""
    if not path.is_file():
        return []
    rows = []
    for name, what in (("lookup/lru", "look-ups"), ("lookup+use/lru", "look-ups, each a use,")):
        rate = _named(path, name)["items_per_second"].positive()
        rows.append(
            (
                f"{what} a second in a full tier of 1,000,000 chunks, lru, one core",
                f"{rate / 1e6:.1f} million",
                f"over {LOOKUPS_A_SECOND / 1e6:.0f} million",
            )
        )
    return rows


def _attention(path: Path) -> Row:
    """In bf16 where this CPU ran it."""
    dtype = "bf16" if ATTENTION.format("bf16") in _benchmarks(path) else "f32"
    share = _named(path, ATTENTION.format(dtype))["of_best_gemm"].number()
    what = f"attention at 8K tokens, head size 128, over oneDNN's best rate ({dtype})"
    return what, f"{share:.2f}", ATTENTION_OF_BEST


def _benchmarks(path: Path) -> dict[str, Node]:
    """Return Google Benchmark's rows that ran, by name; at least one."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; scripts/figures.sh writes it.")
    found = Node(read_json(path), path)["benchmarks"].elements()
    ran = {b["name"].text(): b for b in found if not _failed(b)}
    if not ran:
        raise InputError(f"{path}: no benchmark ran; run scripts/figures.sh again.")
    return ran


def _failed(benchmark: Node) -> bool:
    return benchmark.has("error_occurred") and benchmark["error_occurred"].flag()


def _named(path: Path, name: str) -> Node:
    ran = _benchmarks(path)
    if name not in ran:
        raise InputError(f"{path}: benchmark {name} is missing or failed; run it again.")
    return ran[name]
