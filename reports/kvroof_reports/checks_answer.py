# SPDX-License-Identifier: Apache-2.0
"""The answer of a run of kvroof verify: whether a wrong block was found."""

from __future__ import annotations

from collections import Counter

from kvroof_reports.answer import Answer
from kvroof_reports.rows import Record
from kvroof_reports.text import aside


def answer(record: Record) -> Answer:
    """Answer for a record that holds checks."""
    basis = str(record.device["basis"])
    question = (
        f"Does the engine ever serve a wrong block on {record.device_title} ({aside(basis)})?"
    )
    return Answer(question, verdict(record), basis)


def verdict(record: Record) -> str:
    """Say how many checks ended how."""
    found = Counter(case.outcome for case in record.checks)
    wrong, failed, skipped = found["incorrect"], found["failed"], found["skipped"]
    said = f"{found['ok']} of {len(record.checks)} checks found nothing wrong"
    extra = [
        f"{count} {what}"
        for count, what in (
            (wrong, "found wrong bytes"),
            (failed, "could not be made"),
            (skipped, "were skipped"),
        )
        if count
    ]
    return f"{said}{'; ' if extra else ''}{', '.join(extra)}."
