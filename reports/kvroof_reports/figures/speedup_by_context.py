# SPDX-License-Identifier: Apache-2.0
"""Speedup of copy over recompute against context, both axes logarithmic.

Above the line at 1x copying wins. Bars and bands are 95 % intervals, where there are any. A
modelled line is the run with the profile's nominal values, not the middle of its band.

The grey band is the published range of speedups; open marks are the published points, with bars as
far as the readings of the published chart allow.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kvroof_reports import style
from kvroof_reports.figures import marks
from kvroof_reports.published import Published
from kvroof_reports.series import Series
from kvroof_reports.text import standing


def draw(series: Series, published: Published | None = None) -> Figure:
    """Draw the speedup of a series at every context that has both plans."""
    figure, (axes,) = style.new_figure()
    rows = series.speedups
    marks.line(
        axes, rows, style.SPEEDUP_COLOUR, "D", series.basis, f"kvroof, {standing(series.basis)}"
    )
    if published:
        _draw_published(axes, published, [context for context, _ in rows])
    style.factor_axis(axes)
    style.context_axis(axes, [p.context for p in series.points])
    style.title(axes, f"Copy over recompute, {series.named}", f"on {series.where}")
    style.legend_below(axes)
    return figure


def _draw_published(axes: Axes, published: Published, contexts: list[int]) -> None:
    low, high = published.claimed_speedup
    axes.axhspan(
        low,
        high,
        color=style.REFERENCE_COLOUR,
        alpha=0.12,
        linewidth=0,
        label=f"published claim, {low:g}x to {high:g}x",
    )
    rows = [(p.context, p.speedup) for p in published.among(contexts)]
    marks.bands(axes, rows, "o", f"published: {published.name}")
