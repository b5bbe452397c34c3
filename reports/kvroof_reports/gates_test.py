# SPDX-License-Identifier: Apache-2.0
"""What a command of gates prints and returns, and what a report says of gates."""

from __future__ import annotations

import contextlib
import io
import unittest
from collections.abc import Sequence
from pathlib import Path

from kvroof_reports.gates import Check, NotComparable, command, verdict
from kvroof_reports.node import InputError

HOLDS = Check("speed", "2x", "1x", True)
MISSES = Check("size of it", "9", "at most 3", False)
ABSENT = Check("weight", "never run", "1", False, ran=False)


class GatesTest(unittest.TestCase):
    def run_command(
        self,
        checks: list[Check],
        words: Sequence[str] = ("a.json",),
        error: Exception | None = None,
    ) -> tuple[int, str, str]:
        def compare(files: Sequence[Path]) -> tuple[str, list[Check]]:
            if error:
                raise error
            return f"of {files[0].name}", checks

        with (
            contextlib.redirect_stdout(io.StringIO()) as printed,
            contextlib.redirect_stderr(io.StringIO()) as said,
        ):
            status = command("\nUsage: it FILE\n", 1, compare, list(words))
        return status, printed.getvalue(), said.getvalue()

    def test_one_gate_that_does_not_hold_is_status_one(self) -> None:
        self.assertEqual(self.run_command([HOLDS])[0], 0)
        status, printed, _ = self.run_command([HOLDS, MISSES])
        self.assertEqual(status, 1)
        self.assertEqual(
            printed.splitlines(),
            [
                "of a.json",
                "",
                "PASS  speed       2x  expected 1x",
                "FAIL  size of it  9   expected at most 3",
                "",
                "1 of 2 gates hold.",
            ],
        )

    def test_what_never_ran_is_no_failure_but_no_success(self) -> None:
        status, printed, _ = self.run_command([HOLDS, ABSENT])
        self.assertEqual(status, 1)
        self.assertEqual(
            printed.splitlines()[2:],
            [
                "PASS     speed   2x         expected 1x",
                "not run  weight  never run  expected 1",
                "",
                "1 of 1 gates that could be asked hold; 1 were not run.",
            ],
        )

    def test_runs_that_cannot_be_compared_fail_with_the_reason(self) -> None:
        status, printed, _ = self.run_command([], error=NotComparable("other models."))
        self.assertEqual((status, printed), (1, "FAIL  other models.\n"))

    def test_bad_input_is_status_two_and_one_sentence(self) -> None:
        status, printed, said = self.run_command([], error=InputError("a.json: no such file."))
        self.assertEqual((status, printed, said), (2, "", "a.json: no such file.\n"))

    def test_bad_usage_is_status_two_and_help_is_zero(self) -> None:
        for words, expected in (((), 2), (("a", "b"), 2), (("--all",), 2), (("--help",), 0)):
            status, printed, _ = self.run_command([HOLDS], words)
            self.assertEqual((status, printed), (expected, "Usage: it FILE\n"), words)

    def test_a_report_tells_misses_from_what_never_ran(self) -> None:
        self.assertEqual(verdict([HOLDS]), "1 of 1 gates of this comparison hold.")
        self.assertEqual(
            verdict([HOLDS, MISSES, ABSENT]),
            "1 of 2 gates of this comparison hold. These do not: size of it is 9, expected at most "
            "3. 1 more belong to points that were never run.",
        )


if __name__ == "__main__":
    unittest.main()
