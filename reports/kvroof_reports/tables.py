# SPDX-License-Identifier: Apache-2.0
"""The tables of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kvroof_reports.claim import outside, outside_text
from kvroof_reports.document import Cell, Table, cells
from kvroof_reports.published import Published
from kvroof_reports.rows import MODELLED, Case, Interval, Metric, Record, weakest
from kvroof_reports.series import Point, Series
from kvroof_reports.text import (
    band,
    interval,
    milliseconds,
    quantity,
    rate,
    standing,
    times,
    tokens,
)
from kvroof_reports.tunnel import HEAD, Tunnel, cells_of

_Column = tuple[str, str, str, str]

# Heading, plan, metric, and how a metric that is a ratio is read (empty: by its unit).
_COLUMNS = (
    ("recompute TTFT", "recompute", "ttft", ""),
    ("copy TTFT", "copy", "ttft", ""),
    ("hybrid TTFT", "hybrid", "ttft", ""),
    ("speedup of copy", "copy", "speedup", "x"),
    ("speedup of hybrid", "hybrid", "speedup", "x"),
    ("MFU of recompute", "recompute", "mfu", "share"),
    ("link share of copy", "copy", "link_share", "share"),
    ("copy rate", "copy", "copy_bandwidth", ""),
    ("largest logit difference", "copy", "logit_difference", "tiny"),
)
_SCALED_COLUMNS = (
    ("recompute TTFT, all layers", "recompute", "ttft_scaled", ""),
    ("copy TTFT, all layers", "copy", "ttft_scaled", ""),
    ("hybrid TTFT, all layers", "hybrid", "ttft_scaled", ""),
)


_VERDICTS = {
    "found": "inside the range that was tried",
    "none_in_range": "none in the range that was tried",
    "below_smallest": "at or below the smallest context tried",
    "inside_interval": "inside the interval: not decided there",
}


def case_table(series: Series) -> Table:
    """One row a context: each figure with its interval, or with the word that there is none."""
    columns = _present(series, _COLUMNS)
    return Table(
        "Medians, with the 95 % interval below each. MFU: share of the compute peak; link share: "
        "share of the host link's peak.",
        ("context, tokens", *(column[0] for column in columns), "basis"),
        tuple((*_row(point, columns), _bases(point)) for point in series.points),
        frozenset({len(columns) + 1}),
    )


def scaled_table(series: Series) -> Table | None:
    """Return what was scaled from the layers that ran to all of them; None if nothing was."""
    columns = _present(series, _SCALED_COLUMNS)
    rows = tuple(_row(point, columns) for point in series.points)
    head = ("context, tokens", *(column[0] for column in columns))
    caption = "Scaled from the layers that ran to all layers of the model; not measured."
    return Table(caption, head, rows, frozenset()) if columns else None


def crossover_table(series: Series) -> Table | None:
    """Return from where on copying wins by each margin; None where the run did not conclude."""
    rows = tuple(
        cells(
            f"{c.margin:g}x",
            str(c.params.get("plan", "copy")),
            f"{tokens(c.context)} tokens" if c.context else "–",
            Cell(_VERDICTS[c.verdict], interval(c.ci95, "tokens")),
            standing(c.basis),
        )
        for c in series.crossovers
    )
    caption = (
        "Crossover: the smallest context from which a plan wins by the margin at all larger ones."
    )
    head = ("margin", "plan", "from", "verdict", "basis")
    return Table(caption, head, rows, frozenset({1, 3, 4})) if rows else None


def closed_form_table(record: Record) -> Table:
    """Return the machine's balance, FLOPs per KV byte and Pi, a row a link and dtype."""
    found: dict[tuple[str, str], list[Case]] = {}
    for case in record.cases:
        if case.outcome == "ok" and "pi" in case.metrics:
            key = (str(case.params["link"]), str(case.params["kv_dtype"]))
            found.setdefault(key, []).append(case)
    rows = []
    for (link, dtype), cases in found.items():
        first, last = (pick(cases, key=_context) for pick in (min, max))
        pair = [
            f"{first.value(name):,.3g} to {last.value(name):,.3g}"
            for name in ("flops_per_kv_byte", "pi")
        ]
        span = f"{tokens(_context(first))} to {tokens(_context(last))}"
        rows.append(cells(link, dtype, f"{first.value('machine_balance'):,.0f}", span, *pair))
    head = ("link", "KV dtype", "FLOPs per link byte", "tokens", "FLOPs per KV byte", "Pi")
    caption = "The closed form: from the shortest to the longest context that ran."
    return Table(caption, head, tuple(rows), frozenset({0, 1, 3}))


def _context(case: Case) -> int:
    return int(case.params["context_tokens"])


def _present(series: Series, columns: tuple[_Column, ...]) -> list[_Column]:
    ok = [case for case in series.cases if case.outcome == "ok"]
    return [c for c in columns if any(k.params["plan"] == c[1] and c[2] in k.metrics for k in ok)]


def _row(point: Point, columns: list[_Column]) -> tuple[Cell, ...]:
    return cells(tokens(point.context), *(_figure(point, *column[1:]) for column in columns))


def _figure(point: Point, plan: str, name: str, unit: str) -> Cell:
    case = point.cases.get(plan)
    if case is None or case.outcome != "ok":
        return Cell(case.outcome if case else "not run")
    metric = case.metrics.get(name)
    if metric is None:
        return Cell("–")
    unit = unit or metric.unit
    notes = [] if metric.exact else [interval(metric.ci95, unit)]
    if metric.basis and metric.basis != case.basis:
        notes.append(standing(metric.basis))
    if metric.samples_enough is False:
        notes.append("wider than asked")
    return Cell(quantity(metric.value, unit), "; ".join(notes))


