# SPDX-License-Identifier: Apache-2.0
"""A wind tunnel's run beside the simulated machine that it imitates, context by context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kvroof_reports.rows import AFTER_LOAD, ALONE, Metric
from kvroof_reports.series import Row, Series
from kvroof_reports.text import interval, percent, rate, short_tokens, times


@dataclass(frozen=True)
class TunnelPoint:
    """One context of the simulated machine, and the tunnel's that is similar to it."""

    context: int
    own: int
    simulated: Metric | None  # speedups of load and prefill alone
    tunnel: Metric | None
    shares: tuple[float | None, float | None]  # of a copy's TTFT after the load's end

    @property
    def deviation(self) -> float | None:
        """How far the tunnel's speedup is from the simulated one, as a share of that."""
        if self.simulated is None or self.tunnel is None:
            return None
        return self.tunnel.value / self.simulated.value - 1


@dataclass(frozen=True)
class Tunnel:
    """A tunnel's series beside the simulated one that it imitates."""

    simulated: Series
    series: Series

    @property
    def balance(self) -> dict[str, Any]:
        """What the tunnel's link was set by."""
        return self.series.record.device["balance"]

    @property
    def scale(self) -> int:
        """How many of the machine's tokens one of the tunnel's stands for."""
        return self.balance["machine_context_tokens"] // self.balance["context_tokens"]

    def at(self, context: int) -> TunnelPoint:
        """Return the point of one of the simulated machine's contexts, whatever was run there."""
        own = context // self.scale
        return TunnelPoint(
            context=context,
            own=own,
            simulated=_figure(self.simulated, context, ALONE),
            tunnel=_figure(self.series, own, ALONE),
            shares=(
                _value(self.simulated, context, AFTER_LOAD),
                _value(self.series, own, AFTER_LOAD),
            ),
        )

    @property
    def points(self) -> list[TunnelPoint]:
        """The points that both have."""
        all_points = [self.at(point.context) for point in self.simulated.points]
        return [point for point in all_points if point.deviation is not None]

    @property
    def rows(self) -> tuple[list[Row], list[Row]]:
        """Both speedups by the simulated machine's context."""
        found = self.points
        return (
            [(p.context, p.simulated) for p in found if p.simulated],
            [(p.context, p.tunnel) for p in found if p.tunnel],
        )


def tunnel_of(every: Sequence[Series]) -> Tunnel | None:
    """Return the first tunnel among some series that stands beside what it imitates."""
    for series in every:
        balance = series.record.device.get("balance")
        if not balance:
            continue
        for other in every:
            same = (other.record.device["name"], other.record.model_name) == (
                balance["machine"],
                balance["machine_model"],
            )
            whole = other.params.get("layers") in (None, other.record.whole_layers)
            if same and whole and other.params.get("link", "native") == "native":
                found = Tunnel(other, series)
                if found.points:
                    return found
    return None


def setting(tunnel: Tunnel) -> str:
    """Return how the tunnel was balanced, as a sentence."""
    balance = tunnel.balance
    own = balance["prefill"]["median"]
    return (
        f"{tunnel.series.record.model_name} on {tunnel.series.device}: one link rate, "
        f"{rate(balance['link_rate'], 'B/s')}, at which its own prefill of "
        f"{balance['context_tokens']:,} tokens ({1e3 * own:.1f} ms) takes "
        f"{times(balance['pi'])} as long as their load, as {balance['machine_model']} of "
        f"{balance['machine_context_tokens']:,} tokens does on {balance['machine']}."
    )


HEAD = (
    "context",
    "tunnel's",
    "simulated",
    "tunnel",
    "95 %",
    "deviation",
    "after the load, sim.",
    "tunnel",
)


def cells_of(point: TunnelPoint) -> tuple[str, ...]:
    """Return a point as the columns of HEAD."""
    none = "-"
    return (
        short_tokens(point.context),
        f"{point.own}",
        times(point.simulated.value) if point.simulated else none,
        times(point.tunnel.value) if point.tunnel else none,
        interval(point.tunnel.ci95, "x") if point.tunnel else none,
        none if point.deviation is None else f"{100 * point.deviation:+.1f} %",
        *(none if share is None else percent(share) for share in point.shares),
    )


def _figure(series: Series, context: int, name: str) -> Metric | None:
    point = next((p for p in series.points if p.context == context), None)
    case = point.ok("copy") if point else None
    return case.metrics.get(name) if case else None


def _value(series: Series, context: int, name: str) -> float | None:
    metric = _figure(series, context, name)
    return metric.value if metric else None
