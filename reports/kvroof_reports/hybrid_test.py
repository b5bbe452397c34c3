# SPDX-License-Identifier: Apache-2.0
"""The gates of plan hybrid: each must be able to fail."""

from __future__ import annotations

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from typing import Any

from kvroof_reports.hybrid import main
from kvroof_reports.testing import document, metric, pair, save


def group(
    context: int, recompute: float, copy: float, hybrid: float, after: float | None = 0.01
) -> list[dict[str, Any]]:
    """Return three ok cases; ``after``: the share of copy's TTFT after the load's end."""
    cases = pair(context, recompute, copy)
    if after is not None:
        cases[1]["metrics"]["after_load_share"] = metric("ratio", after)
    third = {
        **cases[1],
        "params": {**cases[1]["params"], "plan": "hybrid"},
        "metrics": {"ttft": metric("s", hybrid)},
    }
    return [*cases, third]


class HybridTest(unittest.TestCase):
    def run_gates(self, cases: list[dict[str, Any]]) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            path = save(document(cases), Path(folder))
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                status = main([str(path)])
        return status, printed.getvalue()

    def test_a_gain_where_the_pure_plans_meet_holds(self) -> None:
        status, text = self.run_gates(group(4096, 1.0, 1.1, 0.6) + group(8192, 2.0, 9.0, 2.0))
        self.assertEqual(status, 0, text)
        self.assertIn("1 of 2 points", text)
        self.assertIn("3 of 3 gates hold.", text)
        self.assertIn("PASS  4096 tokens, llama-3.1-8b (bf16)  gain 1.67x: recompute 1,000", text)

    def test_too_little_gain_fails_where_they_meet(self) -> None:
        self.assertEqual(self.run_gates(group(4096, 1.0, 1.1, 0.9))[0], 1)

    def test_slower_than_a_pure_plan_fails_anywhere(self) -> None:
        near = group(4096, 1.0, 1.1, 0.6)
        self.assertEqual(self.run_gates(near + group(8192, 2.0, 9.0, 2.2))[0], 1)

    def test_no_point_where_they_meet_fails(self) -> None:
        status, text = self.run_gates(group(8192, 2.0, 9.0, 1.0))
        self.assertEqual(status, 1)
        self.assertRegex(text, "FAIL  near each other +0 of 1 points")

    def test_a_long_end_behind_the_load_is_not_gated(self) -> None:
        for after in (0.3, None):
            status, text = self.run_gates(group(4096, 1.0, 1.0, 0.9, after))
            self.assertEqual(status, 1)
            self.assertIn("expected 0.95x", text)
            self.assertNotIn("expected 1.25x", text)

    def test_a_group_without_all_plans_is_no_point(self) -> None:
        status, text = self.run_gates(group(4096, 1.0, 1.1, 0.6)[:2])
        self.assertEqual(status, 1)
        self.assertIn("0 of 0 points", text)

    def test_points_of_the_crossover_suite_are_told_apart(self) -> None:
        cases = group(4096, 1.0, 1.1, 0.6) + group(4096, 1.0, 1.1, 0.9)
        for i, case in enumerate(cases):
            case["suite"] = "crossover"
            case["params"] = {**case["params"], "batch": 1 if i < 3 else 4}
        status, text = self.run_gates(cases)
        self.assertEqual(status, 1)
        self.assertIn("FAIL  4096 tokens, llama-3.1-8b (bf16), batch 4", text)

    def test_what_is_no_record_is_told(self) -> None:
        broken = document(group(4096, 1.0, 1.1, 0.6))
        del broken["cases"][0]["metrics"]["ttft"]
        with tempfile.TemporaryDirectory() as folder:
            files = ["/nowhere/at/all.json", str(save(broken, Path(folder)))]
            for file, expected in zip(files, ("no such file", "cases[0].metrics.ttft")):
                with contextlib.redirect_stderr(io.StringIO()) as told:
                    self.assertEqual(main([file]), 2)
                self.assertIn(file, told.getvalue())
                self.assertIn(expected, told.getvalue())


if __name__ == "__main__":
    unittest.main()
