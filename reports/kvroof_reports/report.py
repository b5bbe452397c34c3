# SPDX-License-Identifier: Apache-2.0
"""Put a report together from records: answers first, then figures, tables and provenance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvroof_reports import style
from kvroof_reports import tunnel as wind
from kvroof_reports.answer import Answer, answer
from kvroof_reports.balance import comparison, measured_and_modelled
from kvroof_reports.claim import GATES, checks_of
from kvroof_reports.document import Block, Document, Picture, Section, picture
from kvroof_reports.figures import (
    crossover_by_batch_and_link,
    host_measured,
    speedup_by_context,
    ttft_by_context,
    two_roofs,
    wind_tunnel,
)
from kvroof_reports.published import Published, load_published, published_for
from kvroof_reports.rows import MODELLED, PLANS, Record
from kvroof_reports.series import Series, series_of
from kvroof_reports.tables import (
    case_table,
    closed_form_table,
    crossover_table,
    missing_table,
    profile_table,
    provenance_table,
    published_table,
    scaled_table,
    tunnel_table,
)
from kvroof_reports.text import aside, join, seconds, standing, times, tokens

_HOW = (
    "TTFT is the time from submission until the first token's logits. Recompute is the prefill of "
    "the whole context; copy is the load of the cached KV blocks from host memory and the prefill "
    "of the rest, at least one token. Speedup is recompute's TTFT over copy's for the same "
    "parameters.",
    "Measured figures are medians of repeated runs on the machine named below, with bootstrap 95 % "
    "intervals. Modelled figures are one run of the same engine on a virtual clock that prices "
    "each operation and copy from the device's profile; a deterministic run repeats exactly, so "
    "where no parameter was drawn between its low and high there is no interval. No modelled "
    "device has run here.",
    "A figure's basis is the weakest of its inputs: measured, emulated (real clock, an imposed "
    "limit), calibrated (parameters fitted to a measured run), published (others' measurements), "
    "datasheet (peaks times a stated efficiency). Anything scaled from some layers to all of "
    "them is calibrated, and stands apart from what was measured.",
)


def build(records: Sequence[Record]) -> Document:
    """Build the report of some records."""
    style.use()
    known = load_published()
    by_record = [(record, series_of(record)) for record in records]
    every = [series for _, group in by_record for series in group]
    answers = [a for record, group in by_record for a in _answers(record, group)]
    sections = [
        _series_section(i + 1, series, _heading(series, every), published_for(series, known))
        for i, series in enumerate(every)
    ]
    sections += [
        *_crossovers(records),
        *_two_roofs(records),
        *_beside(every),
        *_wind_tunnel(every),
        *_missing(records),
        Section("How the numbers came about", _HOW),
    ]
    sections += [_provenance(record) for record in records]
    return Document(_title(records), tuple(answers), tuple(sections))


def _title(records: Sequence[Record]) -> str:
    models = list(dict.fromkeys(record.model_name for record in records))
    return f"Copy KV from host memory, or recompute it? {', '.join(models)}"


def _answers(record: Record, group: list[Series]) -> list[Answer]:
    if group:
        return [answer(series) for series in group]
    basis = str(record.device["basis"])
    asked = (
        f"Is it cheaper to copy KV of {record.model_name} from host memory or to recompute it on "
        f"{record.device_name} ({aside(basis)})?"
    )
    if record.closed_forms:
        return [Answer(asked, _crossover_answer(record), "")]
    return [Answer(asked, f"No answer: {record.path.name} holds no case of the ttft suite.", "")]


def _crossover_answer(record: Record) -> str:
    """Count the verdicts of plan copy at margin 1."""
    own = [c for c in record.crossovers if c.margin == 1 and c.params.get("plan") == "copy"]
    always = sum(c.verdict == "below_smallest" for c in own)
    never = sum(c.verdict == "none_in_range" for c in own)
    return (
        f"Of {len(own)} combinations of batch, live sequences, dtype and link, copying is faster "
        f"at every context tried in {always}, at none in {never}, and from some context up in "
        f"{len(own) - always - never} ({record.path.name}, {standing(own[0].basis)})."
    )


def _heading(series: Series, every: Sequence[Series]) -> str:
    """Return the series' own title, with its file where another one's would read the same."""
    title = _title_of(series)
    alike = sum(_title_of(other) == title for other in every) > 1
    return f"{title} ({series.record.path.name})" if alike else title


def _title_of(series: Series) -> str:
    what = f"{series.subject}, {series.label}" if series.label else series.subject
    cost = f", serving cost {series.serving_cost}" if series.serving_cost != "none" else ""
    return f"{what} on {series.device}, {standing(series.basis)}{cost}"


def _series_section(
    number: int, series: Series, title: str, published: Published | None
) -> Section:
    blocks: list[Block] = list(_pictures(number, series, published))
    if any(case.outcome == "ok" for case in series.cases):
        tables = (case_table(series), scaled_table(series), crossover_table(series))
        blocks += [table for table in tables if table] + _unmoved(series)
    else:
        blocks.append("No case succeeded; the reasons are listed below.")
    if published:
        blocks += [published_table(series, published), *_gates(series, published)]
    return Section(title, tuple(blocks))


def _unmoved(series: Series) -> list[Block]:
    if not series.unmoved:
        return []
    at = join([tokens(context) for context in series.unmoved])
    return [
        f"At {at} tokens the bytes were priced but not moved (data off): nothing is said there of "
        "their correctness."
    ]


def _pictures(number: int, series: Series, published: Published | None) -> Iterator[Picture]:
    if any(case.outcome == "ok" for case in series.cases):
        yield picture(
            f"ttft-{number}",
            ttft_by_context.draw(series, published),
            _alt("TTFT", series, published),
            _caption(ttft_by_context.__doc__, published),
        )
    if series.paired:
        yield picture(
            f"speedup-{number}",
            speedup_by_context.draw(series, published),
            _alt("Speedup of copy over recompute", series, published),
            _caption(speedup_by_context.__doc__, published),
        )


def _caption(docstring: str | None, published: Published | None) -> str:
    """Return a figure's own description, without what it says of published points if none are."""
    said = (docstring or "").split("\n\n")
    return " ".join(" ".join(p for p in said if published or "published" not in p).split())


