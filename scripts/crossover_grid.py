#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the full crossover grid over three links, one run a model of the catalogue, two at a time.

Usage: crossover_grid.py [OUT] [DEVICE]      (defaults: out/crossover sim:h100-sxm)

Needs a built release (quickstart.sh). Says which models have no case that ran (mostly because they
do not fit the device), how long all runs took together, and the most memory that one took. A run
that failed leaves MODEL.err in OUT. Exit status: 0 all ran, 1 one did not.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KVROOF = ROOT / "build/release/kvroof"
GRID = ("--grid", "full", "--link", "native,pcie4x16,5GB/s", "--draws", "20")
SLOWEST = ("llama-3.2-1b", "gpt-oss-20b", "llama-3.2-3b")  # first, so that no core waits at the end
NOT_PUBLISHED = ("tunnel-512",)


@dataclass(frozen=True)
class Run:
    """How the run of a model ended."""

    model: str
    status: int
    memory_kib: int  # at its peak
    why_none: str  # why no case ran; empty where one did, or the run failed


def models() -> list[str]:
    """Return the catalogue's published models."""
    names = sorted(path.stem for path in (ROOT / "suites/catalog/models").glob("*.json"))
    return sorted((n for n in names if n not in NOT_PUBLISHED), key=lambda n: n not in SLOWEST)


def run(model: str, device: str, out: Path) -> Run:
    """Run the grid of a model; what it said on stderr stays beside its table if it failed."""
    command = [KVROOF, "run", "crossover", "--device", device, "--model", model, *GRID]
    record, errors = out / f"{model}.json", out / f"{model}.err"
    with (out / f"{model}.txt").open("wb") as text, errors.open("wb") as said:
        child = subprocess.Popen(  # noqa: S603 - our own binary
            [*command, "--out", record], stdout=text, stderr=said
        )
        _, state, usage = os.wait4(child.pid, 0)
    status = os.waitstatus_to_exitcode(state)
    if status == 0:
        errors.unlink()
    return Run(model, status, usage.ru_maxrss, _why_none(record) if status == 0 else "")


def _why_none(record: Path) -> str:
    """Return the commonest reason why no case of a record ran; empty where one did."""
    cases = json.loads(record.read_text(encoding="utf-8"))["cases"]
    if any(case["outcome"] == "ok" for case in cases):
        return ""
    groups: dict[str, list[str]] = {}
    for case in cases:
        groups.setdefault(re.sub(r"\d[\d.,]*", "#", case["reason"]), []).append(case["reason"])
    return max(groups.values(), key=len, default=["the grid has no case"])[0]


def tell(done: Sequence[Run], device: str, out: Path, seconds: float) -> None:
    """Print which runs failed, which models have an answer, and what all of it took."""
    for one in done:
        if one.status != 0:
            errors = out / f"{one.model}.err"
            last = (errors.read_text(encoding="utf-8", errors="replace").splitlines() or [""])[-1]
            print(f"{one.model}: exit status {one.status}: {last} (see {errors})", file=sys.stderr)
    ran = [one for one in done if one.status == 0]
    without = [one for one in ran if one.why_none]
    print(f"{len(ran) - len(without)} of {len(done)} models have cases that ran on {device}")
    for one in without:
        print(f"  not {one.model}: {one.why_none}")
    most = max(one.memory_kib for one in done)
    print(f"{len(done)} runs took {seconds:.0f} s together, and at most {most // 1024} MiB each")


def main() -> int:
    """Run them all."""
    if any(word.startswith("-") for word in sys.argv[1:]):
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "out/crossover")
    device = sys.argv[2] if len(sys.argv) > 2 else "sim:h100-sxm"
    out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with ThreadPoolExecutor(max_workers=2) as pool:
        done = list(pool.map(lambda model: run(model, device, out), models()))
    tell(done, device, out, time.monotonic() - began)
    return int(any(one.status != 0 for one in done))


if __name__ == "__main__":
    sys.exit(main())
