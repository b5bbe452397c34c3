#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the full crossover grid over three links, one run a model of the catalogue, two at a time.

Usage: crossover_grid.py [OUT] [DEVICE]      (defaults: out/crossover sim:h100-sxm)

Needs a built release (quickstart.sh). Says how long all runs took together, and the most memory
that one took. Exit status: 0 all ran, 1 one did not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KVROOF = ROOT / "build/release/kvroof"
GRID = ("--grid", "full", "--link", "native,pcie4x16,5GB/s", "--draws", "20")
SLOWEST = ("llama-3.2-1b", "gpt-oss-20b", "llama-3.2-3b")  # first, so that no core waits at the end
NOT_PUBLISHED = ("tunnel-512",)


def models() -> list[str]:
    """Return the catalogue's published models."""
    names = sorted(path.stem for path in (ROOT / "suites/catalog/models").glob("*.json"))
    return sorted((n for n in names if n not in NOT_PUBLISHED), key=lambda n: n not in SLOWEST)


def run(model: str, device: str, out: Path) -> tuple[str, int, int]:
    """Return the model, the exit status of its run, and its peak memory in KiB."""
    command = [KVROOF, "run", "crossover", "--device", device, "--model", model, *GRID]
    with (out / f"{model}.txt").open("wb") as text:
        child = subprocess.Popen(  # noqa: S603 - our own binary
            [*command, "--out", out / f"{model}.json"], stdout=text, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(child.pid, 0)
    return model, os.waitstatus_to_exitcode(status), usage.ru_maxrss


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
    seconds = time.monotonic() - began
    for model, status, _ in done:
        if status != 0:
            print(f"{model}: exit status {status}, see {out / model}.txt", file=sys.stderr)
    most = max(memory for _, _, memory in done)
    print(f"{len(done)} runs took {seconds:.0f} s together, and at most {most // 1024} MiB each")
    return int(any(status != 0 for _, status, _ in done))


if __name__ == "__main__":
    sys.exit(main())
