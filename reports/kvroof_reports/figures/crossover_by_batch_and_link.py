# SPDX-License-Identifier: Apache-2.0
"""From which context on copying is faster by a margin: a panel a link, a row a setting.

A full mark is a crossover, its bar the 95 % interval. An arrow to the left: at every context tried.
An open mark: the crossover lies inside the interval there. A cross on the right: at none that was
tried. The grey strokes are the closed form, by the two roofs alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from kvroof_reports import style
from kvroof_reports.parameters import common, named
from kvroof_reports.rows import Crossover, Record
from kvroof_reports.setting import Setting, copies, label, names_of, setting_of, value_of
from kvroof_reports.text import standing

_OFFSETS = {1.0: -0.22, 1.1: 0.0, 2.0: 0.22}  # of the margins, from the middle of a row


def draw(record: Record) -> Figure:
    """Draw the crossovers of plan copy, a panel a link, a row a setting."""
    found, closed = copies(record.crossovers), copies(record.closed_forms)
    links = list(dict.fromkeys(value_of(c.params, "link") for c in found))
    names = names_of(found)
    rows = list(dict.fromkeys(setting_of(c.params, names) for c in found))
    tried = sorted({case.params["context_tokens"] for case in record.cases})
    figure = Figure(
        figsize=(max(7.6, 1.6 + 3.2 * len(links)), 1.8 + 0.34 * len(rows)), layout="constrained"
    )
    panels = figure.subplots(1, len(links), squeeze=False, sharey=True)[0]
    for axes, link in zip(panels, links, strict=True):
        _prepare(axes, link, tried)
        for crossover, y in _placed(closed, link, names, rows):
            _stroke(axes, crossover, y)
        for crossover, y in _placed(found, link, names, rows):
            _mark(axes, crossover, y, tried)
    panels[0].set_yticks(range(len(rows)), [label(names, row) for row in rows])
    panels[0].invert_yaxis()
    for margin, colour in style.MARGIN_COLOURS.items():
        panels[0].plot([], [], "o", color=colour, label=f"at least {margin:g}x faster")
    shared = common(case.params for case in record.cases)
    style.legend_at_foot(figure, panels[:1], columns=3)
    figure.suptitle(
        f"From which context on copying is faster, {named(record, shared)}\n"
        f"on {record.device_title}, {standing(found[0].basis)}, {record.file}",
        ha="left",
        x=0.02,
        fontsize=11,
    )
    return figure


def _placed(
    crossovers: Sequence[Crossover], link: str, names: Sequence[str], rows: Sequence[Setting]
) -> Iterator[tuple[Crossover, float]]:
    """Yield a link's crossovers with their heights; margins of a row lie above one another."""
    for crossover in crossovers:
        row = setting_of(crossover.params, names)
        if value_of(crossover.params, "link") == link and row in rows:
            yield crossover, rows.index(row) + _OFFSETS.get(crossover.margin, 0.0)


def _prepare(axes: Axes, link: str, tried: Sequence[int]) -> None:
    style.context_axis(axes, tried)
    axes.xaxis.set_major_locator(FixedLocator(tried[:: 1 + len(tried) // 5]))
    axes.set_xlabel("context, tokens")
    axes.set_xlim(tried[0] / 1.8, tried[-1] * 2.4)
    axes.set_title(f"link {link}")


def _mark(axes: Axes, crossover: Crossover, y: float, tried: Sequence[int]) -> None:
    colour = style.MARGIN_COLOURS.get(crossover.margin, style.REFERENCE_COLOUR)
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


def _stroke(axes: Axes, crossover: Crossover, y: float) -> None:
    if crossover.context is not None:
        axes.plot([crossover.context], [y], "|", color=style.REFERENCE_COLOUR, markersize=11)
