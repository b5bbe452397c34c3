# SPDX-License-Identifier: Apache-2.0
"""The two roofs: FLOP/s of recomputing, bytes a second of copying, and the ceilings of both.

A mark is a case of plan recompute (left) or copy (right); plan hybrid does both at once, and is not
drawn. Full marks were measured (or emulated), open ones are modelled. A grey line is the ceiling of
a device or link that a record ran on, labelled with its rate: the peak that is stated, or what
plain work reaches. It bounds that record only, so others' marks may lie above it; a measured mark
may lie above its own by noise.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from kvroof_reports import style, text
from kvroof_reports.parameters import common, named
from kvroof_reports.rows import MODELLED, Case, Record
from kvroof_reports.text import standing

# Plan, what it did, its rate, its ceiling; the words of the axes and of the title.
_ROOFS = (
    (
        *("recompute", "flops", "flop_rate", "compute_ceiling"),
        *("FLOPs of the case", "FLOP/s", "Recompute under the compute roof"),
    ),
    (
        *("copy", "bytes_loaded", "copy_bandwidth", "link_ceiling"),
        *("bytes of KV copied", "B/s", "Copy under the link's roof"),
    ),
)
_LABEL_GAP = 0.06  # of the axis: roofs nearer to each other than this share a label
_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def cases_under(record: Record, plan: str, figures: Sequence[str]) -> list[Case]:
    """Return the record's cases of a plan that carry all of `figures`."""
    return [
        case
        for case in record.cases
        if case.outcome == "ok"
        and case.params["plan"] == plan
        and all(case.value(name) for name in figures)
    ]


def draw(records: Sequence[Record]) -> Figure:
    """Draw the ok cases of the pure plans of the records, and the roofs."""
    figure, panels = style.new_figure(columns=2)
    names = _names(records)
    for axes, (plan, work, rate, ceiling, x, y, title) in zip(panels, _ROOFS, strict=True):
        heights: set[float] = set()
        for number, record in enumerate(records):
            found = cases_under(record, plan, (work, rate, ceiling))
            if found:
                _draw_record(axes, found, (work, rate), number, names[number])
                heights |= {case.value(ceiling) or 0.0 for case in found}
        _draw_roofs(axes, sorted(heights), y)
        style.log_axes(axes, FuncFormatter(_engineering))
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        style.title(axes, title)
    style.legend_at_foot(figure, panels)
    return figure


def _draw_record(
    axes: Axes, found: list[Case], names: tuple[str, str], number: int, label: str
) -> None:
    work, rate = names
    colour, marker = style.subject_mark(number)
    modelled = found[0].basis in MODELLED
    axes.plot(
        [case.value(work) for case in found],
        [case.value(rate) for case in found],
        linestyle="none",
        marker=marker,
        color=colour,
        markerfacecolor="none" if modelled else colour,
        label=f"{label}, {standing(found[0].basis)}",
    )


def _draw_roofs(axes: Axes, heights: Sequence[float], unit: str) -> None:
    """Draw every height once; those too near each other to be labelled apart share a label."""
    for height in heights:
        axes.axhline(height, color=style.REFERENCE_COLOUR, linewidth=1.2, zorder=1)
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    for group in _near(heights, (high / low) ** _LABEL_GAP):
        ends = list(dict.fromkeys(text.rate(end, unit) for end in (group[0], group[-1])))
        axes.annotate(
            " to\n".join(ends),
            (1, (group[0] * group[-1]) ** 0.5),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            verticalalignment="center",
            fontsize=8,
            color=style.REFERENCE_COLOUR,
            annotation_clip=False,
        )


def _near(heights: Sequence[float], gap: float) -> list[list[float]]:
    """Split rising heights wherever the next one is more than a factor of `gap` away."""
    groups: list[list[float]] = []
    for height in heights:
        if groups and height <= groups[-1][-1] * gap:
            groups[-1].append(height)
        else:
            groups.append([height])
    return groups


def _names(records: Sequence[Record]) -> list[str]:
    """Return each record's model, device and shared parameters; its file where two read alike."""
    names = [
        f"{named(record, common(case.params for case in record.cases))} on {record.device_title}"
        for record in records
    ]
    return [
        f"{name}, {record.file}" if names.count(name) > 1 else name
        for name, record in zip(names, records, strict=True)
    ]


def _engineering(value: float, _: int) -> str:
    for factor, prefix in _PREFIXES:
        if value >= factor:
            return f"{value / factor:g} {prefix}"
    return f"{value:g}"
