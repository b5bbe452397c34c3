# SPDX-License-Identifier: Apache-2.0
"""Hold a wind tunnel's run against the simulated machine that it imitates, gate by gate.

Usage: python -m kvroof_reports.tunnel SIMULATED TUNNEL

SIMULATED is the record of a `ttft` run of the balance's model on the simulated machine, TUNNEL that
of the tunnel's model on `host:balance=MACHINE`, at an eighth of each context. Compared is prefill
over load, both alone; the share of a copy's TTFT after the load's end, which is not similar, stands
beside.
Exit status: 0 every gate holds, 1 one does not (a point that was never run counts), 2 a FILE is no
record.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from kvroof_reports.gates import Check, NotComparable, command
from kvroof_reports.load import load_record
from kvroof_reports.rows import ALONE, Record
from kvroof_reports.series import series_of
from kvroof_reports.text import join, short_tokens, times
from kvroof_reports.tunnel_comparison import (
    HEAD,
    Tunnel,
    TunnelPoint,
    cells_of,
    setting,
    tunnel_of,
)

# Of the simulated machine, and how far the tunnel's speedup may be from its.
ALLOWED = {1024: 0.25, **dict.fromkeys(range(10240, 102401, 10240), 0.15)}

GATES = (
    f"Gates: within {100 * ALLOWED[10240]:.0f} % of the simulated speedup from 10K tokens up and "
    f"{100 * ALLOWED[1024]:.0f} % at 1K, and rising with every context."
)


def checks_of(tunnel: Tunnel) -> list[Check]:
    """Return every gate."""
    points = [tunnel.at(context) for context in ALLOWED]
    return [*map(_deviation_check, points), _rising_check(points)]


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


def table_text(points: Sequence[TunnelPoint]) -> str:
    """Return the table as text of a terminal."""
    rows = [HEAD, *map(cells_of, points)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
    return "\n".join(lines)


def _load(files: Sequence[Path]) -> Tunnel:
    records: list[Record] = [load_record(file) for file in files]
    found = tunnel_of([series for record in records for series in series_of(record)])
    if found:
        return found
    held = join([f"{r.path} holds {r.model_name} on {r.device['name']}" for r in records])
    raise NotComparable(
        "no run of host:balance=MACHINE beside one of that machine and the balance's model, with "
        f"{ALONE} at similar contexts: {held}."
    )


def _compare(files: Sequence[Path]) -> tuple[str, list[Check]]:
    tunnel = _load(files)
    table = table_text([tunnel.at(context) for context in ALLOWED])
    return f"{setting(tunnel)}\n\n{table}", checks_of(tunnel)


def main(arguments: list[str] | None = None) -> int:
    """Print the table, then every gate with PASS, FAIL or `not run`."""
    return command(__doc__, 2, _compare, arguments)


if __name__ == "__main__":
    sys.exit(main())
