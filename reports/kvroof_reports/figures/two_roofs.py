# SPDX-License-Identifier: Apache-2.0
"""The two roofs, and every case under them: FLOP/s of recomputing, bytes a second of copying.

A line is a device's ceiling: the peak that it states, or what plain work reaches on it. Full marks
were measured (or emulated), open ones are modelled.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from kvroof_reports import style
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
        *("bytes of KV copied", "bytes/s", "Copy under the link's roof"),
    ),
)
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
    """Draw every ok case of the records against its roof."""
    figure, panels = style.new_figure(columns=2)
    subjects = list(dict.fromkeys(_subject(record) for record in records))
    for axes, (plan, work, rate, ceiling, x, y, title) in zip(panels, _ROOFS, strict=True):
        for record in records:
            found = cases_under(record, plan, (work, rate, ceiling))
            if found:
                number = subjects.index(_subject(record))
                _draw_record(axes, record, found, (work, rate, ceiling), number)
        style.log_axes(axes, FuncFormatter(_engineering))
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        style.title(axes, title)
    style.legend_at_foot(figure, panels)
    return figure


def _draw_record(
    axes: Axes, record: Record, found: list[Case], names: tuple[str, str, str], number: int
) -> None:
    work, rate, ceiling = names
    colour, marker = style.subject_mark(number)
    modelled = found[0].basis in MODELLED
    basis = standing(found[0].basis)
    axes.plot(
        [case.value(work) for case in found],
        [case.value(rate) for case in found],
        linestyle="none",
        marker=marker,
        color=colour,
        markerfacecolor="none" if modelled else colour,
        label=f"{_subject(record)}, {basis}",
    )
    for height in sorted({case.value(ceiling) or 0.0 for case in found}):
        axes.axhline(height, color=colour, linewidth=1.2)


def _subject(record: Record) -> str:
    return f"{record.model_name} on {record.device_name}"


def _engineering(value: float, _: int) -> str:
    for factor, prefix in _PREFIXES:
        if value >= factor:
            return f"{value / factor:g} {prefix}"
    return f"{value:g}"
