# SPDX-License-Identifier: Apache-2.0
"""Put a report on disk: everything is written under temporary names first, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from kvroof_reports import html, markdown
from kvroof_reports.document import Document
from kvroof_reports.node import InputError


def write(document: Document, folder: Path) -> list[Path]:
    """Write report.html, report.md and the pictures; on an error nothing of it is left."""
    contents = {
        "report.html": html.render(document).encode("utf-8"),
        "report.md": markdown.render(document).encode("utf-8"),
        **{f"{picture.name}.png": picture.png for picture in document.pictures},
    }
    temporary = {name: folder / f".{name}.{os.getpid()}" for name in contents}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            temporary[name].write_bytes(content)
        for name in contents:
            temporary[name].replace(folder / name)
    except OSError as error:
        _remove(temporary.values())
        raise InputError(
            f"{folder}: the report can't be written: {error.strerror}; give --out a folder that "
            "can be written and has room."
        ) from None
    return [folder / name for name in contents]


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError:
            continue  # the folder itself may be what is wrong
