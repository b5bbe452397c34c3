# SPDX-License-Identifier: Apache-2.0
"""A series beside the points that were published of the same model and device."""

from __future__ import annotations

from kvroof_reports.claim import GATES, checks_of, outside, outside_text
from kvroof_reports.document import Block, Table, cells
from kvroof_reports.gates import verdict
from kvroof_reports.published import Published
from kvroof_reports.rows import Interval, Metric
from kvroof_reports.series import Point, Series
from kvroof_reports.text import band, milliseconds, standing, times, tokens


def beside_published(series: Series, published: Published) -> list[Block]:
    """Return the table of both, the gates that hold, and the source."""
    return [_table(series, published), *_gates(series, published)]


def _table(series: Series, published: Published) -> Table:
    """Set a series beside the published points; errors are distances outside the band."""
    points = {point.context: point for point in series.points}
    word = standing(series.basis).split(" (")[0]
    rows = []
    for reference in published.points:
        point = points.get(reference.context, Point(reference.context, {}))
        speedup = point.speedup
        rows.append(
            cells(
                tokens(reference.context),
                *_against(point.ttft("recompute"), reference.recompute),
                *_against(point.ttft("copy"), reference.copy),
                times(speedup.value) if speedup else "not run",
                f"{times(reference.speedup[0])} to {times(reference.speedup[1])}",
                outside_text(outside(speedup.value, reference.speedup)) if speedup else "–",
            )
        )
    return Table(
        f"{series.record.device_name}, {standing(series.basis)}, beside what was published. "
        "An error is the distance outside the band of the chart's two readings, relative to the "
        "nearer edge.",
        (
            "context, tokens",
            f"recompute, {word}, ms",
            "published, ms",
            "error",
            f"copy, {word}, ms",
            "published, ms",
            "error",
            f"speedup, {word}",
            "published",
            "error",
        ),
        tuple(rows),
        frozenset(),
    )


def _against(found: Metric | None, published: Interval) -> tuple[str, str, str]:
    if found is None:
        return "not run", band(published), "–"
    return milliseconds(found.value), band(published), outside_text(outside(found.value, published))


def _gates(series: Series, published: Published) -> list[Block]:
    text = (
        f"{verdict(checks_of(series, published))} {GATES} "
        "The published figures have their engine's own serving cost."
    )
    source = (
        f"Published: {published.name}, {published.source_url}. {published.setting}. "
        f"{published.how_read}"
    )
    return [text, source]
