# SPDX-License-Identifier: Apache-2.0
"""Records of kvroof verify in a report."""

from __future__ import annotations

import unittest
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kvroof_reports import checks_answer, markdown
from kvroof_reports.report import build
from kvroof_reports.rows import Case, Metric
from kvroof_reports.testing import HOST, record


def _check(outcome: str = "ok", reason: str = "", name: str = "round_trip") -> Case:
    metrics = {"vectors_compared": Metric("count", 768, exact=True)}
    return Case(
        "verify", {"check": name}, outcome, reason, "measured", metrics if outcome == "ok" else {}
    )


class ChecksTest(unittest.TestCase):
    """What is said of correctness checks."""

    def setUp(self) -> None:
        """Make a record of checks alone."""
        with TemporaryDirectory() as folder:
            base = record([], Path(folder), device=HOST)
        self.record = replace(base, cases=(), checks=(_check(), _check(name="logits")))

    def test_a_clean_run_says_what_was_compared(self) -> None:
        text = markdown.render(build([self.record]))
        self.assertIn("2 of 2 checks found nothing wrong.", text)
        self.assertIn("768 vectors", text)
        self.assertNotIn("cheaper to copy", text)

    def test_what_was_found_is_told(self) -> None:
        found = replace(
            self.record, checks=(_check(), _check("incorrect", "K of block 7 lies elsewhere"))
        )
        self.assertEqual(
            checks_answer.verdict(found), "1 of 2 checks found nothing wrong; 1 found wrong bytes."
        )
        self.assertIn("K of block 7 lies elsewhere", markdown.render(build([found])))


if __name__ == "__main__":
    unittest.main()
