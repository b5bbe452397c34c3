# SPDX-License-Identifier: Apache-2.0
"""The host's measured pair beside a modelled accelerator's: TTFT on the left, speedup on the right.

Solid lines are measured, with 95 % intervals; broken ones are modelled. The two machines run other
models and contexts, so read each pair against itself: the distance between recompute and copy is
what the machine's balance makes it.
"""

from __future__ import annotations

from matplotlib.figure import Figure

from kvroof_reports import style
from kvroof_reports.figures import marks
from kvroof_reports.series import Series
from kvroof_reports.text import standing


def draw(host: Series, gpu: Series) -> Figure:
    """Draw a measured series of the host beside a modelled one."""
    figure, (left, right) = style.new_figure(columns=2)
    for series in (host, gpu):
        for plan in ("recompute", "copy"):
            rows = series.ttfts(plan)
            marks.line(
                left,
                rows,
                style.PLAN_COLOURS[plan],
                style.PLAN_MARKERS[plan],
                series.basis,
                f"{plan}, {_where(series)}",
            )
        rows = series.speedups
        marks.line(right, rows, style.SPEEDUP_COLOUR, "D", series.basis, _where(series))
    style.seconds_axis(left)
    style.factor_axis(right)
    for axes in (left, right):
        style.context_axis(axes, [p.context for series in (host, gpu) for p in series.points])
        style.legend_below(axes)
    style.title(left, "Time to first token")
    style.title(right, "Speedup of copy over recompute")
    lines = [f"{name}: {s.named} on {_where(s)}" for name, s in (("Solid", host), ("broken", gpu))]
    figure.suptitle("\n".join(lines), x=0.01, horizontalalignment="left", fontsize=11)
    return figure


def _where(series: Series) -> str:
    record = series.record
    name = "host CPU" if record.device["backend"] == "host" else record.device_name
    return f"{name}, {standing(series.basis)}"
