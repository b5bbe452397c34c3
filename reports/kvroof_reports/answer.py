# SPDX-License-Identifier: Apache-2.0
"""What was asked, the answer, and its basis, as sentences: one answer a series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from kvroof_reports import gain
from kvroof_reports.rows import MODELLED, Case, Metric
from kvroof_reports.series import Pair, Series
from kvroof_reports.text import TARGET, aside, figure, interval, join, quantity, standing, tokens


@dataclass(frozen=True)
class Answer:
    """Three short texts, in the order in which they are read."""

    question: str
    answer: str
    basis: str


def answer(series: Series) -> Answer:
    """Answer the question of a series."""
    said = (_verdict(series), gain.sentence([series]))
    return Answer(_question(series), " ".join(filter(None, said)), _basis(series))


def _question(series: Series) -> str:
    extra = f" With {series.label}." if series.label else ""
    return (
        f"Is it cheaper to copy KV of {series.subject} from host memory or to recompute it on "
        f"{series.device} ({aside(series.basis)})?{extra}"
    )


def _verdict(series: Series) -> str:
    pairs = series.paired
    if not pairs:
        return _no_pair(series)
    if len(pairs) == 1:
        return _single(pairs[0], len(series.points))
    winners = [p.winner for p in pairs]
    every = "tried" if len(pairs) == len(series.points) else "with both results"
    if set(winners) == {"copy"}:
        return (
            f"Copying wins at every context {every}, from {tokens(pairs[0].context)} tokens up: "
            f"{_ends(pairs, _factor)}."
        )
    if set(winners) == {"recompute"}:
        return (
            f"Recomputing wins at every context {every}, {tokens(pairs[0].context)} to "
            f"{tokens(pairs[-1].context)} tokens; it is faster by {_ends(pairs, _inverse)}."
        )
    return _mixed(pairs)


def _ends(pairs: list[Pair], shown: Callable[[Metric], str]) -> str:
    first, last = pairs[0], pairs[-1]
    return (
        f"{shown(first.speedup)} at {tokens(first.context)} tokens, "
        f"{shown(last.speedup)} at {tokens(last.context)}"
    )


def _shown(metric: Metric, unit: str) -> str:
    return figure(metric.value, metric.ci95, unit)


def _factor(speedup: Metric) -> str:
    return _shown(speedup, "x")


def _inverse(speedup: Metric) -> str:
    ci95 = (1 / speedup.ci95[1], 1 / speedup.ci95[0]) if speedup.ci95 else None
    return _factor(Metric("x", 1 / speedup.value, ci95))


def _single(pair: Pair, tried: int) -> str:
    only = "the only context tried" if tried == 1 else "the only context with both results"
    says = {
        "copy": f"copying wins by {_factor(pair.speedup)}",
        "recompute": f"recomputing wins by {_inverse(pair.speedup)}",
        "open": f"neither wins: the speedup of copying is {_factor(pair.speedup)}",
    }
    return f"At {tokens(pair.context)} tokens, {only}, {says[pair.winner]}."


def _mixed(pairs: list[Pair]) -> str:
    tail = len(pairs)
    while tail and pairs[tail - 1].winner == "copy":
        tail -= 1
    rest = _groups(pairs[:tail])
    if tail < len(pairs):
        start, last = pairs[tail], pairs[-1]
        upper = f", {_factor(last.speedup)} at {tokens(last.context)}" if last is not start else ""
        return (
            f"Copying wins from {tokens(start.context)} tokens up: {_factor(start.speedup)} at "
            f"{tokens(start.context)} tokens{upper}. Below that, {rest}."
        )
    return f"No crossover in range: {rest}."


def _groups(pairs: list[Pair]) -> str:
    says = (
        ("recompute", "recomputing wins at {}"),
        ("open", "neither wins for certain at {}"),
        ("copy", "copying wins at {}"),
    )
    parts = []
    for winner, words in says:
        group = [p for p in pairs if p.winner == winner]
        if group:
            parts.append(words.format(join([tokens(p.context) for p in group]) + _alone(group)))
    return "; ".join(parts)


def _alone(group: list[Pair]) -> str:
    """Return the unit of a list of contexts, and the speedup where the list has one entry only."""
    if len(group) > 1:
        return " tokens"
    speedup = group[0].speedup
    amount = quantity(speedup.value, "x") + (
        f"; {interval(speedup.ci95, 'x')}" if speedup.ci95 else ""
    )
    return f" tokens ({amount})"


def _no_pair(series: Series) -> str:
    if not series.cases:
        return "No answer: the run holds no case."
    plans = {case.params["plan"] for case in series.cases if case.outcome == "ok"}
    ran = f"only {join(sorted(plans))} succeeded" if plans else "no case succeeded"
    missed = reasons([case for case in series.cases if case.outcome != "ok"])
    return f"No answer: no context has both a recompute and a copy result; {ran}{missed}."


def reasons(cases: list[Case]) -> str:
    """Return how many cases did not succeed and why, to be put behind a sentence."""
    counts = Counter((case.outcome, case.reason.rstrip(".")) for case in cases)
    return "".join(f"; {n} {outcome}: {reason}" for (outcome, reason), n in counts.most_common())


def _basis(series: Series) -> str:
    parts = [
        _interval_sentence(series),
        _width_sentence(series),
        _cost_sentence(series),
        _share_sentence(series),
        _scaled_sentence(series),
    ]
    missed = sum(case.outcome != "ok" for case in series.cases)
    if missed:
        parts.append(
            f"{missed} of {len(series.cases)} cases have no result; the reasons are below."
        )
    if not series.record.complete:
        parts.append("The run was not completed.")
    parts.append(f"Record: {series.record.file}.")
    return " ".join(part for part in parts if part)


def _interval_sentence(series: Series) -> str:
    word = standing(series.basis)
    word = word[0].upper() + word[1:]
    speedups = [p.speedup for p in series.paired]
    with_interval = sum(s.ci95 is not None for s in speedups)
    if not speedups:
        return f"{word}."
    if not with_interval:
        return f"{word}; no interval."
    source = "drawn from the profile's ranges" if series.basis in MODELLED else "bootstrap"
    some = (
        "" if with_interval == len(speedups) else f" at {with_interval} of {len(speedups)} contexts"
    )
    return f"{word}; in brackets the 95 % interval ({source}){some}."


def _width_sentence(series: Series) -> str:
    wide = [
        p.context for p in series.paired if any(_stayed_wide(c) for c in p.point.cases.values())
    ]
    if not wide:
        return ""
    at = join([tokens(context) for context in wide])
    return f"At {at} tokens an interval stayed wider than {TARGET}: take those as rough."


def _stayed_wide(case: Case) -> bool:
    return any(metric.stayed_wide for metric in case.metrics.values())


def _cost_sentence(series: Series) -> str:
    return f"Serving cost: {series.serving_cost}." if series.basis in MODELLED else ""


def _share_sentence(series: Series) -> str:
    if not series.paired:
        return ""
    pair = series.paired[-1]
    recompute, copy = pair.point.ok("recompute"), pair.point.ok("copy")
    shares = []
    if recompute and "mfu" in recompute.metrics:
        shares.append(
            f"recompute reaches {_shown(recompute.metrics['mfu'], 'share')} of the compute peak"
        )
    if copy and "link_share" in copy.metrics:
        shares.append(f"copy {_shown(copy.metrics['link_share'], 'share')} of the link")
    return f"At {tokens(pair.context)} tokens {', '.join(shares)}." if shares else ""


def _scaled_sentence(series: Series) -> str:
    for pair in reversed(series.paired):
        scaled = {
            plan: case.metrics["ttft_scaled"]
            for plan, case in pair.point.cases.items()
            if case.outcome == "ok" and "ttft_scaled" in case.metrics
        }
        if scaled:
            shown = join([f"{plan} {_shown(metric, 's')}" for plan, metric in scaled.items()])
            basis = next(iter(scaled.values())).basis or "calibrated"
            return (
                f"Scaled to all layers ({aside(basis)}): TTFT at "
                f"{tokens(pair.context)} tokens {shown}."
            )
    return ""
