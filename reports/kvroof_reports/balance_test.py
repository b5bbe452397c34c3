# SPDX-License-Identifier: Apache-2.0
"""The CPU's balance beside the GPU's: what the records hold is said, and nothing else."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any

from kvroof_reports.balance import comparison
from kvroof_reports.series import Series, series_of
from kvroof_reports.testing import HOST, LLAMA_1B, alone, metric, pair, record


def series(cases: list[dict[str, Any]], **others: Any) -> Series:
    """Return the only series of a record with these cases."""
    with tempfile.TemporaryDirectory() as folder:
        (only,) = series_of(record(cases, Path(folder), **others))
    return only


class BalanceTest(unittest.TestCase):
    def compared(self, cpu: list[dict[str, Any]], gpu: list[dict[str, Any]]) -> str:
        return comparison(series(cpu, device=HOST, model=LLAMA_1B), series(gpu)) or ""

    def test_ratio_and_share_are_the_records_own(self) -> None:
        # Load takes 0.9 of 1 s, and 0.037 lie behind it: the rest is before it.
        cpu, gpu = alone(1024, 8.0, basis="measured"), alone(10240, 23.8)
        gpu[1]["metrics"]["load_time"] = metric("s", 0.9)
        gpu[1]["metrics"]["after_load_share"] = metric("ratio", 0.037)
        said = self.compared(cpu, gpu)
        self.assertIn(
            "Prefill alone takes 8.00x as long as the load alone on the CPU and 23.8x on the GPU: "
            "far more on the GPU.",
            said,
        )
        self.assertIn("20.0 % on the CPU and 3.7 % on the GPU lie after the load's end.", said)

    def test_ratios_that_are_near_are_called_so(self) -> None:
        said = self.compared(alone(1024, 9.0, basis="measured"), alone(10240, 10.0))
        self.assertIn("9.00x as long", said)
        self.assertIn("10.0x on the GPU: about as much on both.", said)

    def test_what_a_record_lacks_is_not_said(self) -> None:
        said = self.compared(alone(1024, 8.0, basis="measured"), pair(10240, 0.26, 0.04))
        self.assertIn("While its link moves one byte, the host CPU (measured, at 1,024", said)
        self.assertIn("The speedups, of whole TTFTs, are 6.67x and 6.50x.", said)
        self.assertNotIn("alone", said)
        self.assertNotIn("after the load", said)

    def test_without_a_rate_there_is_no_comparison(self) -> None:
        gpu = pair(10240, 0.26, 0.04)
        del gpu[1]["metrics"]["copy_bandwidth"]
        self.assertEqual(self.compared(pair(1024, 0.2, 0.1, basis="measured"), gpu), "")


if __name__ == "__main__":
    unittest.main()
