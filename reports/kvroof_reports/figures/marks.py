# SPDX-License-Identifier: Apache-2.0
"""What several figures draw: a plan's line with its intervals, and published bands."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from kvroof_reports import style
from kvroof_reports.rows import MODELLED, Interval
from kvroof_reports.series import Row


def line(axes: Axes, rows: Sequence[Row], colour: str, marker: str, basis: str, label: str) -> None:
    """Draw figures against context: a bar at measured intervals, a band over modelled ones."""
    contexts = [context for context, _ in rows]
    values = [metric.value for _, metric in rows]
    axes.plot(
        contexts,
        values,
        color=colour,
        marker=marker,
        label=label,
        linestyle=style.BASIS_DASHES[basis],
    )
    barred = [(context, metric) for context, metric in rows if metric.ci95]
    if barred and basis in MODELLED and len(barred) > 1:
        axes.fill_between(
            [c for c, _ in barred],
            [m.ci95[0] for _, m in barred if m.ci95],
            [m.ci95[1] for _, m in barred if m.ci95],
            color=colour,
            alpha=0.18,
            linewidth=0,
        )
    elif barred:
        below = [max(m.value - m.ci95[0], 0.0) for _, m in barred if m.ci95]
        above = [max(m.ci95[1] - m.value, 0.0) for _, m in barred if m.ci95]
        axes.errorbar(
            [c for c, _ in barred],
            [m.value for _, m in barred],
            yerr=[below, above],
            fmt="none",
            ecolor=colour,
            elinewidth=1.2,
        )


def bands(axes: Axes, rows: Sequence[tuple[int, Interval]], marker: str, label: str) -> None:
    """Draw published points: an open mark in the middle of a bar from low to high."""
    if not rows:
        return  # an entry in the legend would promise marks
    contexts = [context for context, _ in rows]
    middles = [(low + high) / 2 for _, (low, high) in rows]
    halves = [(high - low) / 2 for _, (low, high) in rows]
    axes.errorbar(
        contexts,
        middles,
        yerr=halves,
        fmt=marker,
        color=style.REFERENCE_COLOUR,
        markerfacecolor="none",
        markersize=8,
        elinewidth=1.2,
        label=label,
        zorder=3,
    )