def _bases(point: Point) -> Cell:
    found = [case.basis for case in point.cases.values() if case.outcome == "ok"]
    if not found:
        return Cell("–")
    basis = weakest(found)
    return Cell("modelled", f"basis: {basis}") if basis in MODELLED else Cell(basis)


def missing_table(cases: Iterable[Case]) -> Table | None:
    """Every case without a result, with its reason; None where there is none."""
    missing = [case for case in cases if case.outcome != "ok"]
    rows = tuple(cells(c.outcome, c.suite, _params(c), c.reason) for c in missing)
    head = ("outcome", "suite", "case", "reason")
    return (
        Table(f"{len(rows)} without a result.", head, rows, frozenset(range(4))) if rows else None
    )


def _params(case: Case) -> str:
    return ", ".join(f"{name} {value}" for name, value in case.params.items())


def published_table(series: Series, published: Published) -> Table:
    """Set a series beside the published points; errors are distances outside the band."""
    points = {point.context: point for point in series.points}
    word = standing(series.basis).split(" (")[0]
    rows = []
    for reference in published.points:
        point = points.get(reference.context, Point(reference.context, {}))
        speedup = point.speedup
        rows.append(
            cells(
                tokens(reference.context),
                *_against(point.ttft("recompute"), reference.recompute),
                *_against(point.ttft("copy"), reference.copy),
                times(speedup.value) if speedup else "not run",
                f"{times(reference.speedup[0])} to {times(reference.speedup[1])}",
                outside_text(outside(speedup.value, reference.speedup)) if speedup else "–",
            )
        )
    return Table(
        f"{series.record.device_name}, {standing(series.basis)}, beside what was published. "
        "An error is the distance outside the band of the chart's two readings, relative to the "
        "nearer edge.",
        (
            "context, tokens",
            f"recompute, {word}, ms",
            "published, ms",
            "error",
            f"copy, {word}, ms",
            "published, ms",
            "error",
            f"speedup, {word}",
            "published",
            "error",
        ),
        tuple(rows),
        frozenset(),
    )


def tunnel_table(tunnel: Tunnel) -> Table:
    """Set a wind tunnel beside the simulated machine, context by context."""
    rows = tuple(cells(*cells_of(point)) for point in tunnel.points)
    caption = "Speedups of load and prefill alone; the last token's shares are of a copy's TTFT."
    return Table(caption, HEAD, rows, frozenset())


def _against(found: Metric | None, published: Interval) -> tuple[str, str, str]:
    if found is None:
        return "not run", band(published), "–"
    return milliseconds(found.value), band(published), outside_text(outside(found.value, published))


def provenance_table(record: Record) -> Table:
    """Where a record comes from: tool, command, machine, device, model."""
    facts: list[tuple[str, str]] = [
        ("file", str(record.path)),
        ("command", " ".join(record.argv)),
        ("started", record.started),
        ("finished", record.finished if record.complete else f"{record.finished} (not completed)"),
        ("seed", str(record.seed)),
    ]
    device = {name: value for name, value in record.device.items() if name != "profile"}
    for name, group in (
        ("tool", record.tool),
        ("system", record.system),
        ("device", device),
        ("model", record.model),
    ):
        facts += _flat(group, name)
    return Table("", ("what", "value"), tuple(cells(*fact) for fact in facts), frozenset({0, 1}))


def _flat(node: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield from _flat(value, f"{where}: {name.replace('_', ' ')}")
    elif isinstance(node, list) and any(isinstance(value, Mapping | list) for value in node):
        for i, value in enumerate(node):
            yield from _flat(value, f"{where} {i}")
    elif isinstance(node, list):
        yield where, ", ".join(_fact(where, value) for value in node)
    elif node not in (None, ""):
        yield where, _fact(where, node)


def _fact(where: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and where.endswith(" bytes"):
        return f"{value:,} ({rate(value, 'B')})"
    return str(value)


def profile_table(record: Record) -> Table | None:
    """Every sourced value of the device profile; None for a device without one."""
    rows = tuple(_sourced(record.device.get("profile") or {}, ""))
    head = ("figure", "value", "low", "high", "basis", "source")
    caption = "Where a figure is a curve, low and high are factors on it."
    return Table(caption, head, rows, frozenset({0, 4, 5})) if rows else None


def _sourced(node: Any, where: str) -> Iterator[tuple[Cell, ...]]:
    if isinstance(node, list):
        for i, value in enumerate(node):
            yield from _sourced(value, f"{where} {i + 1}")
    elif isinstance(node, Mapping) and "source" in node:
        unit = str(node.get("unit", ""))
        ends = [node.get("low"), node.get("high")]
        if "points" in node:
            shown = [f"curve of {len(node['points'])} points", *(_plain(end, "") for end in ends)]
        else:
            shown = [_plain(value, unit) for value in (node.get("value"), *ends)]
        source = Cell(str(node["source"]), str(node.get("note", node.get("spread", ""))))
        yield cells(where, *shown, str(node.get("basis", "–")), source)
    elif isinstance(node, Mapping):
        for name, value in node.items():
            yield from _sourced(value, f"{where} {name}".replace("_", " ").strip())


def _plain(value: Any, unit: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    return quantity(value, {"B/s": "bytes/s", "B": "bytes", "1": ""}.get(unit, unit)).strip()
