# SPDX-License-Identifier: Apache-2.0
"""A wind tunnel beside the machine that it imitates."""

from __future__ import annotations

from collections.abc import Iterator

from kvroof_reports.document import Section, Table, cells, picture
from kvroof_reports.figures import wind_tunnel
from kvroof_reports.gates import verdict
from kvroof_reports.sections.words import caption
from kvroof_reports.series import Series
from kvroof_reports.text import times, tokens
from kvroof_reports.tunnel import GATES, checks_of
from kvroof_reports.tunnel_comparison import HEAD, Tunnel, cells_of, setting, tunnel_of


def sections(every: list[Series]) -> Iterator[Section]:
    """Yield the section, where a tunnel's record and its machine's are there."""
    tunnel = tunnel_of(every)
    if not tunnel:
        return
    found = [
        f"{tokens(p.context)} tokens {times(p.simulated.value)} and {times(p.tunnel.value)}"
        for p in tunnel.points
        if p.simulated and p.tunnel
    ]
    drawn = picture(
        "wind-tunnel",
        wind_tunnel.draw(tunnel),
        "Prefill time over load time against context, of the simulated machine and of the wind "
        f"tunnel: {'; '.join(found)}.",
        caption(wind_tunnel.__doc__),
    )
    held = f"{verdict(checks_of(tunnel))} {GATES}"
    blocks = (setting(tunnel), drawn, _table(tunnel), held)
    yield Section("The wind tunnel beside the machine that it imitates", blocks)


def _table(tunnel: Tunnel) -> Table:
    """Set a wind tunnel beside the simulated machine, context by context."""
    rows = tuple(cells(*cells_of(point)) for point in tunnel.points)
    caption = (
        "Speedups of load and prefill alone; after the load: the share of a copy's TTFT after the "
        "load's end."
    )
    return Table(caption, HEAD, rows, frozenset())