def _alt(what: str, series: Series, published: Published | None) -> str:
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
        f"{what} against context of {series.subject} on {series.device}, "
        f"{standing(series.basis)}. {'; '.join(found)}.{beside}"
    )


def _gates(series: Series, published: Published) -> list[Block]:
    checks = checks_of(series, published)
    ran = [check for check in checks if check.ran]
    failed = [check for check in ran if not check.passed]
    text = f"{len(ran) - len(failed)} of {len(ran)} gates of this comparison hold."
    if failed:
        misses = "; ".join(f"{c.what} is {c.found}, expected {c.expected}" for c in failed)
        text += f" These do not: {misses}."
    if len(ran) < len(checks):
        text += f" {len(checks) - len(ran)} more belong to points that were never run."
    text += f" {GATES} The published figures have their engine's own serving cost."
    source = (
        f"Published: {published.name}, {published.source_url}. {published.setting}. "
        f"{published.how_read}"
    )
    return [text, source]


def _beside(every: list[Series]) -> Iterator[Section]:
    both = measured_and_modelled(every)
    if not both:
        return
    host, gpu = both
    drawn = picture(
        "host-measured",
        host_measured.draw(host, gpu),
        f"Left: TTFT by recompute and by copy, measured on the host CPU and modelled on "
        f"{gpu.record.device_name}. Right: the speedup of both. "
        f"{_alt('TTFT', host, None)} {_alt('TTFT', gpu, None)}",
        _caption(host_measured.__doc__, None),
    )
    sentence = comparison(host, gpu) or (
        "How far the CPU's balance is from the modelled device's can't be said: one of the records "
        "lacks FLOPs, loaded bytes or copy rate."
    )
    yield Section("The measured CPU beside the modelled accelerator", (sentence, drawn))


def _crossovers(records: Sequence[Record]) -> Iterator[Section]:
    for i, record in enumerate(records):
        if not record.closed_forms:
            continue
        drawn = picture(
            f"crossover-{i + 1}",
            crossover_by_batch_and_link.draw(record),
            f"From which context on copying is faster, {record.model_name} on "
            f"{record.device_name}. {_crossover_answer(record)}",
            _caption(crossover_by_batch_and_link.__doc__, None),
        )
        said = (
            "The closed form holds the FLOPs of recomputing a byte of KV against the FLOPs that "
            "the machine does while its link moves a byte; their quotient Pi is the speedup if "
            "nothing but the two roofs counted."
        )
        title = f"Crossover of {record.model_name} on {record.device_name}, {record.path.name}"
        yield Section(title, (said, closed_form_table(record), drawn))


def _two_roofs(records: Sequence[Record]) -> Iterator[Section]:
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
        + " under them.",
        _caption(two_roofs.__doc__, None),
    )
    yield Section("The two roofs", (drawn,))


def _wind_tunnel(every: list[Series]) -> Iterator[Section]:
    tunnel = wind.tunnel_of(every)
    if not tunnel:
        return
    found = [
        f"{tokens(p.context)} tokens {times(p.simulated.value)} and {times(p.tunnel.value)}"
        for p in tunnel.points
        if p.simulated and p.tunnel
    ]
    drawn = picture(
        "wind-tunnel",
        wind_tunnel.draw(tunnel),
        "Prefill time over load time against context, of the simulated machine and of the wind "
        f"tunnel: {'; '.join(found)}.",
        _caption(wind_tunnel.__doc__, None),
    )
    checks = [check for check in wind.checks_of(tunnel) if check.ran]
    missed = [f"{c.what} is {c.found}, expected {c.expected}" for c in checks if not c.passed]
    verdict = f"{len(checks) - len(missed)} of {len(checks)} gates that could be asked hold."
    if missed:
        verdict += f" These do not: {'; '.join(missed)}."
    blocks = (wind.setting(tunnel), drawn, tunnel_table(tunnel), f"{verdict} {wind.GATES}")
    yield Section("The wind tunnel beside the machine that it imitates", blocks)


def _missing(records: Sequence[Record]) -> Iterator[Section]:
    for record in records:
        table = missing_table(record.cases)
        if table:
            yield Section(f"Cases without a result: {record.path.name}", (table,))


def _provenance(record: Record) -> Section:
    blocks: list[Block] = [provenance_table(record)]
    profile = profile_table(record)
    if profile:
        blocks += ["The device profile, value by value, with the source of each:", profile]
    elif record.device["basis"] in MODELLED:
        blocks.append("The record does not carry the profile of its device.")
    return Section(f"Provenance: {record.path.name}", tuple(blocks))
