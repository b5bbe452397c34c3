# SPDX-License-Identifier: Apache-2.0
"""The cases of the pure plans beside the compute roof and the link's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvroof_reports.document import Section, picture
from kvroof_reports.figures import two_roofs
from kvroof_reports.rows import Record
from kvroof_reports.sections.words import caption


def sections(records: Sequence[Record]) -> Iterator[Section]:
    """Yield the section, where cases of both plans are there."""
    counts = [
        (plan, sum(len(two_roofs.cases_under(r, plan, (rate,))) for r in records))
        for plan, rate in (("recompute", "compute_ceiling"), ("copy", "link_ceiling"))
    ]
    if not all(count for _, count in counts):
        return
    drawn = picture(
        "two-roofs",
        two_roofs.draw(records),
        "The two roofs with "
        + " and ".join(f"{count} cases of {plan}" for plan, count in counts)
        + ".",
        caption(two_roofs.__doc__),
    )
    yield Section("The two roofs", (drawn,))
