# SPDX-License-Identifier: Apache-2.0
"""The gates of plan hybrid: each must be able to fail."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from kvroof_reports.equal_link import equal_link
from kvroof_reports.hybrid import main


def group(context: int, recompute: float, copy: float, hybrid: float, last: float = 0.01) -> list:
    """Return three ok cases; ``last``: the last token's share of copy."""
    cases = []
    for plan, seconds in (("recompute", recompute), ("copy", copy), ("hybrid", hybrid)):
        metrics: dict[str, Any] = {"ttft": {"unit": "s", "median": seconds}}
        if plan == "copy":
            metrics["last_token_share"] = {"unit": "ratio", "median": last}
        params = {"context_tokens": context, "batch": 1, "link": "native", "plan": plan}
        cases.append({"params": params, "outcome": "ok", "metrics": metrics})
    return cases


class HybridTest(unittest.TestCase):
    def run_gates(self, cases: list[dict[str, Any]]) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "record.json"
            path.write_text(json.dumps({"cases": cases}), encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                status = main([str(path)])
        return status, printed.getvalue()

    def test_a_gain_where_the_pure_plans_meet_holds(self) -> None:
        status, text = self.run_gates(group(4096, 1.0, 1.1, 0.6) + group(8192, 2.0, 9.0, 2.0))
        self.assertEqual(status, 0, text)
        self.assertIn("2 of 2 points hold, 1 of them near", text)

    def test_too_little_gain_fails_where_they_meet(self) -> None:
        self.assertEqual(self.run_gates(group(4096, 1.0, 1.1, 0.9))[0], 1)

    def test_slower_than_a_pure_plan_fails_anywhere(self) -> None:
        near = group(4096, 1.0, 1.1, 0.6)
        self.assertEqual(self.run_gates(near + group(8192, 2.0, 9.0, 2.2))[0], 1)

    def test_no_point_where_they_meet_fails(self) -> None:
        status, text = self.run_gates(group(8192, 2.0, 9.0, 1.0))
        self.assertEqual(status, 1)
        self.assertIn("at no point", text)

    def test_a_long_last_token_is_not_gated(self) -> None:
        status, text = self.run_gates(group(4096, 1.0, 1.0, 0.9, last=0.3))
        self.assertEqual(status, 1)
        self.assertIn("expected 0.95", text)

    def test_a_group_without_all_plans_is_no_point(self) -> None:
        self.assertEqual(self.run_gates(group(4096, 1.0, 1.1, 0.6)[:2])[0], 1)

    def test_what_is_no_record_is_told(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as told:
            self.assertEqual(main(["/nowhere/at/all.json"]), 2)
        self.assertIn("/nowhere/at/all.json", told.getvalue())

    def test_the_equal_link_moves_a_context_in_the_time_of_its_prefill(self) -> None:
        (case, *_) = group(4096, 2.0, 1.0, 1.0)
        case["params"]["kv_dtype"] = "bf16"
        model = {"layers": 2, "kv_heads": 4, "head_dim": 8}
        rate = equal_link({"cases": [case], "model": model})
        self.assertEqual(rate, 4096 * 2 * 2 * 4 * 8 * 2 / 2.0)


if __name__ == "__main__":
    unittest.main()
