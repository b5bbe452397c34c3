# SPDX-License-Identifier: Apache-2.0
"""Small copies from a fixed cost a copy and a link rate, beside every published size.

Fitted to the smallest size, the largest and the one in their geometric middle: the ends show what
either term is alone, the middle where both count. Sizes were chosen for that, not for the errors.
`python3 -m kvroof_reports.small_copies suites/catalog/devices/h100-sxm.json` prints the table; 1
where an error exceeds the limit.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

_SMALLEST = 16 << 10
_LIMIT = 0.15
_CURVES = [(method, way) for method in ("dma", "kernel") for way in ("in", "out")]


@dataclass(frozen=True)
class Fit:
    """Seconds of a copy: a fixed cost, and its bytes over the link's rate."""

    seconds: float
    rate: float  # bytes/s

    def rate_at(self, size: int) -> float:
        """Return the bytes/s that copies of `size` bytes reach."""
        return size / (self.seconds + size / self.rate)


def fitted_sizes(sizes: list[int]) -> list[int]:
    """Return the smallest, the one in the geometric middle, and the largest."""
    low, high = min(sizes), max(sizes)
    middle = min(sizes, key=lambda size: abs(size * size - low * high))
    return [low, middle, high]


def fit(points: list[tuple[int, float]]) -> Fit:
    """Fit (bytes, bytes/s) by least squares of the relative error of a copy's time."""
    # fixed / time + per_byte * bytes / time = 1, and bytes / time is the rate.
    rows = [(rate / size, rate) for size, rate in points]
    aa = sum(a * a for a, _ in rows)
    ab = sum(a * b for a, b in rows)
    bb = sum(b * b for _, b in rows)
    a, b = sum(a for a, _ in rows), sum(b for _, b in rows)
    determinant = aa * bb - ab * ab
    return Fit((a * bb - b * ab) / determinant, determinant / (aa * b - ab * a))


def errors(points: list[tuple[int, float]]) -> tuple[Fit, dict[int, float]]:
    """Return the fit, and by how much it is off at each size from 16 KiB up, as a share."""
    rates = {size: rate for size, rate in points if size >= _SMALLEST}
    found = fit([(size, rates[size]) for size in fitted_sizes(list(rates))])
    return found, {size: found.rate_at(size) / rate - 1 for size, rate in rates.items()}


def table(profile: dict) -> tuple[list[str], bool]:
    """Return the lines of the table and its verdict, and whether every error is within 15 %."""
    lines, worst = [], 0.0
    for method, way in _CURVES:
        curve = profile["copy"][method][way]
        found, off = errors([(size, rate) for size, rate in curve["points"]])
        used = fitted_sizes(list(off))
        lines.append(
            f"{method} {way}: {found.seconds * 1e6:.2f} us a copy and {found.rate / 1e9:.1f} GB/s, "
            f"fitted to {', '.join(f'{size >> 10} KiB' for size in used)}; {curve['source']}"
        )
        lines += [
            f"  {size >> 10:>6} KiB {error * 100:+6.1f} %{'  (fitted)' if size in used else ''}"
            for size, error in off.items()
        ]
        worst = max([worst, *(abs(error) for error in off.values())])
    within = worst <= _LIMIT
    lines.append(
        f"The largest error is {worst * 100:.1f} %: "
        f"{'within' if within else 'NOT within'} {_LIMIT * 100:.0f} % of every published size."
    )
    return lines, within


def main() -> int:
    """Print the table of the profile that is named."""
    if len(sys.argv) != 2:
        print("usage: python3 -m kvroof_reports.small_copies PROFILE.json", file=sys.stderr)
        return 2
    try:
        lines, within = table(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError) as error:
        print(
            f"small_copies: {sys.argv[1]} can't be used: {error!r}; give a device profile whose "
            "`copy` has curves of dma and kernel in both directions.",
            file=sys.stderr,
        )
        return 2
    print("\n".join(lines))
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
