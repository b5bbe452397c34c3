# SPDX-License-Identifier: Apache-2.0
"""Cases without a result, and why: those that differ in figures only stand in one row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kvroof_reports.document import Section, Table, cells
from kvroof_reports.rows import Case, Record

_ALWAYS = ("context_tokens", "plan")  # told of every case, whether it varies or not
_LISTED = 3  # more values than this are told as a range


def sections(records: Sequence[Record]) -> Iterator[Section]:
    """Yield a section for each record with cases that did not end well."""
    for record in records:
        table = _table(record.cases)
        if table:
            yield Section(f"Cases without a result: {record.file}", (table,))


def _table(cases: Sequence[Case]) -> Table | None:
    missing = [case for case in cases if case.outcome != "ok"]
    groups: dict[tuple[str, str, str], list[Case]] = {}
    for case in missing:
        alike = re.sub(r"\d[\d.,]*", "#", case.reason)
        groups.setdefault((case.outcome, case.suite, alike), []).append(case)
    names = [name for name in _names(cases) if name in _ALWAYS or _varies(name, cases)]
    rows = tuple(
        cells(outcome, suite, str(len(own)), _which(own, names), _reason(own))
        for (outcome, suite, _), own in groups.items()
    )
    head = ("outcome", "suite", "cases", "which", "reason")
    caption = f"{len(missing)} without a result."
    return Table(caption, head, rows, frozenset({0, 1, 3, 4})) if rows else None


def _names(cases: Iterable[Case]) -> list[str]:
    return list(dict.fromkeys(name for case in cases for name in case.params))


def _varies(name: str, cases: Iterable[Case]) -> bool:
    return len({str(case.params.get(name)) for case in cases}) > 1


def _which(cases: Sequence[Case], names: Iterable[str]) -> str:
    values = {name: [c.params[name] for c in cases if name in c.params] for name in names}
    return ", ".join(f"{name} {_span(found)}" for name, found in values.items() if found)


def _span(values: Sequence[Any]) -> str:
    distinct = list(dict.fromkeys(values))
    if len(distinct) > _LISTED and all(isinstance(value, int | float) for value in distinct):
        return f"{min(distinct)} to {max(distinct)}"
    return "/".join(str(value) for value in distinct)


def _reason(cases: Sequence[Case]) -> str:
    first = cases[0].reason
    return first if all(case.reason == first for case in cases) else f"the first: {first}"
