# SPDX-License-Identifier: Apache-2.0
"""The one style of all figures: colours say what is drawn, dashes say the basis."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from kvroof_reports.text import seconds, short_tokens

# Okabe and Ito's palette, which colour-blind readers can tell apart.
_BLUE, _SKY, _GREEN = "#0072B2", "#56B4E9", "#009E73"
_VERMILION, _ORANGE, _PURPLE, _GREY = "#D55E00", "#E69F00", "#CC79A7", "#555555"

PLAN_COLOURS = {"recompute": _VERMILION, "copy": _BLUE, "hybrid": _GREEN}
PLAN_MARKERS = {"recompute": "o", "copy": "s", "hybrid": "^"}
BASIS_DASHES = {
    "measured": "solid",
    "emulated": "dashdot",
    "calibrated": (0, (7, 2)),
    "published": (0, (4, 2)),
    "datasheet": (0, (1, 1.5)),
}
SPEEDUP_COLOUR = _PURPLE
TUNNEL_COLOUR = _GREEN
REFERENCE_COLOUR = _GREY
MARGIN_COLOURS = {1.0: _BLUE, 1.1: _ORANGE, 2.0: _VERMILION}  # how much faster copying is
SUBJECT_COLOURS = (_BLUE, _VERMILION, _GREEN, _PURPLE, _ORANGE, _SKY, _GREY)
SUBJECT_MARKERS = "os^Dv"  # the next one each time that the colours are used up

_SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "legend.handlelength": 3.6,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "errorbar.capsize": 3,
    "text.parse_math": False,  # a name may hold a dollar sign
    "svg.fonttype": "path",
    "svg.hashsalt": "kvroof",  # the same record gives the same bytes
}


def subject_mark(number: int) -> tuple[str, str]:
    """Return the colour and marker of the numbered one among things of a kind."""
    turn, place = divmod(number, len(SUBJECT_COLOURS))
    return SUBJECT_COLOURS[place], SUBJECT_MARKERS[turn % len(SUBJECT_MARKERS)]


def use() -> None:
    """Make this the style of every figure that is drawn from now on, without a display."""
    matplotlib.use("Agg")
    matplotlib.rcParams.update(_SETTINGS)


def new_figure(columns: int = 1) -> tuple[Figure, list[Axes]]:
    """Return an empty figure of the standard size, and its axes."""
    figure = Figure(figsize=(7.6 if columns == 1 else 11.0, 5.2), layout="constrained")
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def context_axis(axes: Axes, contexts: Iterable[int]) -> None:
    """Make x a logarithmic axis of tokens, ticked at contexts that were tried."""
    tried = sorted(set(contexts))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(_spaced(tried)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_tokens(round(value))))
    axes.set_xlim(tried[0] / 1.25, tried[-1] * 1.25)
    axes.set_xlabel("context, tokens (1K = 1,024)")


def _spaced(values: list[int]) -> list[int]:
    """Keep the ends and whatever lies a readable distance from what is kept already."""
    gap = max((values[-1] / values[0]) ** (1 / 14), 1.02)
    kept = [values[0]]
    for value in values[1:-1]:
        if value >= kept[-1] * gap and values[-1] >= value * gap:
            kept.append(value)
    return kept + [values[-1]] * (values[-1] != values[0])


def seconds_axis(axes: Axes) -> None:
    """Make y a logarithmic axis of time."""
    _log_axis(
        axes, FuncFormatter(lambda value, _: seconds(value).replace(".00", "").replace(".0", ""))
    )
    axes.set_ylabel("time to first token")


def factor_axis(axes: Axes) -> None:
    """Make y a logarithmic axis of factors, with a line where copy and recompute are equal."""
    _log_axis(axes, FuncFormatter(lambda value, _: f"{value:g}x"))
    axes.axhline(1.0, color=REFERENCE_COLOUR, linewidth=1.0)
    axes.set_ylabel("speedup of copy over recompute")


def title(axes: Axes, *lines: str) -> None:
    """Set a title of some lines, each wrapped to the width of a figure of one column."""
    axes.set_title("\n".join(part for line in lines for part in textwrap.wrap(line, 76)))


def legend_below(axes: Axes) -> None:
    """Put the legend where it covers no data."""
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.16), borderaxespad=0)


def legend_at_foot(figure: Figure, axes: Iterable[Axes], columns: int = 1) -> None:
    """Put one legend for all axes, each label once, on a strip of its own below them."""
    entries = {}
    for each in axes:
        handles, labels = each.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    strip = 0.3 + 0.195 * -(-len(entries) // columns)  # inches
    height = figure.get_figheight() + strip
    figure.set_figheight(height)
    figure.get_layout_engine().set(rect=(0, strip / height, 1, 1 - strip / height))
    figure.legend(
        list(entries.values()), list(entries), loc="lower left", ncols=columns, borderaxespad=0.6
    )


def log_axes(axes: Axes, formatter: FuncFormatter) -> None:
    """Make both axes logarithmic, with marks inside a decade where there are few decades."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    _ticks(axes.xaxis, axes.get_xlim(), formatter)
    _ticks(axes.yaxis, axes.get_ylim(), formatter)


def _log_axis(axes: Axes, formatter: FuncFormatter) -> None:
    axes.set_yscale("log")
    _ticks(axes.yaxis, axes.get_ylim(), formatter)


def _ticks(axis: Axis, limits: tuple[float, float], formatter: FuncFormatter) -> None:
    wide = limits[1] / limits[0] > 1000
    axis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5), numticks=20))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(formatter)
