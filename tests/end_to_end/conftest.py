# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the built kvroof, run as a user runs it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

KVROOF = Path(os.environ["KVROOF"])
SOURCE = Path(__file__).resolve().parents[2]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run kvroof in an empty folder; returns its exit code and output."""

    def call(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(KVROOF), *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            **options,
        )

    return call


@pytest.fixture
def refused(run: Run) -> Callable[..., str]:
    """Run kvroof, expect one sentence on stderr and an exit code, return the sentence."""

    def call(code: int, *arguments: str) -> str:
        done = run(*arguments)
        assert done.returncode == code, done.stderr
        lines = [line for line in done.stderr.splitlines() if line]
        assert len(lines) == 1, done.stderr
        assert lines[0].startswith("kvroof: ")
        return lines[0]

    return call
