# SPDX-License-Identifier: Apache-2.0
"""Hold plan hybrid against the better pure plan, point by point.

Usage: python -m kvroof_reports.hybrid FILE

FILE is the record of a run of all three plans. Exit status: 0 every gate holds, 1 one does not (no
point where the pure plans are near each other counts), 2 FILE is not a record.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kvroof_reports.gates import Check, command
from kvroof_reports.load import load_record
from kvroof_reports.rows import AFTER_LOAD, COMPARING, Record
from kvroof_reports.series import Point as Plans
from kvroof_reports.series import Series, series_of
from kvroof_reports.text import milliseconds, times

SLOWEST = 0.95  # of the better pure plan's speed, at every point
NEAR = 0.20  # the pure plans' times differ by at most so much
LEAST_GAIN = 1.25  # where they do
SHORT_END = 0.10  # and what follows a copy's load takes under such a share of either plan


@dataclass(frozen=True)
class Point:
    """The three plans at one context of a series, in seconds."""

    what: str
    context: int
    recompute: float
    copy: float
    hybrid: float
    after_load: float | None  # of copy; None where the record does not say it

    @property
    def gain(self) -> float:
        """The better pure plan's time over hybrid's."""
        return min(self.recompute, self.copy) / self.hybrid

    @property
    def gated(self) -> bool:
        """Whether the pure plans are near each other and what follows a load is short."""
        short, long = sorted((self.recompute, self.copy))
        known_short = self.after_load is not None and self.after_load < SHORT_END * short
        return long <= short * (1 + NEAR) and known_short

    @property
    def least_gain(self) -> float:
        """What the gain must be here."""
        return LEAST_GAIN if self.gated else SLOWEST


def points_of(record: Record) -> list[Point]:
    """Return every context of a record at which all three plans are ok."""
    found = [(s, plans) for s in series_of(record, COMPARING) for plans in s.points]
    return [point for series, plans in found if (point := _point(series, plans))]


def _point(series: Series, plans: Plans) -> Point | None:
    recompute, copy, hybrid = (plans.ttft(plan) for plan in ("recompute", "copy", "hybrid"))
    case = plans.ok("copy")
    if not recompute or not copy or not hybrid or not case:
        return None
    share = case.value(AFTER_LOAD)
    return Point(
        what=", ".join(
            word for word in (f"{plans.context} tokens", series.subject, series.label) if word
        ),
        context=plans.context,
        recompute=recompute.value,
        copy=copy.value,
        hybrid=hybrid.value,
        after_load=None if share is None else share * copy.value,
    )


def checks_of(points: Sequence[Point]) -> list[Check]:
    """Return a gate for every point, and one that asks for points where the pure plans meet."""
    near = sum(point.gated for point in points)
    asked = (
        f"1 at least (pure plans within {100 * NEAR:.0f} %, under {100 * SHORT_END:.0f} % of each "
        "after the load)"
    )
    found = f"{near} of {len(points)} points"
    return [*map(_check, points), Check("near each other", found, asked, near > 0)]


def _check(point: Point) -> Check:
    found = (
        f"gain {times(point.gain)}: recompute {milliseconds(point.recompute)} ms, copy "
        f"{milliseconds(point.copy)} ms, hybrid {milliseconds(point.hybrid)} ms"
    )
    return Check(
        point.what, found, f"{point.least_gain:g}x or more", point.gain >= point.least_gain
    )


def _compare(files: Sequence[Path]) -> tuple[str, list[Check]]:
    return "", checks_of(points_of(load_record(files[0])))


def main(arguments: list[str] | None = None) -> int:
    """Print every gate with PASS or FAIL."""
    return command(__doc__, 1, _compare, arguments)


if __name__ == "__main__":
    sys.exit(main())
