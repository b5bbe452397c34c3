# SPDX-License-Identifier: Apache-2.0
"""From which context on copying is faster by a margin: a panel a link, a row a setting.

A full mark is a crossover, its bar the 95 % interval; an open mark: the margin lies within the
speedup's interval there, so it is not decided. Beside the contexts are two lanes: an arrow under
"all" says that copying is faster at every context that ran, a cross under "none" that it is at
none. A grey field is a context without a result (mostly for want of memory): that row's arrow or
cross speaks of the other contexts only. The grey strokes are the closed form, by the two roofs
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from kvroof_reports import style
from kvroof_reports.parameters import common, named
from kvroof_reports.rows import COMPARING, Crossover, Record
from kvroof_reports.setting import Setting, copies, label, names_of, setting_of, value_of
from kvroof_reports.text import short_tokens, standing

_MARKERS = {"found": "o", "inside_interval": "o", "below_smallest": "<", "none_in_range": "x"}
_SAID = {
    "found": "from this context up, 95 % interval",
    "inside_interval": "inside the interval: not decided",
    "below_smallest": "at every context that ran",
    "none_in_range": "at none that ran",
}
_STROKE = {
    "marker": "|",
    "markersize": 11,
    "linestyle": "none",
    "color": style.REFERENCE_COLOUR,
}
_FIELD = {"color": style.REFERENCE_COLOUR, "alpha": 0.15, "linewidth": 0, "zorder": 0}
_OFFSETS = {1.0: -0.22, 1.1: 0.0, 2.0: 0.22}  # of the margins, from the middle of a row


def contexts_of(record: Record) -> list[int]:
    """Return the contexts that a record tried, rising."""
    return sorted({c.params["context_tokens"] for c in record.cases if c.suite in COMPARING})


def drawable(record: Record) -> bool:
    """Whether there is anything to draw: answers of plan copy, and contexts to draw them at."""
    return bool(copies(record.crossovers) and contexts_of(record))


def draw(record: Record) -> Figure:
    """Draw the crossovers of plan copy, a panel a link, a row a setting."""
    found, closed = copies(record.crossovers), copies(record.closed_forms)
    links = list(dict.fromkeys(value_of(c.params, "link") for c in found))
    names = names_of(found)
    rows = list(dict.fromkeys(setting_of(c.params, names) for c in found))
    scale = _Scale(contexts_of(record))
    figure = Figure(
        figsize=(max(7.6, 1.6 + 3.2 * len(links)), 1.8 + 0.34 * len(rows)), layout="constrained"
    )
    panels = figure.subplots(1, len(links), squeeze=False, sharey=True)[0]
    for axes, link in zip(panels, links, strict=True):
        _prepare(axes, link, scale)
        _shade(axes, _without_result(record, link, names, rows, scale), scale)
        for crossover, y in _placed(closed, link, names, rows):
            axes.plot([_at(crossover, scale)], [y], **_STROKE)
        for crossover, y in _placed(found, link, names, rows):
            _mark(axes, crossover, y, scale)
    panels[0].set_yticks(range(len(rows)), [label(names, row) for row in rows])
    panels[0].set_ylim(len(rows) - 0.5, -0.5)
    _explain(panels[0], shaded=any(axes.patches for axes in panels))
    style.legend_at_foot(figure, panels[:1], columns=2 if len(links) == 1 else 3)
    shared = common(case.params for case in record.cases)
    figure.suptitle(
        f"From which context on copying is faster, {named(record, shared)}\n"
        f"on {record.device_title}, {standing(found[0].basis)}, {record.file}",
        ha="left",
        x=0.02,
        fontsize=11,
    )
    return figure


@dataclass(frozen=True)
class _Scale:
    """Where things lie on x: the contexts, and a lane on each side of them."""

    tried: Sequence[int]

    @property
    def _step(self) -> float:
        """From an outer context to the middle of the lane beside it, as a factor."""
        return max(1.8, (self.tried[-1] / self.tried[0]) ** 0.2)

    @property
    def every(self) -> float:
        """The lane of "at every context that ran"."""
        return self.tried[0] / self._step

    @property
    def none(self) -> float:
        """The lane of "at none that ran"."""
        return self.tried[-1] * self._step

    def field(self, context: int) -> tuple[float, float]:
        """Return the ends of the field around a context."""
        i = self.tried.index(context)
        around = (self.every, *self.tried, self.none)
        return (context * around[i]) ** 0.5, (context * around[i + 2]) ** 0.5


def _without_result(
    record: Record,
    link: str,
    names: Sequence[str],
    rows: Sequence[Setting],
    scale: _Scale,
) -> list[tuple[int, int]]:
    """Return the contexts of a link's rows at which copy can't be held against recompute."""
    ran = {
        (case.params["context_tokens"], setting_of(case.params, names))
        for case in record.cases
        if "speedup" in case.metrics and value_of(case.params, "link") == link
    }
    return [
        (context, y)
        for y, row in enumerate(rows)
        for context in scale.tried
        if (context, row) not in ran
    ]


def _shade(axes: Axes, fields: Sequence[tuple[int, int]], scale: _Scale) -> None:
    for context, y in fields:
        low, high = scale.field(context)
        axes.add_patch(Rectangle((low, y - 0.45), high - low, 0.9, **_FIELD))


def _placed(
    crossovers: Sequence[Crossover], link: str, names: Sequence[str], rows: Sequence[Setting]
) -> Iterator[tuple[Crossover, float]]:
    """Yield a link's crossovers with their heights; margins of a row lie above one another."""
    for crossover in crossovers:
        row = setting_of(crossover.params, names)
        if value_of(crossover.params, "link") == link and row in rows:
            yield crossover, rows.index(row) + _OFFSETS.get(crossover.margin, 0.0)


