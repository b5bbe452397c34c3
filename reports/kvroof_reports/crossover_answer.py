# SPDX-License-Identifier: Apache-2.0
"""The answer of a run of the crossover suite, and of a run in which nothing can be compared."""

from __future__ import annotations

from kvroof_reports import parameters
from kvroof_reports.answer import Answer
from kvroof_reports.parameters import common, subject
from kvroof_reports.rows import Record
from kvroof_reports.setting import copies, names_of, words
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
    return Answer(question, verdict(record), _basis(record))


def verdict(record: Record) -> str:
    """Say where copying is faster at all, over every setting that the run tried."""
    own = [c for c in copies(record.crossovers) if c.margin == 1]
    if not own:
        return _nothing(record)
    always = sum(c.verdict == "below_smallest" for c in own)
    never = sum(c.verdict == "none_in_range" for c in own)
    varied = words((*names_of(own), "link"))
    settings = f"{len(own)} settings of {join(varied)}"
    if always == len(own):
        return f"Copying is faster at every context tried, in all {settings}."
    if never == len(own):
        return f"Copying is not faster up to the longest context tried, in none of {settings}."
    starts = [c.context for c in own if c.context and c.verdict == "found"]
    open_ = len(own) - always - never - len(starts)
    parts = [f"at every context tried in {always}"] * (always > 0)
    if starts:
        span = " to ".join(dict.fromkeys(tokens(end) for end in (min(starts), max(starts))))
        parts.append(f"from {span} tokens up in {len(starts)}")
    parts += [f"not even at the longest in {never}"] * (never > 0)
    parts += [f"from a context up that the interval leaves open in {open_}"] * (open_ > 0)
    return f"Of {settings}, copying is faster {', '.join(parts)}."


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
