# SPDX-License-Identifier: Apache-2.0
"""From which context on copying is faster, over every setting that a run tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kvroof_reports.crossover_answer import verdict
from kvroof_reports.document import Block, Cell, Picture, Section, Table, cells, picture
from kvroof_reports.figures import crossover_by_batch_and_link
from kvroof_reports.parameters import common, named
from kvroof_reports.rows import Case, Crossover, Record
from kvroof_reports.sections.words import caption
from kvroof_reports.setting import Setting, copies, names_of, setting_of
from kvroof_reports.text import digits, standing, tokens


def sections(records: Sequence[Record]) -> Iterator[Section]:
    """Yield a section for each record of the crossover suite."""
    for i, record in enumerate(records):
        if not record.closed_forms:
            continue
        name = f"{named(record, common(c.params for c in record.cases))} on {record.device_title}"
        closed = _closed_form(record)
        blocks: list[Block] = [_CLOSED_FORM, closed] if closed.rows else []
        if crossover_by_batch_and_link.drawable(record):
            blocks += [_picture(i + 1, record, name)]
        yield Section(f"Crossover of {name}, {record.file}", (*blocks, _answers(record)))


_CLOSED_FORM = (
    "The closed form holds the FLOPs of recomputing a byte of KV against the FLOPs that the "
    "machine does while its link moves a byte; their quotient Pi is the speedup if nothing but the "
    "two roofs counted."
)


def _picture(number: int, record: Record, name: str) -> Picture:
    return picture(
        f"crossover-{number}",
        crossover_by_batch_and_link.draw(record),
        f"From which context on copying is faster, {name}, "
        f"{standing(record.crossovers[0].basis)}. {verdict(record)}",
        caption(crossover_by_batch_and_link.__doc__),
    )


def _closed_form(record: Record) -> Table:
    """Return the machine's balance, FLOPs per KV byte and Pi, a row a link and dtype."""
    found: dict[tuple[str, str], list[Case]] = {}
    for case in record.cases:
        if case.outcome == "ok" and "pi" in case.metrics:
            key = (str(case.params["link"]), str(case.params["kv_dtype"]))
            found.setdefault(key, []).append(case)
    rows = []
    for (link, dtype), cases in found.items():
        first, last = (pick(cases, key=_context) for pick in (min, max))
        pair = [
            f"{digits(first.metrics[name].value)} to {digits(last.metrics[name].value)}"
            for name in ("flops_per_kv_byte", "pi")
        ]
        span = f"{tokens(_context(first))} to {tokens(_context(last))}"
        balance = tokens(first.metrics["machine_balance"].value)
        rows.append(cells(link, dtype, balance, span, *pair))
    head = ("link", "KV dtype", "FLOPs per link byte", "tokens", "FLOPs per KV byte", "Pi")
    text = "The closed form: from the shortest to the longest context that ran."
    return Table(text, head, tuple(rows), frozenset({0, 1, 3}))


def _context(case: Case) -> int:
    return int(case.params["context_tokens"])


def _answers(record: Record) -> Table:
    """Return from where on copying is faster, simulated and by the closed form, a row a setting."""
    names = ("link", *names_of(copies(record.crossovers)))
    found = _by_setting(record.crossovers, names)
    closed = _by_setting(record.closed_forms, names)
    margins = sorted({margin for own in found.values() for margin in own})
    rows = tuple(
        (
            *cells(*setting),
            *(_from(own.get(margin)) for margin in margins),
            _from(closed.get(setting, {}).get(margins[0])),
        )
        for setting, own in found.items()
    )
    head = (
        *(_HEAD.get(name, name.replace("_", " ")) for name in names),
        *(f"copy {margin:g}x faster from" for margin in margins),
        f"closed form, {margins[0]:g}x" if margins else "closed form",
    )
    text = "Tokens from which copying is faster by each margin, with the 95 % interval below."
    words = {i for i, name in enumerate(names) if name not in ("batch", "live")}
    return Table(text, head, rows, frozenset(words))


def _by_setting(
    crossovers: Sequence[Crossover], names: Sequence[str]
) -> dict[Setting, dict[float, Crossover]]:
    found: dict[Setting, dict[float, Crossover]] = {}
    for crossover in copies(crossovers):
        found.setdefault(setting_of(crossover.params, names), {})[crossover.margin] = crossover
    return found


_HEAD = {"kv_dtype": "KV dtype"}
_SHORT = {"below_smallest": "all that ran", "none_in_range": "none that ran"}


def _from(crossover: Crossover | None) -> Cell:
    if crossover is None:
        return Cell("–")
    if crossover.verdict in _SHORT:
        return Cell(_SHORT[crossover.verdict])
    shown = tokens(crossover.context) if crossover.context is not None else "–"
    ci95 = " to ".join(tokens(end) for end in crossover.ci95 or ())
    inside = "not decided" if crossover.verdict == "inside_interval" else ""
    return Cell(shown, "; ".join(note for note in (ci95, inside) if note))
