# SPDX-License-Identifier: Apache-2.0
"""The wind tunnel beside the machine that it imitates: prefill time over load time, both alone.

The lower axis is the simulated machine's context; the tunnel ran an eighth of it. The link of the
tunnel was set at one context, which the dotted line marks, and kept for all others. Bars and bands
are 95 % intervals. On the right: the share of a copy's TTFT after the load's end, which is not
similar.
"""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from kvroof_reports import style
from kvroof_reports.figures import marks
from kvroof_reports.text import standing
from kvroof_reports.tunnel_comparison import Tunnel


def draw(tunnel: Tunnel) -> Figure:
    """Draw a tunnel's speedups, and its shares after the load, beside the simulated ones."""
    figure, (left, right) = style.new_figure(columns=2)
    kinds = (
        (tunnel.simulated, style.SPEEDUP_COLOUR, "D"),
        (tunnel.series, style.TUNNEL_COLOUR, "s"),
    )
    points = tunnel.points
    for i, (series, colour, marker) in enumerate(kinds):
        name = f"{series.named} on {_where(tunnel, i)}, {standing(series.basis)}"
        marks.line(left, tunnel.rows[i], colour, marker, series.basis, name)
        shares = [(p.context, share) for p in points if (share := p.shares[i]) is not None]
        right.plot(
            [context for context, _ in shares],
            [share for _, share in shares],
            color=colour,
            marker=marker,
            linestyle=style.BASIS_DASHES[series.basis],
            label=f"{_where(tunnel, i)}, {standing(series.basis)}",
        )
    left.axvline(
        tunnel.balance["machine_context_tokens"],
        color=style.REFERENCE_COLOUR,
        linestyle="dotted",
        linewidth=1.0,
        label="where the tunnel's link was set",
    )
    style.factor_axis(left)
    left.set_ylabel("prefill time over load time")
    right.set_ylabel("after the load, share of TTFT")
    right.set_ylim(0, 1)
    right.yaxis.set_major_formatter(PercentFormatter(1.0))
    for axes in (left, right):
        style.context_axis(axes, [p.context for p in points])
        axes.set_xlabel(
            f"context of the simulated machine, tokens (the tunnel's: 1/{tunnel.scale})"
        )
        style.legend_below(axes)
    style.title(left, "Load and prefill alone")
    style.title(right, "Share of a copy's TTFT after the load's end")
    return figure


def _where(tunnel: Tunnel, i: int) -> str:
    return "the wind tunnel" if i else tunnel.simulated.device
