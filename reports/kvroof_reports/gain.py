# SPDX-License-Identifier: Apache-2.0
"""What plan hybrid gains over the better of the pure plans, as a sentence of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kvroof_reports.rows import Metric
from kvroof_reports.series import Point, Series
from kvroof_reports.text import figure, tokens


@dataclass(frozen=True)
class Gain:
    """The better pure plan's time over hybrid's, at one context of a series."""

    series: Series
    context: int
    factor: Metric

    @property
    def certain(self) -> bool:
        """Whether hybrid is faster with all of the interval."""
        return (self.factor.ci95 or (self.factor.value,))[0] > 1


def sentence(every: Sequence[Series]) -> str:
    """Return the largest gain among some series, a certain one first; empty if hybrid never ran."""
    gains = [
        Gain(series, point.context, factor)
        for series in every
        for point in series.points
        if (factor := gain_of(point))
    ]
    if not gains:
        return ""
    best = max(gains, key=lambda gain: (gain.certain, gain.factor.value))
    by = figure(best.factor.value, best.factor.ci95, "x")
    words = [str(best.series.params.get("kv_dtype", "")), best.series.label]
    setting = ", ".join(filter(None, words)) if len(every) > 1 else ""
    at = f"at {tokens(best.context)} tokens" + (f" ({setting})" if setting else "")
    if not best.certain:
        return f"Plan hybrid is nowhere faster for certain than the better pure plan: {by} {at}."
    most = ", where it gains most" if len(gains) > 1 else ""
    return f"Plan hybrid is faster than the better pure plan by {by} {at}{most}."


def gain_of(point: Point) -> Metric | None:
    """Return the record's own figure, else the ratio of the times; None without all three plans."""
    hybrid = point.ok("hybrid")
    recompute, copy = point.ttft("recompute"), point.ttft("copy")
    if not hybrid or not recompute or not copy:
        return None
    if "gain_over_pure" in hybrid.metrics:
        return hybrid.metrics["gain_over_pure"]
    if recompute.value <= copy.value and "speedup" in hybrid.metrics:
        return hybrid.metrics["speedup"]
    return Metric("x", min(recompute.value, copy.value) / hybrid.metrics["ttft"].value)
