# SPDX-License-Identifier: Apache-2.0
"""Every kvroof command that a document shows in a `sh` block runs as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from conftest import SOURCE

DOCUMENTS = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted(SOURCE.glob("docs/*.md"))]
FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[list[str]]:
    """kvroof's command lines in the document's `sh` blocks, without variables and binary."""
    found = []
    for block in FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
                words.pop(0)
            if words and Path(words[0]).name == "kvroof":
                found.append(words[1:])
    return found


def test_commands_are_found() -> None:
    text = "```sh\nA_B=1 build/kvroof run a \\\n  --b c  # why\nls\n```\n```\nkvroof no\n```\n"
    assert commands(text) == [["run", "a", "--b", "c"]]
    assert commands((SOURCE / "README.md").read_text())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_documented_commands(run, document: Path) -> None:
    for words in commands(document.read_text()):
        done = run(*words)
        assert done.returncode == 0, f"kvroof {' '.join(words)}\n{done.stderr}"
