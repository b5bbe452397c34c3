# SPDX-License-Identifier: Apache-2.0
"""Hold schema and check.py to a record of the real writer: check_test.py SAMPLE_RECORD_BINARY."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import check

SAMPLE_RECORD = Path("sample_record")  # the binary that writes one; main() sets it


def written_record() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.json"
        subprocess.run([SAMPLE_RECORD, file], check=True)
        return json.loads(file.read_text(encoding="utf-8"))


def written_part() -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.json"
        subprocess.run([SAMPLE_RECORD, file, "part"], check=True)
        return file.with_name("run.json.part").read_text(encoding="utf-8")


class CheckTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.schema = json.loads(check.SCHEMA.read_text(encoding="utf-8"))
        cls.record = written_record()

    def found(self, *path: Any, value: Any) -> list[str]:
        """Return the findings once the place at `path` of the good record holds `value`."""
        record = copy.deepcopy(self.record)
        node = record
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value
        return check.findings(record, self.schema)

    def test_the_schema_is_one(self) -> None:
        import jsonschema

        jsonschema.Draft7Validator.check_schema(self.schema)

    def test_what_the_writer_writes_is_good(self) -> None:
        self.assertEqual(check.findings(self.record, self.schema), [])
        outcomes = {case["outcome"] for case in self.record["cases"]}
        self.assertEqual(outcomes, {"ok", "skipped", "failed", "incorrect"})
        verdicts = {answer["verdict"] for answer in self.record["answers"]}
        self.assertEqual(len(verdicts), 4)

    def test_every_key_of_the_top_is_needed_and_no_other_allowed(self) -> None:
        for key in self.record:
            record = {name: value for name, value in self.record.items() if name != key}
            self.assertTrue(check.findings(record, self.schema), key)
        for place in ((), ("tool",), ("system",), ("device",), ("model",), ("cases", 0)):
            self.assertTrue(self.found(*place, "surprise", value=1), place)

    def test_intervals_have_a_width_and_lie_around_their_figure(self) -> None:
        ttft = ("cases", 0, "metrics", "ttft")
        median = self.record["cases"][0]["metrics"]["ttft"]["median"]
        self.assertIn("wider than zero", self.found(*ttft, "ci95", value=[median, median])[0])
        self.assertIn("wider than zero", self.found(*ttft, "ci95", value=[2, 1])[0])
        self.assertIn("lie around", self.found(*ttft, "ci95", value=[median + 1, median + 2])[0])
        self.assertTrue(self.found(*ttft, "ci95", value=[1]))
        answer = self.record["answers"][0]["context_tokens"]
        self.assertIn("wider", self.found("answers", 0, "ci95", value=[answer, answer])[0])
        self.assertIn("around", self.found("answers", 0, "ci95", value=[answer + 1, answer + 2])[0])

    def test_metrics_are_measured_modelled_or_exact(self) -> None:
        ttft = ("cases", 0, "metrics", "ttft")
        self.assertTrue(self.found(*ttft, "unit", value="ms"))
        self.assertTrue(self.found(*ttft, "value", value=3))
        self.assertTrue(self.found(*ttft, "samples", value=[]))
        self.assertTrue(self.found(*ttft, value={"unit": "s", "samples_enough": True, "median": 1}))
        self.assertEqual(self.found(*ttft, value={"unit": "s", "median": 1}), [])
        exact = {"unit": "bytes", "value": 7}
        self.assertEqual(self.found(*ttft, value=exact), [])
        self.assertTrue(self.found(*ttft, value={**exact, "ci95": [6, 8]}))
        self.assertTrue(self.found(*ttft, value={**exact, "value": 7.5}))

    def test_lists_of_words_are_closed(self) -> None:
        self.assertTrue(self.found("cases", 0, "params", "colour", value="red"))
        self.assertTrue(self.found("cases", 0, "params", "plan", value="teleport"))
        self.assertTrue(self.found("cases", 0, "outcome", value="maybe"))
        self.assertTrue(self.found("cases", 0, "basis", value="guessed"))
        self.assertTrue(self.found("answers", 0, "verdict", value="perhaps"))

    def test_reasons_stand_exactly_where_a_case_is_not_ok(self) -> None:
        self.assertTrue(self.found("cases", 0, "reason", value="why not"))
        skipped = [case["outcome"] for case in self.record["cases"]].index("skipped")
        self.assertTrue(self.found("cases", skipped, "reason", value=""))

    def test_another_version_is_refused(self) -> None:
        self.assertTrue(self.found("schema_version", value=2))

    def test_parts_are_checked_line_by_line(self) -> None:
        part = written_part()
        self.assertTrue(check.is_part(part))
        self.assertFalse(check.is_part(json.dumps(self.record)))
        self.assertEqual(check.part_findings(part, self.schema), [])
        self.assertEqual(check.part_findings(part + '{"torn', self.schema), [])
        for good, bad in (
            ('"complete":false', '"complete":true'),
            ('"group":0', '"group":-1'),
            ('"draws":200', '"draws":null'),
            ('"outcome":"ok"', '"outcome":"maybe"'),
        ):
            self.assertIn(good, part)
            self.assertTrue(check.part_findings(part.replace(good, bad), self.schema), bad)

    def test_main_tells_good_bad_and_unreadable_apart(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            good, bad, broken = (Path(folder) / name for name in ("good", "bad", "broken"))
            good.write_text(json.dumps(self.record), encoding="utf-8")
            bad.write_text(json.dumps({**self.record, "seed": -1}), encoding="utf-8")
            broken.write_text('{"seed": NaN}', encoding="utf-8")
            script = check.SCHEMA.with_name("check.py")
            codes = [
                subprocess.run([sys.executable, script, file], capture_output=True).returncode
                for file in (good, bad, broken)
            ]
        self.assertEqual(codes, [0, 1, 2])


if __name__ == "__main__":
    try:
        import jsonschema  # noqa: F401
    except ImportError:
        print("SKIP: this Python has no jsonschema; install python3-jsonschema")
        sys.exit(0)
    SAMPLE_RECORD = Path(sys.argv.pop(1))
    unittest.main()
