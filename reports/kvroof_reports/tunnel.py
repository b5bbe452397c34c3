# SPDX-License-Identifier: Apache-2.0
"""Hold a wind tunnel's run against the simulated machine that it imitates, gate by gate.

Usage: python -m kvroof_reports.tunnel SIMULATED TUNNEL

SIMULATED is the record of a `ttft` run of the balance's model on the simulated machine, TUNNEL that
of the tunnel's model on `host:balance=MACHINE`, at an eighth of each context. Compared is prefill
over load, both alone; the last token's share of a copy's TTFT, which is not similar, stands beside.
Exit status: 0 every gate holds, 1 one does not (a point that was never run counts), 2 a FILE is no
record.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvroof_reports.gates import Check, NotComparable, command
from kvroof_reports.load import load_record
from kvroof_reports.rows import Metric, Record
from kvroof_reports.series import Row, Series, series_of
from kvroof_reports.text import interval, join, percent, rate, short_tokens, times

# Of the simulated machine, and how far the tunnel's speedup may be from its.
ALLOWED = {1024: 0.25, **dict.fromkeys(range(10240, 102401, 10240), 0.15)}
METRIC = "speedup_alone"

GATES = (
    f"Gates: within {100 * ALLOWED[10240]:.0f} % of the simulated speedup from 10K tokens up and "
    f"{100 * ALLOWED[1024]:.0f} % at 1K, and rising with every context."
)


@dataclass(frozen=True)
class TunnelPoint:
    """One context of the simulated machine, and the tunnel's that is similar to it."""

    context: int
    own: int
    simulated: Metric | None  # speedups of load and prefill alone
    tunnel: Metric | None
    shares: tuple[float | None, float | None]  # of the last token in a copy's TTFT

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
            simulated=_figure(self.simulated, context, METRIC),
            tunnel=_figure(self.series, own, METRIC),
            shares=(
                _value(self.simulated, context, "last_token_share"),
                _value(self.series, own, "last_token_share"),
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


def checks_of(tunnel: Tunnel) -> list[Check]:
    """Return every gate."""
    points = [tunnel.at(context) for context in ALLOWED]
    return [*map(_deviation_check, points), _rising_check(points)]


def _figure(series: Series, context: int, name: str) -> Metric | None:
    point = next((p for p in series.points if p.context == context), None)
    case = point.ok("copy") if point else None
    return case.metrics.get(name) if case else None


def _value(series: Series, context: int, name: str) -> float | None:
    metric = _figure(series, context, name)
    return metric.value if metric else None


def _deviation_check(point: TunnelPoint) -> Check:
    allowed = ALLOWED[point.context]
    what = f"tunnel at {short_tokens(point.context)}"
    if point.simulated is None or point.tunnel is None:
        missing = join(
            [
                name
                for name, metric in (("simulated", point.simulated), ("tunnel", point.tunnel))
                if metric is None
            ]
        )
        return Check(what, f"no result: {missing}", f"±{100 * allowed:.0f} %", False, ran=False)
    off = point.deviation or 0.0
    return Check(
        what,
        f"{times(point.tunnel.value)} ({100 * off:+.1f} %)",
        f"{times(point.simulated.value)} ±{100 * allowed:.0f} %",
        abs(off) <= allowed,
    )


def _rising_check(points: list[TunnelPoint]) -> Check:
    ran = [p for p in points if p.tunnel]
    falls = [
        short_tokens(b.context)
        for a, b in zip(ran, ran[1:])
        if a.tunnel and b.tunnel and b.tunnel.value <= a.tunnel.value
    ]
    what, expected = "speedup by context", "rising"
    if len(ran) < 2:
        return Check(what, "of too few points", expected, False, ran=False)
    found = f"not higher at {join(falls)} than before" if falls else "rising"
    return Check(what, found, expected, not falls)


HEAD = (
    "context",
    "tunnel's",
    "simulated",
    "tunnel",
    "95 %",
    "deviation",
    "last token, sim.",
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


def table_text(points: Sequence[TunnelPoint]) -> str:
    """Return the table as text of a terminal."""
    rows = [HEAD, *map(cells_of, points)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
    return "\n".join(lines)


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


def _load(files: Sequence[Path]) -> Tunnel:
    records: list[Record] = [load_record(file) for file in files]
    found = tunnel_of([series for record in records for series in series_of(record)])
    if found:
        return found
    held = join([f"{r.path} holds {r.model_name} on {r.device['name']}" for r in records])
    raise NotComparable(
        "no run of host:balance=MACHINE beside one of that machine and the balance's model, with "
        f"{METRIC} at similar contexts: {held}."
    )


def _compare(files: Sequence[Path]) -> tuple[str, list[Check]]:
    tunnel = _load(files)
    table = table_text([tunnel.at(context) for context in ALLOWED])
    return f"{setting(tunnel)}\n\n{table}", checks_of(tunnel)


def main(arguments: list[str] | None = None) -> int:
    """Print the table, then every gate with PASS or FAIL."""
    return command(__doc__, 2, _compare, arguments)


if __name__ == "__main__":
    sys.exit(main())
