# SPDX-License-Identifier: Apache-2.0
"""TTFT and speedup of one run against context, beside published points where there are any."""

from __future__ import annotations

from collections.abc import Iterator

from kvroof_reports.document import Block, Cell, Picture, Section, Table, cells, picture
from kvroof_reports.figures import speedup_by_context, ttft_by_context
from kvroof_reports.published import Published
from kvroof_reports.rows import MODELLED, weakest
from kvroof_reports.sections.beside_published import beside_published
from kvroof_reports.sections.words import alt, caption
from kvroof_reports.series import Point, Series
from kvroof_reports.text import (
    TARGET,
    interval,
    join,
    quantity,
    standing,
    tokens,
)

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
_WIDE = "†"  # behind an interval that did not get as narrow as was asked
_VERDICTS = {
    "found": "inside the range that was tried",
    "none_in_range": "none in the range that was tried",
    "below_smallest": "at or below the smallest context tried",
    "inside_interval": "inside the interval: not decided there",
}


def section(number: int, series: Series, title: str, published: Published | None) -> Section:
    """Return a series' section: its figures, its tables, and what was published beside."""
    blocks: list[Block] = list(_pictures(number, series, published))
    if any(case.outcome == "ok" for case in series.cases):
        tables = (_case_table(series), _scaled_table(series), _crossover_table(series))
        blocks += [table for table in tables if table] + _unmoved(series)
    else:
        blocks.append("No case succeeded; the reasons are listed below.")
    if published:
        blocks += beside_published(series, published)
    return Section(title, tuple(blocks))


def _unmoved(series: Series) -> list[Block]:
    if not series.unmoved:
        return []
    at = join([tokens(context) for context in series.unmoved])
    return [f"Data off at {at} tokens."]


def _pictures(number: int, series: Series, published: Published | None) -> Iterator[Picture]:
    if any(case.outcome == "ok" for case in series.cases):
        yield picture(
            f"ttft-{number}",
            ttft_by_context.draw(series, published),
            alt("TTFT", series, published),
            caption(ttft_by_context.__doc__, published),
        )
    if series.paired:
        yield picture(
            f"speedup-{number}",
            speedup_by_context.draw(series, published),
            alt("Speedup of copy over recompute", series, published),
            caption(speedup_by_context.__doc__, published),
        )


def _case_table(series: Series) -> Table:
    """One row a context: each figure with its interval, or with the word that there is none."""
    columns = _present(series, _COLUMNS)
    return Table(
        f"{_what_figures_are(series)} MFU: share of the compute peak; link share: share of the "
        "host link's peak.",
        ("context, tokens", *(column[0] for column in columns), "basis"),
        tuple((*_row(point, columns), _bases(point)) for point in series.points),
        frozenset({len(columns) + 1}),
        _footnote(series, columns),
    )


def _what_figures_are(series: Series) -> str:
    """Return how a figure of the series came about: it is a median only where runs repeat."""
    said = {
        False: "Measured on a real clock: medians of repeated runs, with the bootstrap 95 % "
        "interval below each.",
        True: "Modelled: the nominal run (the profile's own values), with the "
        "95 % interval of the draws below each; derates can only lengthen, so where they have a "
        "range a time lies near its fast end.",
    }
    kinds = sorted({case.basis in MODELLED for case in series.cases if case.outcome == "ok"})
    return " ".join(said[kind] for kind in kinds)


def _scaled_table(series: Series) -> Table | None:
    """Return what was scaled from the layers that ran to all of them; None if nothing was."""
    columns = _present(series, _SCALED_COLUMNS)
    rows = tuple(_row(point, columns) for point in series.points)
    head = ("context, tokens", *(column[0] for column in columns))
    caption = "Scaled from the layers that ran to all layers of the model; not measured."
    footnote = _footnote(series, columns)
    return Table(caption, head, rows, frozenset(), footnote) if columns else None


def _footnote(series: Series, columns: list[_Column]) -> str:
    """Return what the mark means, where a figure of these columns has it."""
    wide = any(
        case.params["plan"] == plan and name in case.metrics and case.metrics[name].stayed_wide
        for case in series.cases
        for _, plan, name, _ in columns
    )
    return f"{_WIDE} The interval stayed wider than {TARGET}." if wide else ""


def _crossover_table(series: Series) -> Table | None:
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
    if metric.stayed_wide:
        notes = [" ".join(["; ".join(notes), _WIDE])]
    return Cell(quantity(metric.value, unit), "; ".join(notes))


def _bases(point: Point) -> Cell:
    found = [case.basis for case in point.cases.values() if case.outcome == "ok"]
    if not found:
        return Cell("–")
    basis = weakest(found)
    return Cell("modelled", f"basis: {basis}") if basis in MODELLED else Cell(basis)
