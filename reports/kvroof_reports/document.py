# SPDX-License-Identifier: Apache-2.0
"""A report as data, before it becomes HTML or Markdown."""

from __future__ import annotations

import io
from dataclasses import dataclass, field

from matplotlib.figure import Figure

from kvroof_reports.answer import Answer


@dataclass(frozen=True)
class Cell:
    """A table cell: what it says, and in smaller type what qualifies it."""

    text: str
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table; every row is as long as `head`. Columns in `words` hold text, the others figures."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: frozenset[int] = frozenset({0})
    footnote: str = ""  # what a mark in some cells means


@dataclass(frozen=True)
class Picture:
    """A figure with the text that stands for it where it can't be seen."""

    name: str
    alt: str
    caption: str
    svg: bytes
    png: bytes


Block = str | Table | Picture  # a string is a paragraph


@dataclass(frozen=True)
class Section:
    """A heading and what follows it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A whole report; the answers come first, but for a table of contents in a long report."""

    title: str
    answers: tuple[Answer, ...]
    sections: tuple[Section, ...] = field(default_factory=tuple)
    contents: bool = False  # whether a table of contents helps

    @property
    def pictures(self) -> list[Picture]:
        """All pictures, in order."""
        return [b for s in self.sections for b in s.blocks if isinstance(b, Picture)]


def picture(name: str, figure: Figure, alt: str, caption: str) -> Picture:
    """Render a figure once as SVG and once as PNG; the same figure gives the same bytes."""
    svg, png = io.BytesIO(), io.BytesIO()
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": "kvroof"})
    figure.savefig(png, format="png", dpi=150)
    return Picture(name, alt, caption, svg.getvalue(), png.getvalue())


def cells(*texts: str | Cell) -> tuple[Cell, ...]:
    """Return a table row of plain strings and cells."""
    return tuple(text if isinstance(text, Cell) else Cell(text) for text in texts)
