# SPDX-License-Identifier: Apache-2.0
"""Which way `--copy auto` took, and where another would have been faster, by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvroof_reports.document import Cell, Section, Table, cells
from kvroof_reports.rows import Case, CopyChoice, Record

_HEAD = ("transfer", "region, bytes", "regions", "took", "fastest", "slower by", "basis")
_HOW = (
    "For a case with copy auto, each way to copy is timed over a table of region sizes and regions "
    "a transfer, and the fastest of each cell is taken. Then every way is timed once more for one "
    "request's own transfer: slower by is the median time of the way taken over that of the "
    "fastest, less 1. It has no interval."
)


def sections(records: Sequence[Record]) -> Iterator[Section]:
    """Yield a section for each record with cases that chose how to copy."""
    for record in records:
        rows = tuple(dict.fromkeys(row for case in record.cases for row in _rows(case)))
        if rows:
            table = Table("", _HEAD, rows, frozenset({0, 3, 4, 6}))
            yield Section(f"How copies went, chosen by auto: {record.file}", (_HOW, table))


def _rows(case: Case) -> Iterator[tuple[Cell, ...]]:
    for choice in case.copy_choices:
        yield (
            *cells(
                choice.direction,
                str(choice.region_bytes),
                str(choice.regions),
                choice.taken,
                choice.fastest or "not timed",
                "-" if choice.worse_by is None else f"{100 * choice.worse_by:.1f} %",
            ),
            Cell(case.basis, _timed(choice)),
        )


def _timed(choice: CopyChoice) -> str:
    if choice.unchecked:
        return choice.unchecked
    if choice.source == "profile":
        return "by the profile"
    return f"{choice.passes} passes each"
