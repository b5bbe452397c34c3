# SPDX-License-Identifier: Apache-2.0
"""Print the rows of the README's table of figures that scripts/figures.sh measured.

The crossover grid over every model is not among them: scripts/crossover_grid.py says its figures.

Example::

    python -m kvroof_reports.readme_figures results/reference
"""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from pathlib import Path

from kvroof_reports.bench_rows import Row, bench_rows
from kvroof_reports.claim import SPEEDUP_RANGES
from kvroof_reports.hybrid import LEAST_GAIN, points_of
from kvroof_reports.load import load_record
from kvroof_reports.node import InputError
from kvroof_reports.rows import Record
from kvroof_reports.series import series_of
from kvroof_reports.text import digits, rate, short_tokens
from kvroof_reports.tunnel import ALLOWED
from kvroof_reports.tunnel_comparison import tunnel_of

NOT_RUN = "not run"
LINK_RATE = "51.3 ± 1 %"  # GB/s; suites/catalog/h100_test.cc holds the profile to it
LOGIT_BOUNDS = {"f32": "1e-5", "bf16": "2e-2"}  # as suites/serving/verify.cc has them


def headline_rows(folder: Path) -> list[Row]:
    """Rows of the simulated H100's run."""
    record = load_record(folder / "h100-sxm.json")
    speedups = _copied(record, "speedup")
    rows = [
        (
            f"speedup at {short_tokens(context)}, simulated H100",
            digits(speedups[context]) if context in speedups else NOT_RUN,
            f"{low:g} to {high:g}",
        )
        for context, (low, high) in SPEEDUP_RANGES.items()
    ]
    slowest = min(_copied(record, "copy_bandwidth").values(), default=None)
    shown = rate(slowest, "B/s") if slowest else NOT_RUN
    return [*rows, ("H2D dma at 2 MiB, simulated H100", shown, LINK_RATE)]


def hybrid_rows(folder: Path) -> list[Row]:
    """Rows of the runs of all three plans, at the points whose gain is gated."""
    return [
        _gain(load_record(folder / "hybrid.json"), "simulated H100 at 5 GB/s"),
        _gain(load_record(folder / "hybrid-host.json"), "host at a link where both take as long"),
    ]


def _gain(record: Record, where: str) -> Row:
    gated = [point for point in points_of(record) if point.gated]
    at = short_tokens(gated[0].context) if len(gated) == 1 else f"{len(gated)} contexts"
    least = digits(min(point.gain for point in gated)) if gated else NOT_RUN
    shown = f"{least} at least" if len(gated) > 1 else least
    return f"hybrid over the better pure plan, {where}, {at}", shown, f"{LEAST_GAIN:g}"


def host_rows(folder: Path) -> list[Row]:
    """Rows of the run that was measured on the host."""
    record = load_record(folder / "host.json")
    dtypes = {case.params.get("kv_dtype") for case in record.cases}
    dtype = "f32" if "f32" in dtypes else "bf16"
    worst = max(_copied(record, "logit_difference").values(), default=None)
    return [
        (
            f"logits after a load against a full prefill, host, {dtype}",
            NOT_RUN if worst is None else f"{worst:.1e}",
            f"under {LOGIT_BOUNDS[dtype]}",
        ),
        ("the measured run", _duration(record), "-"),
    ]


def tunnel_rows(folder: Path) -> list[Row]:
    """Rows of the wind tunnel's run beside the simulated one: contexts that are allowed as much."""
    files = (folder / "h100-sxm.json", folder / "tunnel.json")
    tunnel = tunnel_of([series for file in files for series in series_of(load_record(file))])
    rows = []
    for allowed in dict.fromkeys(ALLOWED.values()):
        contexts = [context for context in ALLOWED if ALLOWED[context] == allowed]
        found = [tunnel.at(context).deviation for context in contexts] if tunnel else []
        off = [100 * deviation for deviation in found if deviation is not None]
        ends = " to ".join(f"{end:+.0f}" for end in _ends(off))
        rows.append(
            (
                "wind tunnel over the simulated H100, load and prefill alone, "
                + " to ".join(map(short_tokens, _ends(contexts))),
                f"{ends} %" if off else NOT_RUN,
                f"± {100 * allowed:.0f} %",
            )
        )
    return rows


def crossover_rows(folder: Path) -> list[Row]:
    """Row of the crossover grid of one model."""
    record = load_record(folder / "crossover.json")
    links = len({case.params.get("link") for case in record.cases})
    return [(f"the crossover grid of {record.model_name}, {links} links", _duration(record), "-")]


def _copied(record: Record, name: str) -> dict[int, float]:
    """Return a metric of the copy cases, by context."""
    return {
        case.params["context_tokens"]: case.metrics[name].value
        for case in record.cases
        if case.params.get("plan") == "copy" and name in case.metrics
    }


def _ends(values: list[float]) -> list[float]:
    """Return the least and the most, once if there is only one value."""
    return sorted({min(values), max(values)}) if values else []


def _duration(record: Record) -> str:
    ends = (record.started, record.finished)
    begin, end = (datetime.fromisoformat(text.rstrip("Z")) for text in ends)
    return f"{(end - begin).total_seconds():.0f} s"


MAKERS = (headline_rows, hybrid_rows, host_rows, tunnel_rows, bench_rows, crossover_rows)


def table(folder: Path) -> str:
    """Return the figures as a Markdown table."""
    rows = [row for maker in MAKERS for row in maker(folder)]
    lines = ["| what | measured | asked |", "|---|---|---|"]
    return "\n".join(lines + [f"| {a} | {b} | {c} |" for a, b, c in rows])


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 0 is done, 2 is bad input."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where scripts/figures.sh wrote")
    try:
        print(table(parser.parse_args(arguments).folder))
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
