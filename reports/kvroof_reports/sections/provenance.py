# SPDX-License-Identifier: Apache-2.0
"""Where a record comes from, and every sourced value of its device's profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvroof_reports.document import Block, Cell, Section, Table, cells
from kvroof_reports.rows import MODELLED, Record
from kvroof_reports.text import quantity, rate


def section(record: Record) -> Section:
    """Return all facts of a record, and of its device's profile if it has one."""
    blocks: list[Block] = [_facts(record)]
    profile = _profile(record)
    if profile:
        blocks += ["The device profile, value by value, with the source of each:", profile]
    elif record.device["basis"] in MODELLED:
        blocks.append("The record does not carry the profile of its device.")
    return Section(f"Provenance: {record.file}", tuple(blocks))


def _facts(record: Record) -> Table:
    """Where a record comes from: tool, command, machine, device, model."""
    facts: list[tuple[str, str]] = [
        ("file", str(record.path)),
        ("command", " ".join(record.argv)),
        ("started", record.started),
        ("finished", record.finished if record.complete else f"{record.finished} (not completed)"),
        ("seed", str(record.seed)),
    ]
    device = {name: value for name, value in record.device.items() if name != "profile"}
    for name, group in (
        ("tool", record.tool),
        ("system", record.system),
        ("device", device),
        ("model", record.model),
    ):
        facts += _flat(group, name)
    return Table("", ("what", "value"), tuple(cells(*fact) for fact in facts), frozenset({0, 1}))


def _flat(node: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield from _flat(value, f"{where}: {name.replace('_', ' ')}")
    elif isinstance(node, list) and any(isinstance(value, Mapping | list) for value in node):
        for i, value in enumerate(node):
            yield from _flat(value, f"{where} {i}")
    elif isinstance(node, list):
        yield where, ", ".join(_fact(where, value) for value in node)
    elif node not in (None, ""):
        yield where, _fact(where, node)


def _fact(where: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and where.endswith(" bytes"):
        return f"{value:,} ({rate(value, 'B')})"
    return str(value)


def _profile(record: Record) -> Table | None:
    """Every sourced value of the device profile; None for a device without one."""
    rows = tuple(_sourced(record.device.get("profile") or {}, ""))
    head = ("figure", "value", "low", "high", "basis", "source")
    caption = "Where a figure is a curve, low and high are factors on it."
    return Table(caption, head, rows, frozenset({0, 4, 5})) if rows else None


def _sourced(node: Any, where: str) -> Iterator[tuple[Cell, ...]]:
    if isinstance(node, list):
        for i, value in enumerate(node):
            yield from _sourced(value, f"{where} {i + 1}")
    elif isinstance(node, Mapping) and "source" in node:
        unit = str(node.get("unit", ""))
        ends = [node.get("low"), node.get("high")]
        if "points" in node:
            shown = [f"curve of {len(node['points'])} points", *(_plain(end, "") for end in ends)]
        else:
            shown = [_plain(value, unit) for value in (node.get("value"), *ends)]
        source = Cell(str(node["source"]), str(node.get("note", node.get("spread", ""))))
        yield cells(where, *shown, str(node.get("basis", "–")), source)
    elif isinstance(node, Mapping):
        for name, value in node.items():
            yield from _sourced(value, f"{where} {name}".replace("_", " ").strip())


def _plain(value: Any, unit: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    return quantity(value, {"B/s": "bytes/s", "B": "bytes", "1": ""}.get(unit, unit)).strip()