def _prepare(axes: Axes, link: str, scale: _Scale) -> None:
    tried = scale.tried
    style.context_axis(axes, tried)
    lanes = {scale.every: "all", scale.none: "none"}
    axes.set_xticks(
        [*lanes, *tried[:: 1 + len(tried) // 5]],
        [*lanes.values(), *map(short_tokens, tried[:: 1 + len(tried) // 5])],
    )
    axes.set_xlabel("context, tokens")
    outer, inner = scale.field(tried[0])[0], scale.field(tried[-1])[1]
    axes.set_xlim(scale.every**2 / outer, scale.none**2 / inner)
    for edge in (outer, inner):
        axes.axvline(edge, color=style.REFERENCE_COLOUR, linewidth=0.8)
    axes.set_title(f"link {link}")


def _at(crossover: Crossover, scale: _Scale) -> float:
    """Return where a crossover lies: at its context, or in the lane that its verdict names."""
    if crossover.verdict == "below_smallest":
        return scale.every
    return scale.none if crossover.context is None else crossover.context


def _mark(axes: Axes, crossover: Crossover, y: float, scale: _Scale) -> None:
    colour = style.MARGIN_COLOURS.get(crossover.margin, style.REFERENCE_COLOUR)
    if crossover.ci95:
        axes.plot(crossover.ci95, [y, y], color=colour, linewidth=1.2)
    axes.plot([_at(crossover, scale)], [y], color=colour, **_shape(crossover.verdict))


def _shape(verdict: str) -> dict[str, Any]:
    shape = {"marker": _MARKERS[verdict], "markersize": 5, "linestyle": "none"}
    return {**shape, "markerfacecolor": "none"} if verdict == "inside_interval" else shape


def _explain(axes: Axes, *, shaded: bool) -> None:
    """Give each colour and each mark its entry in the legend."""
    for margin, colour in style.MARGIN_COLOURS.items():
        axes.plot([], [], "s", color=colour, label=f"at least {margin:g}x faster")
    for verdict, said in _SAID.items():
        axes.plot([], [], color=style.REFERENCE_COLOUR, label=said, **_shape(verdict))
    axes.plot([], [], label="closed form: the two roofs alone", **_STROKE)
    if shaded:
        axes.add_patch(Rectangle((1, 0), 0, 0, label="no result at this context", **_FIELD))
