# SPDX-License-Identifier: Apache-2.0
"""What sections say alike: a figure's caption, and its text for who can't see it."""

from __future__ import annotations

from kvroof_reports.published import Published
from kvroof_reports.rows import PLANS
from kvroof_reports.series import Series
from kvroof_reports.text import seconds, times, tokens


def caption(docstring: str | None, published: Published | None = None) -> str:
    """Return a figure's own description, without what it says of published points if none are."""
    said = (docstring or "").split("\n\n")
    return " ".join(" ".join(p for p in said if published or "published" not in p).split())


def alt(what: str, series: Series, published: Published | None = None) -> str:
    """Return what a figure of a series shows, figure by figure."""
    if what == "TTFT":
        rows = [(plan, *row, seconds) for plan in PLANS for row in series.ttfts(plan)]
    else:
        rows = [("speedup", *row, times) for row in series.speedups]
    found = [
        f"{name} at {tokens(context)} tokens {shown(metric.value)}"
        for name, context, metric, shown in rows
    ]
    beside = " Published points stand beside." if published else ""
    return (
        f"{what} against context of {series.named} on {series.where}. {'; '.join(found)}.{beside}"
    )
