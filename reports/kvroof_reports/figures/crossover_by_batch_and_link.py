# SPDX-License-Identifier: Apache-2.0
"""From which context on copying is faster by a margin, over batch, live sequences, dtype and link.

A full mark is a crossover, its bar the 95 % interval. An arrow to the left: at every context tried.
An open mark: the crossover lies inside the interval there. A cross on the right: at none that was
tried. The grey strokes are the closed form, by the two roofs alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from kvroof_reports import style
from kvroof_reports.rows import Crossover, Record
from kvroof_reports.text import standing

_ROW = ("batch", "live", "kv_dtype")


def draw(record: Record) -> Figure:
    """Draw the crossovers of plan copy, a panel a link."""
    found = [c for c in record.crossovers if c.params.get("plan") == "copy"]
    links = list(dict.fromkeys(str(c.params.get("link")) for c in found))
    rows = list(dict.fromkeys(_row(c.params) for c in found))
    tried = sorted({case.params["context_tokens"] for case in record.cases})
    figure = Figure(
        figsize=(max(7.6, 1.6 + 3.2 * len(links)), 1.8 + 0.34 * len(rows)), layout="constrained"
    )
    panels = figure.subplots(1, len(links), squeeze=False, sharey=True)[0]
    for axes, link in zip(panels, links, strict=True):
        style.context_axis(axes, tried)
        axes.xaxis.set_major_locator(FixedLocator(tried[:: 1 + len(tried) // 5]))
        axes.set_xlabel("context, tokens")
        axes.set_xlim(tried[0] / 1.8, tried[-1] * 2.4)
        axes.set_title(f"link {link}")
        own = [c for c in found if str(c.params.get("link")) == link]
        closed = [
            c
            for c in record.closed_forms
            if str(c.params.get("link")) == link and c.params.get("plan") == "copy"
        ]
        for crossover in closed:
            _stroke(axes, crossover, rows)
        for crossover in own:
            _mark(axes, crossover, rows, tried)
    panels[0].set_yticks(range(len(rows)), [_label(row) for row in rows])
    panels[0].invert_yaxis()
    for margin, colour in style.MARGIN_COLOURS.items():
        panels[0].plot([], [], "o", color=colour, label=f"at least {margin:g}x faster")
    style.legend_at_foot(figure, panels[:1], columns=3)
    figure.suptitle(
        f"{record.model_name} on {record.device_name}, {standing(found[0].basis)}",
        ha="left",
        x=0.02,
    )
    return figure


def _row(params: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(params.get(name)) for name in _ROW)


def _label(row: tuple[str, ...]) -> str:
    batch, live, dtype = row
    return f"batch {batch}, live {live}, {dtype}"


def _height(crossover: Crossover, rows: Sequence[tuple[str, ...]]) -> float:
    """Margins of a row lie a little above one another."""
    offset = {1.0: -0.22, 1.1: 0.0, 2.0: 0.22}.get(crossover.margin, 0.0)
    return rows.index(_row(crossover.params)) + offset


def _mark(
    axes: Axes, crossover: Crossover, rows: Sequence[tuple[str, ...]], tried: Sequence[int]
) -> None:
    colour = style.MARGIN_COLOURS.get(crossover.margin, style.REFERENCE_COLOUR)
    y = _height(crossover, rows)
    if crossover.context is None:
        axes.plot([tried[-1] * 1.6], [y], "x", color=colour, markersize=5)
        return
    if crossover.ci95:
        axes.plot(crossover.ci95, [y, y], color=colour, linewidth=1.2)
    shape = "<" if crossover.verdict == "below_smallest" else "o"
    inside = crossover.verdict == "inside_interval"
    axes.plot(
        [crossover.context],
        [y],
        shape,
        color=colour,
        markersize=5,
        markerfacecolor="none" if inside else colour,
    )


def _stroke(axes: Axes, crossover: Crossover, rows: Sequence[tuple[str, ...]]) -> None:
    if crossover.context is None or _row(crossover.params) not in rows:
        return
    y = _height(crossover, rows)
    axes.plot([crossover.context], [y], "|", color=style.REFERENCE_COLOUR, markersize=11)
