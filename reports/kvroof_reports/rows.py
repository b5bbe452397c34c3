# SPDX-License-Identifier: Apache-2.0
"""The rows that figures and tables are made of: a result file's cases as plain typed data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# From strongest to weakest: a result takes the weakest basis of its inputs.
BASES = ("measured", "emulated", "calibrated", "published", "datasheet")
MODELLED = frozenset({"calibrated", "published", "datasheet"})
PLANS = ("recompute", "copy", "hybrid")
VERIFY = "verify"  # the suite of correctness checks, which have no figures to compare
COMPARING = ("ttft", "crossover")  # suites whose cases have a context, a plan and a TTFT
OUTCOMES = ("ok", "skipped", "failed", "incorrect")

VERDICTS = ("found", "none_in_range", "below_smallest", "inside_interval")

# Metrics of a copy case that several parts of a report read.
ALONE = "speedup_alone"  # recompute's prefill over copy's load, without what stands around either
AFTER_LOAD = "after_load_share"  # the share of TTFT after the load's end

Interval = tuple[float, float]


def weakest(bases: list[str]) -> str:
    """Return the weakest of `bases`, which must not be empty."""
    return max(bases, key=BASES.index)


@dataclass(frozen=True)
class Metric:
    """One figure: a median with its 95 % interval, or an exact count."""

    unit: str
    value: float
    ci95: Interval | None = None
    samples: tuple[float, ...] = ()
    exact: bool = False  # a count: no interval applies
    basis: str | None = None  # where it differs from its case's
    samples_enough: bool | None = None  # whether the interval got as narrow as was asked

    @property
    def stayed_wide(self) -> bool:
        """Whether sampling ended before the interval was as narrow as was asked."""
        return self.samples_enough is False


@dataclass(frozen=True)
class CopyChoice:
    """Which way `copy` auto took for one request's transfer, and what the best would have been."""

    direction: str  # offload or load
    region_bytes: int
    regions: int
    taken: str
    fastest: str | None  # None: nothing was timed
    worse_by: float | None
    passes: int  # of each way
    source: str  # calibration, or profile
    unchecked: str = ""


@dataclass(frozen=True)
class Case:
    """One parameter set and how it ended."""

    suite: str
    params: Mapping[str, Any]
    outcome: str
    reason: str
    basis: str
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    copy_choices: tuple[CopyChoice, ...] = ()  # where `copy` is auto

    def value(self, name: str) -> float | None:
        """Return a metric's median or count; None where the case does not carry it."""
        metric = self.metrics.get(name)
        return None if metric is None else metric.value


@dataclass(frozen=True)
class Crossover:
    """From which context copy is `margin` times faster, as the run itself concluded."""

    params: Mapping[str, Any]
    margin: float
    context: float | None
    ci95: Interval | None
    verdict: str
    basis: str


@dataclass(frozen=True)
class Record:
    """One result file."""

    path: Path
    file: str  # the path as a report names it: as short as tells it from the other records
    tool: Mapping[str, Any]
    argv: tuple[str, ...]
    started: str
    finished: str
    complete: bool
    seed: int
    system: Mapping[str, Any]
    device: Mapping[str, Any]
    model: Mapping[str, Any]
    cases: tuple[Case, ...]
    crossovers: tuple[Crossover, ...] = ()
    closed_forms: tuple[Crossover, ...] = ()  # by the two roofs alone
    checks: tuple[Case, ...] = ()  # of kvroof verify

    @property
    def device_name(self) -> str:
        """The device as the record names it, without the mark that every title sets itself."""
        name = str(self.device["name"]).replace(" (modelled)", "")
        rank = f", one of {self.model.get('ranks')}"
        return f"{name} tensor-parallel ranks" if name.endswith(rank) else name

    @property
    def device_title(self) -> str:
        """The device as a title names it."""
        name, profile = self.device_name, self.profile_file
        on_host = self.device["backend"] == "host"
        return f"the host CPU, {name}" if on_host else f"{name}, {profile}" if profile else name

    @property
    def profile_file(self) -> str:
        """The user's own profile that a simulated device was made from; empty: the catalogue's."""
        adapter, _, profile = str(self.device.get("spec", "")).partition(":")
        file = profile.split(",")[0]
        return Path(file).name if adapter == "sim" and file.endswith(".json") else ""

    @property
    def whole_layers(self) -> int | None:
        """How many layers the model has, however many of them ran."""
        return self.model.get("full_layers") or self.model.get("layers")

    @property
    def model_name(self) -> str:
        """The model as the record names it."""
        return str(self.model["name"])
