# SPDX-License-Identifier: Apache-2.0
"""Compare a run with published points, gate by gate.

Usage: python -m kvroof_reports.claim FILE

FILE is the record of a `ttft` run of the published model on the published device. Exit status: 0
every gate holds, 1 one does not (a point that was never run counts), 2 FILE is not a record.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kvroof_reports.gates import Check, NotComparable, command
from kvroof_reports.load import load_record
from kvroof_reports.published import Published, PublishedPoint, load_published
from kvroof_reports.rows import MODELLED, Interval, Record
from kvroof_reports.series import Point, Series, series_of
from kvroof_reports.text import band as range_text
from kvroof_reports.text import milliseconds, short_tokens, times

RECOMPUTE_RANGE = (-0.18, 0.05)  # a model without TTFT points comes out fast, not slow
COPY_RANGE = (-0.15, 0.15)
COPY_SLACK_SECONDS = 0.010  # at short contexts, where a share of the band would mean nothing
SHORT_CONTEXT = 10240  # up to here the slack applies
LEAST_HELD = 0.8  # of an arm's gated points: whose published band lies inside the interval
WIDEST = 0.20  # half of an interval, in shares of its median, from SHORT_CONTEXT up
SPEEDUP_RANGES = {1024: (1.5, 3.0), 102400: (19.0, 26.0)}


GATES = (
    f"Gates on recompute allow {100 * RECOMPUTE_RANGE[0]:+.0f} % to "
    f"{100 * RECOMPUTE_RANGE[1]:+.0f} % outside the published band; those on copy "
    f"{100 * COPY_RANGE[0]:+.0f} % to {100 * COPY_RANGE[1]:+.0f} %, and "
    f"{1e3 * COPY_SLACK_SECONDS:g} ms up to {short_tokens(SHORT_CONTEXT)}. "
    "The speedup is gated at "
    + " and ".join(
        f"{short_tokens(at)} ({a:g}x to {b:g}x)" for at, (a, b) in SPEEDUP_RANGES.items()
    )
    + " alone. A modelled device's derates must all be 1, and of each plan's intervals "
    f"{100 * LEAST_HELD:.0f} % must hold the band, none wider than ±{100 * WIDEST:.0f} %."
)


def outside(value: float, band: Interval) -> float:
    """Return how far a value is outside a band, as a signed share of the nearer edge."""
    low, high = band
    return (value - high) / high if value > high else (value - low) / low if value < low else 0.0


def outside_text(share: float) -> str:
    """Return what `outside` found, as a column has it."""
    return f"{100 * share:+.1f} %" if share else "in band"


def checks_of(series: Series, published: Published) -> list[Check]:
    """Compare a series with the publication that speaks of it."""
    found = [
        check
        for point in published.points
        for check in _point_checks(_at(series, point.context), point)
    ]
    if series.basis in MODELLED:
        for plan in ("recompute", "copy"):
            found += _interval_checks(series, published, plan)
        found += _derate_checks(series.record)
    return found


def _interval_checks(series: Series, published: Published, plan: str) -> list[Check]:
    """Whether drawn intervals hold what was published, and are narrow enough to say something."""
    gated = [point for point in published.points if point.gated]
    rows = [(point.band(plan), _at(series, point.context).ttft(plan)) for point in gated]
    drawn = [(band, t.value, t.ci95) for band, t in rows if t and t.ci95]
    what = (f"{plan} intervals", f"{plan} half-widths")
    need = round(LEAST_HELD * len(gated))
    expected = (f"{need} of {len(gated)} hold the band", f"at most {100 * WIDEST:.0f} %")
    if not drawn:
        return [Check(w, "none drawn", e, False, ran=False) for w, e in zip(what, expected)]
    held = sum(ci[0] <= band[0] and band[1] <= ci[1] for band, _, ci in drawn)
    widest = max((ci[1] - ci[0]) / 2 / value for _, value, ci in drawn)
    return [
        Check(what[0], f"{held} of {len(drawn)} hold it", expected[0], held >= need),
        Check(what[1], f"{100 * widest:.1f} % at most", expected[1], widest <= WIDEST),
    ]


def _at(series: Series, context: int) -> Point:
    return next((p for p in series.points if p.context == context), Point(context, {}))


def _point_checks(point: Point, published: PublishedPoint) -> Iterator[Check]:
    name = short_tokens(point.context)
    if published.gated:
        yield _ttft_check(point, "recompute", published.recompute, RECOMPUTE_RANGE)
    if point.context <= SHORT_CONTEXT:
        yield _slack_check(point, published.copy)
    else:
        yield _ttft_check(point, "copy", published.copy, COPY_RANGE)
    if point.context in SPEEDUP_RANGES:
        low, high = SPEEDUP_RANGES[point.context]
        expected = f"{low:g}x to {high:g}x"
        speedup = point.speedup
        if speedup is None:
            yield Check(f"speedup at {name}", "never run", expected, False, ran=False)
        else:
            yield Check(
                f"speedup at {name}", times(speedup.value), expected, low <= speedup.value <= high
            )


def _ttft_check(point: Point, plan: str, band: Interval, allowed: Interval) -> Check:
    what = f"{plan} at {short_tokens(point.context)}"
    expected = f"{range_text(band)} ms, {100 * allowed[0]:+.0f} % to {100 * allowed[1]:+.0f} %"
    ttft = point.ttft(plan)
    if ttft is None:
        return Check(what, _absent(point, plan), expected, False, ran=plan in point.cases)
    off = outside(ttft.value, band)
    return Check(
        what,
        f"{milliseconds(ttft.value)} ms ({outside_text(off)})",
        expected,
        allowed[0] <= off <= allowed[1],
    )


def _slack_check(point: Point, band: Interval) -> Check:
    what = f"copy at {short_tokens(point.context)}"
    expected = f"{range_text(band)} ms, ± {milliseconds(COPY_SLACK_SECONDS)} ms"
    ttft = point.ttft("copy")
    if ttft is None:
        return Check(what, _absent(point, "copy"), expected, False, ran="copy" in point.cases)
    off = max(band[0] - ttft.value, ttft.value - band[1], 0.0)
    off_text = f"{milliseconds(off)} ms outside" if off else "in band"
    return Check(
        what, f"{milliseconds(ttft.value)} ms ({off_text})", expected, off <= COPY_SLACK_SECONDS
    )


def _absent(point: Point, plan: str) -> str:
    case = point.cases.get(plan)
    return f"{case.outcome}: {case.reason}" if case else "never run"


def _derate_checks(record: Record) -> list[Check]:
    found = list(_derates(record.device.get("profile") or {}, ""))
    if not found:
        return [Check("derates of the profile", "none in the record", "1", False)]
    return [Check(name, f"{value:g}", "1", value == 1) for name, value in found]


def _derates(node: Any, where: str) -> Iterator[tuple[str, float]]:
    """Walk a profile for what names itself a derate."""
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        path = f"{where}.{key}" if where else key
        inner = value.get("value") if isinstance(value, dict) else value
        if "derate" in path and isinstance(inner, (int, float)):
            yield path, float(inner)
        else:
            yield from _derates(value, path)


def _claimed_series(record: Record) -> tuple[Series, Published]:
    for published in load_published():
        matching = [series for series in series_of(record) if published.matches(series)]
        if matching:
            return matching[0], published
    raise NotComparable(
        f"{record.path}: no ttft case of a published setting (model, device, batch 1, bf16, its "
        f"own link); it holds {record.model_name} on {record.device_name}."
    )


def _compare(files: Sequence[Path]) -> tuple[str, list[Check]]:
    series, published = _claimed_series(load_record(files[0]))
    head = f"{published.name}: {published.setting}\n{published.source_url}"
    return head, checks_of(series, published)


def main(arguments: list[str] | None = None) -> int:
    """Print every gate with PASS, FAIL or `not run`."""
    return command(__doc__, 1, _compare, arguments)


if __name__ == "__main__":
    sys.exit(main())
