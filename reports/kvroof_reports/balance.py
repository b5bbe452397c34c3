# SPDX-License-Identifier: Apache-2.0
"""How much a machine computes while its link moves a byte: what decides copy against recompute."""

from __future__ import annotations

from dataclasses import dataclass

from kvroof_reports.rows import MODELLED, Case
from kvroof_reports.series import Series
from kvroof_reports.text import aside, digits, rate, times, tokens


@dataclass(frozen=True)
class Balance:
    """The two rates of a series at its largest context, as the record's own figures give them."""

    series: Series
    context: int
    flops_rate: float  # FLOP/s that the prefill reached
    link_rate: float  # bytes/s that the load reached
    prefill_seconds: float
    link_seconds: float

    @property
    def flops_per_byte(self) -> float:
        """FLOPs computed while the link moves one byte."""
        return self.flops_rate / self.link_rate

    @property
    def pi(self) -> float:
        """Prefill time over link time of the same tokens."""
        return self.prefill_seconds / self.link_seconds


def balance_of(series: Series) -> Balance | None:
    """Return the balance of a series; None where its record lacks one of the figures."""
    for point in reversed(series.paired):
        recompute, copy = point.ok("recompute"), point.ok("copy")
        if not recompute or not copy:
            continue
        seconds = recompute.value("prefill") or recompute.metrics["ttft"].value
        flops_rate = _flops_rate(series, recompute, seconds)
        moved, link_rate = copy.value("bytes_loaded"), copy.value("copy_bandwidth")
        if flops_rate and moved and link_rate:
            return Balance(series, point.context, flops_rate, link_rate, seconds, moved / link_rate)
    return None


def _flops_rate(series: Series, recompute: Case, seconds: float) -> float | None:
    flops, mfu = recompute.value("flops"), recompute.value("mfu")
    if flops:
        return flops / seconds
    peak = series.record.device.get("peaks", {}).get(f"flops_{series.params.get('kv_dtype')}")
    return mfu * peak if mfu and peak else None


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
    says = (
        "by about as much on both"
        if 0.8 < further < 1.25
        else (f"by far more on the {'CPU' if further > 1 else 'GPU'}")
    )
    return (
        f"While its link moves one byte, {_name(ours)} computes {_rates(ours)} and {_name(theirs)} "
        f"{_rates(theirs)}: the CPU's balance is {_apart(ours, theirs)} the GPU's. "
        f"Prefill takes {times(ours.pi)} as long as moving its KV on the CPU at "
        f"{tokens(ours.context)} tokens, {times(theirs.pi)} on the GPU at "
        f"{tokens(theirs.context)}: copying wins {says}."
    )


def _apart(ours: Balance, theirs: Balance) -> str:
    ratio = theirs.flops_per_byte / ours.flops_per_byte
    return f"{times(ratio)} below" if ratio >= 1 else f"{times(1 / ratio)} above"


def _rates(balance: Balance) -> str:
    return (
        f"{digits(balance.flops_per_byte)} FLOP ({rate(balance.flops_rate, 'FLOP/s')} over "
        f"{rate(balance.link_rate, 'B/s')})"
    )


def _name(balance: Balance) -> str:
    record = balance.series.record
    where = "the host CPU" if record.device["backend"] == "host" else record.device_name
    return f"{where} ({aside(balance.series.basis)})"
