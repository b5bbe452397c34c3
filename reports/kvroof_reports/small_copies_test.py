# SPDX-License-Identifier: Apache-2.0
"""A fixed cost and a rate are found again, and what follows neither is told."""

from __future__ import annotations

import json
import unittest
from pathlib import Path

from kvroof_reports.small_copies import Fit, errors, fit, fitted_sizes, table

_PROFILE = Path(__file__).parents[2] / "suites" / "catalog" / "devices" / "h100-sxm.json"


class SmallCopiesTest(unittest.TestCase):
    def test_a_fixed_cost_and_a_rate_are_found_again(self) -> None:
        true = Fit(3e-6, 50e9)
        found = fit([(size, true.rate_at(size)) for size in (16384, 524288, 1 << 24)])
        self.assertAlmostEqual(found.seconds * 1e6, 3)
        self.assertAlmostEqual(found.rate / 1e9, 50)

    def test_the_ends_and_the_geometric_middle_are_fitted(self) -> None:
        self.assertEqual(fitted_sizes([1 << n for n in range(14, 25)]), [1 << 14, 1 << 19, 1 << 24])

    def test_sizes_below_16_kib_are_left_out(self) -> None:
        true = Fit(3e-6, 50e9)
        points = [(8192, 1.0)] + [(1 << n, true.rate_at(1 << n)) for n in range(14, 25)]
        _, off = errors(points)
        self.assertNotIn(8192, off)
        self.assertLess(max(abs(error) for error in off.values()), 1e-9)

    def test_the_published_curves_are_within_the_limit(self) -> None:
        lines, within = table(json.loads(_PROFILE.read_text(encoding="utf-8")))
        self.assertTrue(within, lines[-1])
        self.assertEqual(sum(" %" in line and "KiB" in line for line in lines[:-1]), 4 * 11)

    def test_one_size_that_is_off_is_told(self) -> None:
        profile = json.loads(_PROFILE.read_text(encoding="utf-8"))
        profile["copy"]["kernel"]["out"]["points"][5][1] *= 0.8
        lines, within = table(profile)
        self.assertFalse(within)
        self.assertIn("NOT within 15 %", lines[-1])


if __name__ == "__main__":
    unittest.main()
