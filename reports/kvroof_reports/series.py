# SPDX-License-Identifier: Apache-2.0
"""Series: the cases of one run that differ only in context and plan, paired context by context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kvroof_reports import parameters
from kvroof_reports.rows import PLANS, Case, Crossover, Metric, Record, weakest
from kvroof_reports.text import standing

_WITHIN = ("context_tokens", "plan", "data")  # what may vary inside a series

Row = tuple[int, Metric]  # a context, and a figure there


@dataclass(frozen=True)
class Point:
    """One context: the case of each plan, whatever its outcome."""

    context: int
    cases: Mapping[str, Case]

    def ok(self, plan: str) -> Case | None:
        """Return the case of `plan` where it succeeded."""
        case = self.cases.get(plan)
        return case if case is not None and case.outcome == "ok" else None

    def ttft(self, plan: str) -> Metric | None:
        """Return the TTFT of `plan` where it succeeded."""
        case = self.ok(plan)
        return case.metrics["ttft"] if case else None

    @property
    def speedup(self) -> Metric | None:
        """Recompute's TTFT over copy's; the record's own figure, which has the interval."""
        copy, recompute = self.ok("copy"), self.ok("recompute")
        if copy is None:
            return None
        if "speedup" in copy.metrics:
            return copy.metrics["speedup"]
        if recompute is None:
            return None
        ratio = recompute.metrics["ttft"].value / copy.metrics["ttft"].value
        return Metric("x", ratio, basis=weakest([copy.basis, recompute.basis]))


@dataclass(frozen=True)
class Pair:
    """A context at which copy can be held against recompute."""

    point: Point
    speedup: Metric

    @property
    def context(self) -> int:
        """The context of its point."""
        return self.point.context

    @property
    def winner(self) -> str:
        """`copy`, `recompute`, or `open` where the interval includes 1."""
        low, high = self.speedup.ci95 or (self.speedup.value, self.speedup.value)
        return "copy" if low > 1 else "recompute" if high < 1 else "open"


@dataclass(frozen=True)
class Series:
    """The points of one parameter set, by rising context."""

    record: Record
    params: Mapping[str, Any]
    points: tuple[Point, ...]
    label: str = ""  # the parameters not at their default, or not those of the record's others
    apart: str = ""  # the record's file, where another record's series reads the same

    @property
    def subject(self) -> str:
        """The model as a title names it: with its KV dtype, and its layers where not all ran."""
        return parameters.subject(self.record, self.params)

    @property
    def named(self) -> str:
        """The subject and whatever parameters tell this series from others."""
        return f"{self.subject}, {self.label}" if self.label else self.subject

    @property
    def device(self) -> str:
        """The device as a title names it."""
        return self.record.device_title

    @property
    def where(self) -> str:
        """The device, how its figures came about, and what tells a series from one like it."""
        apart = f" ({self.apart})" if self.apart else ""
        return f"{self.device}, {standing(self.basis)}{apart}"

    @property
    def serving_cost(self) -> str:
        """The serving engine's CPU time that a modelled run adds."""
        return str(self.params.get("serving_cost", "none"))

    @property
    def paired(self) -> list[Pair]:
        """The points at which both plans succeeded."""
        found = [(point, point.speedup) for point in self.points]
        return [Pair(point, speedup) for point, speedup in found if speedup]

    @property
    def speedups(self) -> list[Row]:
        """Context and speedup of every pair."""
        return [(pair.context, pair.speedup) for pair in self.paired]

    def ttfts(self, plan: str) -> list[Row]:
        """Context and TTFT of every case of a plan that succeeded."""
        found = [(point.context, point.ttft(plan)) for point in self.points]
        return [(context, ttft) for context, ttft in found if ttft]

    def plan_basis(self, plan: str) -> str:
        """Return the weakest basis of a plan, which must have succeeded somewhere."""
        return weakest([case.basis for point in self.points if (case := point.ok(plan))])

    @property
    def cases(self) -> list[Case]:
        """All cases, by context."""
        return [case for point in self.points for case in point.cases.values()]

    @property
    def basis(self) -> str:
        """The weakest basis of its cases."""
        return weakest([c.basis for c in self.cases if c.outcome == "ok"] or [self.device_basis])

    @property
    def crossovers(self) -> list[Crossover]:
        """What the run itself concluded about these parameters."""
        return [
            c
            for c in self.record.crossovers
            if all(c.params.get(name) == value for name, value in self.params.items())
        ]

    @property
    def unmoved(self) -> list[int]:
        """The contexts at which bytes were priced, but not moved."""
        return [
            p.context
            for p in self.points
            if any(c.params.get("data") == "off" for c in p.cases.values())
        ]

    @property
    def device_basis(self) -> str:
        """The basis that the device states of itself."""
        return str(self.record.device["basis"])


def series_of(record: Record, suites: Sequence[str] = ("ttft",)) -> list[Series]:
    """Group the cases of some suites; a recompute case serves every series that it agrees with."""
    groups: dict[tuple, list[Case]] = {}
    own = [case for case in record.cases if case.suite in suites]
    for case in own:
        if case.params["plan"] != "recompute":
            groups.setdefault(_key(case), []).append(case)
    for case in own:
        if case.params["plan"] == "recompute":
            agreeing = [key for key in groups if set(_key(case)) <= set(key)]
            for key in agreeing or [_key(case)]:
                groups.setdefault(key, []).append(case)
    return [
        Series(record, dict(key), _points(cases), _label(key, groups))
        for key, cases in groups.items()
    ]


def _key(case: Case) -> tuple:
    shared = {k: v for k, v in case.params.items() if k not in _WITHIN and v is not None}
    return tuple(sorted(shared.items()))


def _points(cases: list[Case]) -> tuple[Point, ...]:
    by_context: dict[int, dict[str, Case]] = {}
    for case in sorted(cases, key=_plan_order):
        by_context.setdefault(case.params["context_tokens"], {})[case.params["plan"]] = case
    return tuple(Point(context, plans) for context, plans in sorted(by_context.items()))


def _plan_order(case: Case) -> int:
    plan = case.params["plan"]
    return PLANS.index(plan) if plan in PLANS else len(PLANS)


def _label(key: tuple, groups: Mapping[tuple, list[Case]]) -> str:
    """Return what tells one series from others, of its record too, besides `Series.subject`."""
    common = parameters.common(dict(other) for other in groups)
    return parameters.words(dict(key), [name for name, _ in key if name not in common])


def told_apart(every: Sequence[Series]) -> list[Series]:
    """Return the series, with their record's file where two read the same."""
    read = [(one.named, one.where) for one in every]
    return [
        replace(one, apart=one.record.file) if read.count(title) > 1 else one
        for one, title in zip(every, read, strict=True)
    ]
