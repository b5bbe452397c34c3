# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML file that needs nothing else: no script, no link, pictures inside."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from html import escape as escape_markup

from kvroof_reports.document import Block, Cell, Document, Picture, Section, Table

_CSS = """
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #5c5c5c; --line: #d5d5d5; --page: #fff;
        --tint: #f4f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --soft: #a8a8a8; --line: #444; --page: #17191c; --tint: #22262b; }
}
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 66rem; background: var(--page);
       color: var(--ink); font: 16px/1.5 system-ui, "DejaVu Sans", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 1.25rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; border-bottom: 1px solid var(--line);
     padding-bottom: .25rem; }
p { max-width: 46rem; overflow-wrap: anywhere; }
.answer { background: var(--tint); border-left: 4px solid #0072b2; padding: .75rem 1rem;
          margin: 0 0 1rem; }
.answer p { margin: 0 0 .35rem; max-width: none; }
.answer strong { font-size: 1.1rem; }
.answer .basis, caption, figcaption, small, .footnote { color: var(--soft); }
nav { font-size: .875rem; margin: 0 0 1.5rem; }
nav ul { margin: 0; padding-left: 1.25rem; }
nav a { color: inherit; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .4rem; }
caption span { display: block; position: sticky; left: 0;
               max-width: min(66rem, calc(100vw - 2.5rem)); }
.footnote { font-size: .8125rem; margin: -.75rem 0 1rem; }
th, td { padding: .3rem; border-bottom: 1px solid var(--line); text-align: right;
         vertical-align: top; }
th { vertical-align: bottom; }
td { white-space: nowrap; }
th.words, td.words { text-align: left; white-space: normal; }
td.long { white-space: normal; overflow-wrap: anywhere; min-width: 18rem; }
small { display: block; font-size: .72rem; white-space: nowrap; }
td.long small { white-space: normal; }
figure { margin: 1.25rem 0; }
figure img { max-width: 100%; height: auto; background: #fff; }
figcaption { font-size: .875rem; }
@media print { body { max-width: none; padding: 0; font-size: 11px; } .scroll { overflow: visible; }
  table { font-size: 9px; } td, small { white-space: normal; }
  figure, tr, .answer { break-inside: avoid; } h2 { break-after: avoid; } }
"""


def escape(text: str) -> str:
    """Escape markup, and keep a number on one line with the unit behind it."""
    return re.sub(r"(?<=\d) (?=[%\w])", "\u00a0", escape_markup(text))


def render(document: Document) -> str:
    """Return the file's text."""
    answers = "\n".join(
        f'<div class="answer"><p>{escape(a.question)}</p><p><strong>{escape(a.answer)}</strong></p>'
        f'<p class="basis">{escape(a.basis)}</p></div>'
        for a in document.answers
    )
    names = _names(document.sections)
    sections = "\n".join(map(_section, document.sections, names))
    contents = _contents(document.sections, names) if document.contents else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(document.title)}</title>\n<style>{_CSS}</style>\n</head>\n<body>\n"
        f"<main>\n<h1>{escape(document.title)}</h1>\n{contents}{answers}\n{sections}\n</main>\n</body>\n</html>\n"
    )


def _names(sections: Sequence[Section]) -> list[str]:
    """Return what each heading is called in an address; the second of a name gets a number."""
    names: list[str] = []
    for section in sections:
        plain = re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-") or "section"
        alike = sum(name == plain or name.startswith(f"{plain}--") for name in names)
        names.append(f"{plain}--{alike + 1}" if alike else plain)
    return names


def _contents(sections: Sequence[Section], names: Sequence[str]) -> str:
    items = "\n".join(
        f'<li><a href="#{name}">{escape(section.title)}</a></li>'
        for section, name in zip(sections, names, strict=True)
    )
    return f'<nav aria-label="Contents">\n<ul>\n{items}\n</ul>\n</nav>\n'


def _section(section: Section, name: str) -> str:
    blocks = "\n".join(_block(block) for block in section.blocks)
    heading = f'<h2 id="{name}">{escape(section.title)}</h2>'
    return f"<section>\n{heading}\n{blocks}\n</section>"


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return _table(block)
    return _picture(block) if isinstance(block, Picture) else f"<p>{escape(block)}</p>"


def _table(table: Table) -> str:
    words = [i in table.words for i in range(len(table.head))]
    head = "".join(
        f'<th scope="col"{_classes(left, False)}>{escape(text)}</th>'
        for left, text in zip(words, table.head)
    )
    rows = "\n".join(
        "<tr>" + "".join(_cell(cell, left) for left, cell in zip(words, row)) + "</tr>"
        for row in table.rows
    )
    caption = table.caption and f"<caption><span>{escape(table.caption)}</span></caption>\n"
    footnote = table.footnote and f'\n<p class="footnote">{escape(table.footnote)}</p>'
    return (
        f'<div class="scroll"><table>\n{caption}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>{footnote}"
    )


def _cell(cell: Cell, left: bool) -> str:
    note = f"<small>{escape(cell.note)}</small>" if cell.note else ""
    long = max(len(cell.text), len(cell.note)) > 40
    return f"<td{_classes(left, long)}>{escape(cell.text)}{note}</td>"


def _classes(left: bool, long: bool) -> str:
    names = " ".join(["words"] * left + ["long"] * long)
    return f' class="{names}"' if names else ""


def _picture(picture: Picture) -> str:
    data = base64.b64encode(picture.svg).decode("ascii")
    return (
        f'<figure><img alt="{escape(picture.alt)}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>"
    )
