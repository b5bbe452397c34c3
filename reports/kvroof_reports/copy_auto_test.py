# SPDX-License-Identifier: Apache-2.0
"""What a report says of cases that chose how to copy."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any

from kvroof_reports.document import Table
from kvroof_reports.load import load_record
from kvroof_reports.node import InputError
from kvroof_reports.rows import Record
from kvroof_reports.sections import copy_auto
from kvroof_reports.testing import document, pair, save

LOAD = {
    "direction": "load",
    "group": 0,
    "region_bytes": 4096,
    "regions": 64,
    "taken": "dma",
    "fastest": "staged",
    "worse_by": 0.25,
    "regions_timed": 64,
    "seconds": {"dma": [0.0005, 0.0005], "staged": [0.0004, 0.0004]},
}
OFFLOAD = {
    **{key: LOAD[key] for key in ("group", "region_bytes", "regions", "taken")},
    "direction": "offload",
    "unchecked": "there was no memory for it",
}


def auto(source: str, *choices: dict[str, Any]) -> dict[str, Any]:
    return {"source": source, "choices": [*choices], "unavailable": {}, "table": []}


class CopyAutoTest(unittest.TestCase):
    def record(self, copy_auto_of_copy: dict[str, Any] | None) -> Record:
        cases = [*pair(1024, 0.03, 0.015), *pair(2048, 0.06, 0.03)]
        for case in cases:
            if copy_auto_of_copy and case["params"]["plan"] == "copy":
                case["copy_auto"] = copy_auto_of_copy
        with tempfile.TemporaryDirectory() as folder:
            return load_record(save(document(cases), Path(folder), "run.json"))

    def rows(self, value: dict[str, Any]) -> list[list[str]]:
        (section,) = copy_auto.sections([self.record(value)])
        table = section.blocks[-1]
        assert isinstance(table, Table)
        return [[" ".join((cell.text, cell.note)).strip() for cell in row] for row in table.rows]

    def test_tells_each_choice_once_and_by_how_much_another_was_faster(self) -> None:
        self.assertEqual(
            self.rows(auto("calibration", LOAD, OFFLOAD)),
            [
                ["load", "4096", "64", "dma", "staged", "25.0 %", "published 2 passes each"],
                [
                    *["offload", "4096", "64", "dma", "not timed", "-"],
                    "published there was no memory for it",
                ],
            ],
        )

    def test_tells_that_a_simulated_device_goes_by_its_profile(self) -> None:
        self.assertEqual(self.rows(auto("profile", LOAD))[0][-1], "published by the profile")

    def test_runs_without_a_choice_have_no_such_section(self) -> None:
        self.assertEqual([*copy_auto.sections([self.record(None)])], [])

    def test_a_source_that_nobody_knows_is_refused(self) -> None:
        with self.assertRaisesRegex(InputError, "source"):
            self.record(auto("a guess", LOAD))


if __name__ == "__main__":
    unittest.main()
