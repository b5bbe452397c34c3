# SPDX-License-Identifier: Apache-2.0
"""Gates: what was found against what was expected, how a command prints them, and its status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kvroof_reports.node import InputError


@dataclass(frozen=True)
class Check:
    """One gate: what was found, what was expected, and whether it holds."""

    what: str
    found: str
    expected: str
    passed: bool
    ran: bool = True


class NotComparable(Exception):
    """The files are records, but not of runs that can be compared; the message says why."""


# Takes the files; returns what to print above the gates, and the gates.
Compare = Callable[[Sequence[Path]], tuple[str, list[Check]]]


def command(
    usage: str | None, files: int, compare: Compare, arguments: Sequence[str] | None
) -> int:
    """Run a command that holds files against gates.

    Parameters
    ----------
    usage
        What `--help` prints.
    files
        How many files the command takes.
    compare
        What it does with them.
    arguments
        The command line; None takes the process's own.

    Returns
    -------
    int
        0: every gate holds; 1: one does not or was not run, or nothing could be compared; 2: bad
        usage or input.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if len(words) != files or any(word.startswith("-") for word in words):
        print((usage or "").strip())
        return 0 if list(words) in (["-h"], ["--help"]) else 2
    try:
        head, checks = compare([Path(word) for word in words])
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except NotComparable as error:
        print(f"FAIL  {error}")
        return 1
    if head:
        print(f"{head}\n")
    return _tell(checks)


def _tell(checks: Sequence[Check]) -> int:
    """Print every gate with PASS, FAIL or `not run`, then how many hold; 0 if all do."""
    verdicts = ["not run" if not c.ran else "PASS" if c.passed else "FAIL" for c in checks]
    width = max(map(len, verdicts), default=0)
    what = max((len(check.what) for check in checks), default=0)
    found = max((len(check.found) for check in checks), default=0)
    for word, check in zip(verdicts, checks, strict=True):
        line = f"{check.what:<{what}}  {check.found:<{found}}  expected {check.expected}"
        print(f"{word:<{width}}  {line}")
    held, asked = verdicts.count("PASS"), len(checks) - verdicts.count("not run")
    missing = f" that could be asked hold; {len(checks) - asked} were not run"
    print(f"\n{held} of {asked} gates{missing if asked < len(checks) else ' hold'}.")
    return 0 if held == len(checks) else 1


def verdict(checks: Sequence[Check]) -> str:
    """Return how many gates hold, and which don't, as a report says it."""
    ran = [check for check in checks if check.ran]
    failed = [check for check in ran if not check.passed]
    text = f"{len(ran) - len(failed)} of {len(ran)} gates of this comparison hold."
    if failed:
        misses = "; ".join(f"{c.what} is {c.found}, expected {c.expected}" for c in failed)
        text += f" These do not: {misses}."
    if len(ran) < len(checks):
        text += f" {len(checks) - len(ran)} more belong to points that were never run."
    return text
