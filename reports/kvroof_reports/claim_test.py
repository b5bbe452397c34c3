# SPDX-License-Identifier: Apache-2.0
"""The gates of the published claim: each must be able to fail."""

from __future__ import annotations

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from typing import Any

from kvroof_reports.claim import main, outside
from kvroof_reports.published import load_published
from kvroof_reports.testing import H100, HOST, PARAMS, document, pair, save

(CLAIM,) = load_published()


def as_published(spread: float = 0.15, **scale: float) -> list[dict[str, Any]]:
    """Return the cases that equal the middle of each band, times `recompute` and `copy`."""
    cases = []
    for point in CLAIM.points:
        recompute, copy = sum(point.recompute) / 2, sum(point.copy) / 2
        cases += pair(
            point.context,
            recompute * scale.get("recompute", 1),
            copy * scale.get("copy", 1),
            spread=spread,
        )
    return cases


class ClaimTest(unittest.TestCase):
    def run_claim(self, cases: list[dict[str, Any]], **others: Any) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            path = save(document(cases, **others), Path(folder))
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                status = main([str(path)])
        return status, printed.getvalue()

    def fails(self, cases: list[dict[str, Any]], *expected: str, **others: Any) -> None:
        status, text = self.run_claim(cases, **others)
        self.assertEqual(status, 1, text)
        failed = [line for line in text.splitlines() if line.startswith(("FAIL", "not run"))]
        for words in expected:
            self.assertTrue(any(words in line for line in failed), f"{words} not in {failed}")

    def test_distance_outside_a_band(self) -> None:
        self.assertEqual(outside(5.0, (4.0, 6.0)), 0.0)
        self.assertAlmostEqual(outside(6.6, (4.0, 6.0)), 0.1)
        self.assertAlmostEqual(outside(3.0, (4.0, 6.0)), -0.25)

    def test_the_published_points_pass_their_own_gates(self) -> None:
        status, text = self.run_claim(as_published())
        self.assertEqual(status, 0, text)
        # 10 recompute points, 11 copy points, 2 speedups, 4 of intervals, 1 derate.
        self.assertIn("28 of 28 gates hold.", text)
        self.assertIn(CLAIM.source_url, text)

    def test_recompute_may_be_fast_but_not_slow(self) -> None:
        self.assertEqual(self.run_claim(as_published(recompute=0.90))[0], 0)
        self.fails(as_published(recompute=0.80), "recompute at 10K", "recompute at 100K")
        self.fails(as_published(recompute=1.07), "recompute at 10K", "recompute at 100K")

    def test_copy_has_to_be_near(self) -> None:
        self.fails(as_published(copy=1.20), "copy at 20K", "copy at 100K", "speedup at 100K")
        self.fails(as_published(copy=0.80), "copy at 20K", "copy at 100K", "speedup at 100K")

    def test_short_contexts_have_ten_milliseconds(self) -> None:
        cases = as_published()
        for case in cases:
            if case["params"]["plan"] == "copy" and case["params"]["context_tokens"] == 10240:
                case["metrics"]["ttft"]["median"] = 0.0554
        self.fails(cases, "copy at 10K")

    def test_a_point_that_was_never_run_does_not_pass(self) -> None:
        self.fails(as_published()[:-2], "recompute at 100K", "copy at 100K", "speedup at 100K")

    def test_intervals_have_to_hold_the_band_and_to_be_narrow(self) -> None:
        self.fails(as_published(spread=0.25), "recompute half-widths", "copy half-widths")
        self.fails(as_published(spread=0.001), "recompute intervals", "copy intervals")
        self.fails(as_published(spread=0), "recompute intervals", "copy half-widths")

    def test_a_derate_other_than_one_fails(self) -> None:
        derates = {"gemm": {"value": 1.1, "low": 1, "high": 1.2, "source": "x"}}
        device = {**H100, "profile": {"derates": derates}}
        self.fails(as_published(), "derates.gemm", device=device)
        self.fails(as_published(), "derates of the profile", device={**H100, "profile": {}})

    def test_another_run_is_not_compared(self) -> None:
        self.fails(as_published(), "no ttft case of a published setting", device=HOST)
        other = [*pair(10240, 0.26, 0.04, params={**PARAMS, "link": "pcie4x16"})]
        self.fails(other, "no ttft case of a published setting")

    def test_a_device_with_an_option_is_not_compared(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            value = document(as_published())
            value["argv"] = ["kvroof", "run", "ttft", "--device=sim:h100-sxm,link=pcie4x16"]
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                self.assertEqual(main([str(save(value, Path(folder)))]), 1)
        self.assertIn("no ttft case of a published setting", printed.getvalue())

    def test_bad_input_is_status_two(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(main(["/nonexistent.json"]), 2)
        self.assertIn("no such file", said.getvalue())


if __name__ == "__main__":
    unittest.main()
