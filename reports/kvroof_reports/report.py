# SPDX-License-Identifier: Apache-2.0
"""Put a report together from records: answers first, then figures, tables and provenance."""

from __future__ import annotations

from collections.abc import Sequence

from kvroof_reports import checks_answer, crossover_answer, style
from kvroof_reports.answer import Answer, answer
from kvroof_reports.document import Document, Section
from kvroof_reports.published import load_published, published_for
from kvroof_reports.rows import Record
from kvroof_reports.sections import (
    by_context,
    checks,
    copy_auto,
    crossover,
    host_measured,
    missing,
    provenance,
    two_roofs,
    wind_tunnel,
)
from kvroof_reports.series import Series, series_of, told_apart

_SHORT = 3  # records; a report of more has a table of contents
_HOW = (
    "TTFT is the time from submission until the first token's logits. Recompute is the prefill of "
    "the whole context; copy is the load of the cached KV blocks from host memory and the prefill "
    "of the rest, at least one token. Speedup is recompute's TTFT over copy's for the same "
    "parameters.",
    "Measured figures are medians of repeated runs on the machine named below, with bootstrap 95 % "
    "intervals. Modelled figures are one run of the same engine on a virtual clock that prices "
    "each operation and copy from the device's profile; a deterministic run repeats exactly, so "
    "where no parameter was drawn between its low and high there is no interval. A modelled figure "
    "is the run with the profile's nominal values, not the middle of the draws: derates, 1 there, "
    "can only lengthen, so where they have a range the figure lies near the fast end of its "
    "interval. No modelled device has run here.",
    "A simulated copy moves its bytes, and compares them, while a case is small enough (README). "
    "Data off: they were priced but not moved, so nothing is said there of their correctness.",
    "A figure's basis is the weakest of its inputs: measured, emulated (real clock, an imposed "
    "limit), calibrated (parameters fitted to a measured run), published (others' measurements), "
    "datasheet (peaks times a stated efficiency). Anything scaled from some layers to all of "
    "them is calibrated, and stands apart from what was measured.",
)


def build(records: Sequence[Record]) -> Document:
    """Build the report of some records."""
    style.use()
    known = load_published()
    every = told_apart([series for record in records for series in series_of(record)])
    by_record = [(record, [s for s in every if s.record is record]) for record in records]
    answers = [each for record, group in by_record for each in _answers(record, group)]
    sections = [
        by_context.section(
            i + 1, series, f"{series.named} on {series.where}", published_for(series, known)
        )
        for i, series in enumerate(every)
    ]
    sections += [
        *crossover.sections(records),
        *two_roofs.sections(records),
        *host_measured.sections(every),
        *copy_auto.sections(records),
        *wind_tunnel.sections(every),
        *checks.sections(records),
        *missing.sections(records),
        Section("How the numbers came about", _HOW),
    ]
    sections += [provenance.section(record) for record in records]
    long = len(records) > _SHORT
    return Document(_title(records), tuple(answers), tuple(sections), contents=long)


def _answers(record: Record, group: Sequence[Series]) -> list[Answer]:
    found = [checks_answer.answer(record)] if record.checks else []
    if record.cases or not found:
        found += [answer(s) for s in group] or [crossover_answer.answer(record)]
    return found


def _title(records: Sequence[Record]) -> str:
    if not any(record.cases for record in records):
        return "Does the engine ever serve a wrong block?"
    models = list(dict.fromkeys(record.model_name for record in records))
    return f"Copy KV from host memory, or recompute it? {', '.join(models)}"
