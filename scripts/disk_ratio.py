#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Disk queues beside fio: the same files, block size, depth and O_DIRECT, in turns.

``disk_ratio.py [--rounds N] [--directory DIR] [DISK_BENCH]`` prints the median rates of both, and
the median over the rounds of ours / fio's, for writing and reading. Neither side syncs, both
register their buffers. A file is a header of 4096 bytes and 2 MiB. fio writes to files that it
has made beforehand; ours are created, written under a temporary name, closed and renamed, all of it
timed. Who comes first changes from round to round. Needs fio.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

FILES = 256
FILE_KIB = 2052
DEPTH = 32


def fio(direction: str, directory: Path) -> float:
    """Bytes per second of fio's files, which writing makes and reading needs."""
    command = [
        "fio", "--name=files", f"--directory={directory}", f"--rw={direction}",
        f"--bs={FILE_KIB}k", f"--size={FILE_KIB * FILES}k", f"--nrfiles={FILES}",
        f"--openfiles={FILES}", f"--iodepth={DEPTH}", "--ioengine=io_uring", "--direct=1",
        "--fixedbufs=1", "--file_service_type=sequential",
        "--filename_format=$filenum", "--output-format=json",
    ]  # fmt: skip
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(out)["jobs"][0][direction]["bw_bytes"])


def ours(direction: str, directory: Path, bench: Path) -> tuple[float, str]:
    """Bytes per second of disk_bench's files, and what it says of how they go."""
    out = subprocess.run(
        [bench, f"--benchmark_filter=^{direction}", "--benchmark_format=json"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "KVROOF_BENCH_DIR": str(directory)},
    ).stdout
    result = json.loads(out)["benchmarks"][0]
    if result["buffered_files"]:
        raise SystemExit("disk_ratio: the directory's file system refuses O_DIRECT; take another")
    return float(result["bytes_per_second"]), str(result["label"])


def main() -> None:
    """Alternate, and print one line a direction."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--directory", type=Path, default=Path("build"))
    parser.add_argument(
        "bench", type=Path, nargs="?", default=Path("build/ci/backends/disk/disk_bench")
    )
    arguments = parser.parse_args()
    rates: dict[str, list[tuple[float, float]]] = {"write": [], "read": []}
    label = ""
    for turn in range(arguments.rounds):
        with tempfile.TemporaryDirectory(dir=arguments.directory) as name:
            for direction, pairs in rates.items():
                before = fio(direction, Path(name)) if turn % 2 else 0.0
                rate, label = ours(direction, Path(name), arguments.bench)
                pairs.append((rate, before or fio(direction, Path(name))))
    for direction, pairs in rates.items():
        mine, theirs = (statistics.median(side) / 1e9 for side in zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{direction}: ours {mine:.3f} GB/s, fio {theirs:.3f} GB/s, ratio {ratio:.3f}")
    print(f"medians of {arguments.rounds} rounds in turns; ours by {label}")


if __name__ == "__main__":
    main()
