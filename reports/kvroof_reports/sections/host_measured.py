# SPDX-License-Identifier: Apache-2.0
"""A measured CPU beside a modelled accelerator."""

from __future__ import annotations

from collections.abc import Iterator

from kvroof_reports.balance import comparison, measured_and_modelled
from kvroof_reports.document import Section, picture
from kvroof_reports.figures import host_measured
from kvroof_reports.sections.words import alt, caption
from kvroof_reports.series import Series


def sections(every: list[Series]) -> Iterator[Section]:
    """Yield the section, where a record of each kind is there."""
    both = measured_and_modelled(every)
    if not both:
        return
    host, gpu = both
    drawn = picture(
        "host-measured",
        host_measured.draw(host, gpu),
        f"Left: TTFT by recompute and by copy, measured on the host CPU and modelled on "
        f"{gpu.record.device_name}. Right: the speedup of both. "
        f"{alt('TTFT', host)} {alt('TTFT', gpu)}",
        caption(host_measured.__doc__),
    )
    sentence = comparison(host, gpu) or (
        "How far the CPU's balance is from the modelled device's can't be said: one of the records "
        "lacks the rate of recomputing or of copying."
    )
    yield Section("The measured CPU beside the modelled accelerator", (sentence, drawn))
