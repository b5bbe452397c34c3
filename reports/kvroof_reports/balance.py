# SPDX-License-Identifier: Apache-2.0
"""How much a machine computes while its link moves a byte: what decides copy against recompute."""

from __future__ import annotations

from dataclasses import dataclass

from kvroof_reports.rows import AFTER_LOAD, ALONE, MODELLED
from kvroof_reports.series import Series
from kvroof_reports.text import aside, digits, percent, rate, times, tokens


@dataclass(frozen=True)
class Balance:
    """The two rates of a series at its largest context, as the record's own figures give them."""

    context: int
    series: Series
    flop_rate: float  # FLOP/s that recomputing reached
    link_rate: float  # bytes/s that the load reached
    speedup: float
    alone: float | None  # prefill time over load time
    after_load: float | None  # the share of a copy's TTFT after the load's end

    @property
    def flops_per_byte(self) -> float:
        """FLOPs computed while the link moves one byte."""
        return self.flop_rate / self.link_rate


def balance_of(series: Series) -> Balance | None:
    """Return the balance of a series; None where its record lacks one of the rates."""
    for pair in reversed(series.paired):
        point = pair.point
        recompute, copy = point.ok("recompute"), point.ok("copy")
        if not recompute or not copy:
            continue
        flop_rate, link_rate = recompute.value("flop_rate"), copy.value("copy_bandwidth")
        if flop_rate and link_rate:
            return Balance(
                context=point.context,
                series=series,
                flop_rate=flop_rate,
                link_rate=link_rate,
                speedup=pair.speedup.value,
                alone=copy.value(ALONE),
                after_load=copy.value(AFTER_LOAD),
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
    """Return how far the host's balance is from the GPU's, as far as both records say it."""
    ours, theirs = balance_of(host), balance_of(gpu)
    if not ours or not theirs:
        return None
    sentences = (_rates(ours, theirs), _alone(ours, theirs), _speedups(ours, theirs))
    return " ".join(sentence for sentence in sentences if sentence)


def _rates(ours: Balance, theirs: Balance) -> str:
    return (
        f"While its link moves one byte, {_name(ours)} computes {_over(ours)} and {_name(theirs)} "
        f"{_over(theirs)}: the CPU's balance is {_apart(ours, theirs)} the GPU's."
    )


def _alone(ours: Balance, theirs: Balance) -> str:
    if not ours.alone or not theirs.alone:
        return ""
    further = ours.alone / theirs.alone
    amount = "far more" if max(further, 1 / further) >= 2 else "more"
    where = "CPU" if further > 1 else "GPU"
    says = "about as much on both" if 0.8 < further < 1.25 else f"{amount} on the {where}"
    return (
        f"Prefill alone takes {times(ours.alone)} as long as the load alone on the CPU and "
        f"{times(theirs.alone)} on the GPU: {says}."
    )


def _speedups(ours: Balance, theirs: Balance) -> str:
    says = f"The speedups, of whole TTFTs, are {times(ours.speedup)} and {times(theirs.speedup)}"
    if ours.after_load is None or theirs.after_load is None:
        return f"{says}."
    return (
        f"{says}; of a copy's TTFT, {percent(ours.after_load)} on the CPU and "
        f"{percent(theirs.after_load)} on the GPU lie after the load's end."
    )


def _apart(ours: Balance, theirs: Balance) -> str:
    ratio = theirs.flops_per_byte / ours.flops_per_byte
    return f"{times(ratio)} below" if ratio >= 1 else f"{times(1 / ratio)} above"


def _over(balance: Balance) -> str:
    return (
        f"{digits(balance.flops_per_byte)} FLOP ({rate(balance.flop_rate, 'FLOP/s')} over "
        f"{rate(balance.link_rate, 'B/s')})"
    )


def _name(balance: Balance) -> str:
    record = balance.series.record
    where = "the host CPU" if record.device["backend"] == "host" else record.device_name
    return f"{where} ({aside(balance.series.basis)}, at {tokens(balance.context)} tokens)"
