# SPDX-License-Identifier: Apache-2.0
"""A report as Markdown, with its pictures as PNG files beside it."""

from __future__ import annotations

import re

from kvroof_reports.document import Block, Cell, Document, Picture, Table


def render(document: Document) -> str:
    """Return the file's text."""
    lines = [f"# {_plain(document.title)}"]
    for answer in document.answers:
        lines += [_plain(answer.question), f"**{_plain(answer.answer)}**", _plain(answer.basis)]
    for section in document.sections:
        lines.append(f"## {_plain(section.title)}")
        lines += [_block(block) for block in section.blocks]
    return "\n\n".join(lines) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Picture):
        return f"![{_plain(block.alt)}]({block.name}.png)\n\n*{_plain(block.caption)}*"
    return _plain(block)


def _table(table: Table) -> str:
    rule = [":--" if i in table.words else "--:" for i in range(len(table.head))]
    rows = [[_plain(h) for h in table.head], rule, *([_cell(c) for c in row] for row in table.rows)]
    lines = [*([_plain(table.caption), ""] if table.caption else [])]
    footnote = ["", _plain(table.footnote)] if table.footnote else []
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), *footnote])


def _cell(cell: Cell) -> str:
    return _plain(f"{cell.text} ({cell.note})" if cell.note else cell.text)


def _plain(text: str) -> str:
    """Escape what Markdown would read as markup; a line break would end a table row."""
    return re.sub(r"([\\`*_|<\[\]])", r"\\\1", " ".join(text.split()))
