# SPDX-License-Identifier: Apache-2.0
"""How much a machine computes while its link moves a byte: what decides copy against recompute."""

from __future__ import annotations

from dataclasses import dataclass

from kvroof_reports.rows import MODELLED
from kvroof_reports.series import Series
from kvroof_reports.text import aside, digits, percent, rate, times, tokens


@dataclass(frozen=True)
class Balance:
    """The two rates of a series at its largest context, as the record's own figures give them."""

    context: int
    series: Series
    flop_rate: float  # FLOP/s that recomputing reached
    link_rate: float  # bytes/s that the load reached
    prefill_seconds: float
    load_seconds: float
    copy_seconds: float  # TTFT by copy
    speedup: float

    @property
    def flops_per_byte(self) -> float:
        """FLOPs computed while the link moves one byte."""
        return self.flop_rate / self.link_rate

    @property
    def pi(self) -> float:
        """Prefill time over link time of the same tokens."""
        return self.prefill_seconds / self.load_seconds

    @property
    def rest(self) -> float:
        """The share of a copy's TTFT that is not its load."""
        return max(0.0, 1 - self.load_seconds / self.copy_seconds)


def balance_of(series: Series) -> Balance | None:
    """Return the balance of a series; None where its record lacks one of the figures."""
    for pair in reversed(series.paired):
        point = pair.point
        recompute, copy = point.ok("recompute"), point.ok("copy")
        if not recompute or not copy:
            continue
        flop_rate, link_rate = recompute.value("flop_rate"), copy.value("copy_bandwidth")
        load_seconds, prefill_seconds = copy.value("load_time"), recompute.metrics["ttft"].value
        if flop_rate and link_rate and load_seconds:
            return Balance(
                context=point.context,
                series=series,
                flop_rate=flop_rate,
                link_rate=link_rate,
                prefill_seconds=prefill_seconds,
                load_seconds=load_seconds,
                copy_seconds=copy.metrics["ttft"].value,
                speedup=pair.speedup.value,
            )
    return None


def measured_and_modelled(all_series: list[Series]) -> tuple[Series, Series] | None:
    """Return the first measured series on a host and the first modelled one, if both have pairs."""
    paired = [s for s in all_series if s.paired]
    host = next(
        (s for s in paired if s.basis == "measured" and s.record.device["backend"] == "host"), None
    )
    gpu = next((s for s in paired if s.basis in MODELLED), None)
    return (host, gpu) if host and gpu else None


def comparison(host: Series, gpu: Series) -> str | None:
    """Return one sentence on how far the host's balance is from the GPU's."""
    ours, theirs = balance_of(host), balance_of(gpu)
    if not ours or not theirs:
        return None
    further = ours.pi / theirs.pi
    amount = "far more" if max(further, 1 / further) >= 2 else "more"
    where = "CPU" if further > 1 else "GPU"
    says = "by about as much on both" if 0.8 < further < 1.25 else f"by {amount} on the {where}"
    return (
        f"While its link moves one byte, {_name(ours)} computes {_rates(ours)} and {_name(theirs)} "
        f"{_rates(theirs)}: the CPU's balance is {_apart(ours, theirs)} the GPU's. "
        f"Prefill takes {times(ours.pi)} as long as moving its KV on the CPU at "
        f"{tokens(ours.context)} tokens, {times(theirs.pi)} on the GPU at "
        f"{tokens(theirs.context)}: copying wins {says}. The "
        f"speedups there are {times(ours.speedup)} and {times(theirs.speedup)}: beside the load, a "
        "copy's TTFT holds the forward of what was not loaded, the last token at least, "
        f"{percent(ours.rest)} of it on the CPU and {percent(theirs.rest)} on the GPU."
    )


def _apart(ours: Balance, theirs: Balance) -> str:
    ratio = theirs.flops_per_byte / ours.flops_per_byte
    return f"{times(ratio)} below" if ratio >= 1 else f"{times(1 / ratio)} above"


def _rates(balance: Balance) -> str:
    return (
        f"{digits(balance.flops_per_byte)} FLOP ({rate(balance.flop_rate, 'FLOP/s')} over "
        f"{rate(balance.link_rate, 'B/s')})"
    )


def _name(balance: Balance) -> str:
    record = balance.series.record
    where = "the host CPU" if record.device["backend"] == "host" else record.device_name
    return f"{where} ({aside(balance.series.basis)})"
