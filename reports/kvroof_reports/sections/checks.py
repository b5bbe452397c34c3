# SPDX-License-Identifier: Apache-2.0
"""What kvroof verify looked for, how much it compared, and what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kvroof_reports.document import Section, Table, cells
from kvroof_reports.rows import Case, Record


def sections(records: Sequence[Record]) -> Iterator[Section]:
    """Yield a section for each record that holds checks."""
    for record in records:
        if record.checks:
            tables = (_table(record.checks), *_found(record.checks))
            yield Section(f"Correctness: {record.file}", tables)


def _table(checks: Sequence[Case]) -> Table:
    """One row a check; its cases are one for each layout, order, type or the like."""
    by_name: dict[str, list[Case]] = {}
    for case in checks:
        by_name.setdefault(str(case.params["check"]), []).append(case)
    rows = tuple(_row(name, own) for name, own in by_name.items())
    return Table("", ("check", "ok", "wrong", "skipped", "compared"), rows, frozenset({0, 4}))


def _row(name: str, own: Sequence[Case]) -> tuple:
    outcomes = Counter(case.outcome for case in own)
    compared: Counter[str] = Counter()
    for case in own:
        for metric, found in case.metrics.items():
            compared[metric.removesuffix("_compared")] += int(found.value)
    return cells(
        name,
        str(outcomes["ok"]),
        str(outcomes["incorrect"] + outcomes["failed"]),
        str(outcomes["skipped"]),
        ", ".join(f"{count} {what}" for what, count in compared.items()) or "-",
    )


def _found(checks: Sequence[Case]) -> Iterator[Table]:
    rows = tuple(
        cells(case.outcome, " ".join(str(v) for v in case.params.values()), case.reason)
        for case in checks
        if case.outcome != "ok"
    )
    if rows:
        yield Table("", ("outcome", "case", "reason"), rows, frozenset({0, 1, 2}))
