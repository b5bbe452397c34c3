# SPDX-License-Identifier: Apache-2.0
"""Hold plan hybrid against the better pure plan, point by point.

Usage: python -m kvroof_reports.hybrid FILE

FILE is the record of a run of all three plans. Exit status: 0 every gate holds, 1 one does not (no
point where the pure plans are near each other counts), 2 FILE is not a record.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SLOWEST = 0.95  # of the better pure plan's speed, at every point
NEAR = 0.20  # the pure plans' times differ by at most so much
LEAST_GAIN = 1.25  # where they do
LAST_TOKEN = 0.10  # and the last token's forward is under such a share of either plan


@dataclass(frozen=True)
class Point:
    """Three plans of one comparison group, in seconds."""

    what: str
    context: int
    recompute: float
    copy: float
    hybrid: float
    last_token: float

    @property
    def gain(self) -> float:
        """The better pure plan's time over hybrid's."""
        return min(self.recompute, self.copy) / self.hybrid

    @property
    def gated(self) -> bool:
        """Whether the pure plans are near each other and the last token's forward is short."""
        short, long = sorted((self.recompute, self.copy))
        return long <= short * (1 + NEAR) and self.last_token < LAST_TOKEN * short

    @property
    def passed(self) -> bool:
        """Whether the gain is what it must be here."""
        return self.gain >= (LEAST_GAIN if self.gated else SLOWEST)


def points_of(record: dict[str, Any]) -> Iterator[Point]:
    """Every group of ``record`` whose three plans are ok."""
    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for case in record["cases"]:
        if case["outcome"] != "ok":
            continue
        params = {k: v for k, v in case["params"].items() if k != "plan"}
        groups.setdefault(json.dumps(params), {})[case["params"]["plan"]] = case
    for text, plans in groups.items():
        if set(plans) != {"recompute", "copy", "hybrid"}:
            continue
        seconds = {plan: case["metrics"]["ttft"]["median"] for plan, case in plans.items()}
        share = plans["copy"]["metrics"]["last_token_share"]["median"]
        params = json.loads(text)
        what = f"{params['context_tokens']} tokens, batch {params['batch']}, link {params['link']}"
        yield Point(
            what,
            params["context_tokens"],
            seconds["recompute"],
            seconds["copy"],
            seconds["hybrid"],
            share * seconds["copy"],
        )


def main(arguments: list[str] | None = None) -> int:
    """Print every point with PASS or FAIL."""
    words = sys.argv[1:] if arguments is None else arguments
    if len(words) != 1 or words[0].startswith("-"):
        print(__doc__.strip())
        return 0 if words in (["-h"], ["--help"]) else 2
    try:
        record = json.loads(Path(words[0]).read_text(encoding="utf-8"))
        points = list(points_of(record))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{words[0]} is no record of kvroof run: {error}", file=sys.stderr)
        return 2
    for point in points:
        expected = f"{LEAST_GAIN:g}" if point.gated else f"{SLOWEST:g}"
        print(
            f"{'PASS' if point.passed else 'FAIL'}  {point.what}: recompute "
            f"{1e3 * point.recompute:.4g} ms, copy {1e3 * point.copy:.4g} ms, hybrid "
            f"{1e3 * point.hybrid:.4g} ms, gain {point.gain:.2f}, expected {expected} or more"
        )
    failed = sum(not point.passed for point in points)
    gated = sum(point.gated for point in points)
    if gated == 0:
        print(
            f"FAIL  at no point were the pure plans within {100 * NEAR:.0f} % of each other and "
            f"the last token's forward under {100 * LAST_TOKEN:.0f} % of either"
        )
    print(f"{len(points) - failed} of {len(points)} points hold, {gated} of them near each other.")
    return 1 if failed or gated == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
