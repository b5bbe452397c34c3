# SPDX-License-Identifier: Apache-2.0
"""The answer of a run of the crossover suite, and of a run in which nothing can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kvroof_reports import gain, parameters
from kvroof_reports.answer import Answer
from kvroof_reports.parameters import common, subject
from kvroof_reports.rows import Crossover, Record
from kvroof_reports.series import series_of
from kvroof_reports.setting import copies, label, names_of, setting_of, words
from kvroof_reports.text import aside, join, standing, tokens


def answer(record: Record) -> Answer:
    """Answer the question of a record that holds no series over context alone."""
    shared = common(case.params for case in record.cases)
    said = parameters.words(shared)
    extra = f" With {said}." if said else ""
    question = (
        f"Is it cheaper to copy KV of {subject(record, shared)} from host memory or to recompute "
        f"it on {record.device_title} ({aside(str(record.device['basis']))})?{extra}"
    )
    said = (verdict(record), gain.sentence(series_of(record, ("crossover",))))
    return Answer(question, " ".join(filter(None, said)), _basis(record))


def verdict(record: Record) -> str:
    """Say where copying is faster at all, over every setting that the run tried."""
    own = [c for c in copies(record.crossovers) if c.margin == 1]
    if not own:
        return _nothing(record)
    found = {where: n for where, n in _starts(own).items() if n}
    if len(own) == 1:
        names = (*names_of(own), "link")
        setting = label(names, setting_of(own[0].params, names))
        return _only(next(iter(found)), f"in the only setting tried ({setting})")
    settings = f"{len(own)} settings of {join(words((*names_of(own), 'link')))}"
    if len(found) == 1:
        return _only(next(iter(found)), f"in each of {settings}")
    parts = [f"{where} in {n}" for where, n in found.items()]
    return f"Of {settings}, copying is faster {', '.join(parts)}."


_EVERYWHERE, _NOWHERE = "at every context that ran", "not even at the longest that ran"


def _starts(own: Sequence[Crossover]) -> dict[str, int]:
    """Return in how many settings copying is faster from where on, in words."""
    counts = Counter(c.verdict for c in own)
    starts = [c.context for c in own if c.context and c.verdict == "found"]
    span = (
        " to ".join(dict.fromkeys(tokens(end) for end in (min(starts), max(starts))))
        if starts
        else ""
    )
    return {
        _EVERYWHERE: counts["below_smallest"],
        f"from {span} tokens up": counts["found"],
        _NOWHERE: counts["none_in_range"],
        "from a context up that the interval leaves open": counts["inside_interval"],
    }


def _only(where: str, settings: str) -> str:
    if where == _NOWHERE:
        return f"Copying is not faster, {where.removeprefix('not ')}, {settings}."
    return f"Copying is faster {where}, {settings}."


def _nothing(record: Record) -> str:
    if not record.cases:
        return "No answer: the run holds no case."
    missed = [case for case in record.cases if case.outcome != "ok"]
    if len(missed) < len(record.cases):
        return "No answer: no context has both a recompute and a copy result."
    first = f"{missed[0].outcome}: {missed[0].reason}"
    return f"No answer: none of {len(missed)} cases succeeded; the first was {first}"


def _basis(record: Record) -> str:
    found = record.crossovers
    word = standing(found[0].basis if found else str(record.device["basis"]))
    missed = sum(case.outcome != "ok" for case in record.cases)
    parts = [f"{word[0].upper()}{word[1:]}."]
    if missed:
        parts.append(
            f"{missed} of {len(record.cases)} cases have no result; the reasons are below."
        )
    if not record.complete:
        parts.append("The run was not completed.")
    parts.append(f"Record: {record.file}.")
    return " ".join(parts)
