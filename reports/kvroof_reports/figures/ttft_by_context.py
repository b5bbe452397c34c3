# SPDX-License-Identifier: Apache-2.0
"""Time to first token against context, one line a plan, both axes logarithmic.

Bars and bands are 95 % intervals, where there are any. A measured line joins medians; a modelled
one is the run with the profile's nominal values, near the fast end of its band where derates, which
can only lengthen, have a range.

Open marks are published measurements of the same model and device; their bars reach from the lower
to the higher reading of the published chart.
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
    """Draw the TTFT of every plan of a series that has results."""
    figure, (axes,) = style.new_figure()
    for plan, colour in style.PLAN_COLOURS.items():
        rows = series.ttfts(plan)
        if rows:
            basis = series.plan_basis(plan)
            label = f"{plan}, {standing(basis)}"
            marks.line(axes, rows, colour, style.PLAN_MARKERS[plan], basis, label)
    if published:
        _draw_published(axes, series, published)
    style.seconds_axis(axes)
    style.context_axis(axes, [p.context for p in series.points])
    style.title(axes, f"TTFT of {series.named}", f"on {series.where}")
    style.legend_below(axes)
    return figure


def _draw_published(axes: Axes, series: Series, published: Published) -> None:
    tried = published.among([p.context for p in series.points])
    for plan in ("recompute", "copy"):
        marks.bands(
            axes,
            [(p.context, p.band(plan)) for p in tried],
            style.PLAN_MARKERS[plan],
            f"{plan}, published: {published.name}",
        )
