# SPDX-License-Identifier: Apache-2.0
"""The loader against good and hostile files."""

from __future__ import annotations

import json
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kvroof_reports.load import load_record, load_records
from kvroof_reports.node import InputError
from kvroof_reports.published import FOLDER
from kvroof_reports.rows import AFTER_LOAD
from kvroof_reports.testing import HOST, LLAMA_1B, crossover, document, pair, save, skipped

Change = Callable[[dict[str, Any]], None]


def put(*path: Any, value: Any) -> Change:
    """Return a change that sets the value at a path."""

    def change(root: dict[str, Any]) -> None:
        node: Any = root
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value

    return change


def drop(*path: Any) -> Change:
    """Return a change that removes the key at a path."""

    def change(root: dict[str, Any]) -> None:
        node: Any = root
        for step in path[:-1]:
            node = node[step]
        del node[path[-1]]

    return change


TTFT = ("cases", 0, "metrics", "ttft")

# A change to a good record, and what the one sentence about it must contain.
HOSTILE: list[tuple[Change, str]] = [
    (put("schema_version", value=2), "'schema_version' is 2"),
    (put("schema_version", value="1"), "'schema_version' must be a whole number"),
    (put("schema_version", value=True), "'schema_version' must be a whole number"),
    (drop("schema_version"), "'schema_version' is missing"),
    (drop("cases"), "'cases' is missing"),
    (put("cases", value={}), "'cases' must be a list"),
    (put("cases", 0, value=7), "'cases[0]' must be an object"),
    (put("complete", value="yes"), "'complete' must be true or false"),
    (put("argv", 0, value=3), "'argv[0]' must be a string"),
    (drop("device", "name"), "'device.name' is missing"),
    (put("device", value=None), "'device' must be an object"),
    (put("device", "basis", value="guessed"), "'device.basis' must be one of measured"),
    (put("model", "name", value=8), "'model.name' must be a string"),
    (put("cases", 0, "outcome", value="maybe"), "'cases[0].outcome' must be one of ok"),
    (put("cases", 0, "basis", value=""), "'cases[0].basis' must be one of"),
    (put("cases", 0, "params", "batch", value=[1]), "'cases[0].params.batch' must be a string"),
    (drop("cases", 0, "params", "plan"), "'cases[0].params.plan' is missing"),
    (put("cases", 0, "params", "context_tokens", value=0), "'cases[0].params.context_tokens'"),
    (put("cases", 0, "params", "context_tokens", value=1.5), "'cases[0].params.context_tokens'"),
    (put("cases", 0, "params", "context_tokens", value="1k"), "'cases[0].params.context_tokens'"),
    (
        put("cases", 0, value={**skipped("1k", "copy", "No."), "suite": "other"}),
        "'cases[0].params.context_tokens' must be a whole number, but is '1k'",
    ),
    (put("answers", value=[crossover(1, None, "found")]), "'answers[0].context_tokens' must be"),
    (drop(*TTFT), "'cases[0].metrics.ttft' is missing"),
    (drop(*TTFT, "unit"), "'cases[0].metrics.ttft.unit' is missing"),
    (put(*TTFT, "median", value="fast"), "'cases[0].metrics.ttft.median' must be a number"),
    (put(*TTFT, "median", value=-1), "'cases[0].metrics.ttft.median' must be a number above zero"),
    (put(*TTFT, "median", value=10**400), "'cases[0].metrics.ttft.median' must be a finite number"),
    (put(*TTFT, "ci95", value=[1]), "'cases[0].metrics.ttft.ci95' must be [low, high]"),
    (put(*TTFT, "ci95", value=[2, 1]), "'cases[0].metrics.ttft.ci95' must be [low, high]"),
    (put(*TTFT, "ci95", value=[1, 1]), "'cases[0].metrics.ttft.ci95' must be [low, high]"),
    (put(*TTFT, "samples", value=["a"]), "'cases[0].metrics.ttft.samples[0]' must be a number"),
    (put("cases", 1, "metrics", "speedup", "median", value=0), "'cases[1].metrics.speedup.median'"),
    (put("cases", 2, "reason", value=""), "'cases[2].reason' must be a sentence"),
    (drop("cases", 2, "reason"), "'cases[2].reason' is missing"),
    (put("answers", 0, "verdict", value="maybe"), "'answers[0].verdict' must be one of found"),
    (drop("answers", 0, "params", "margin"), "'answers[0].params.margin' is missing"),
]

NOT_JSON = [
    ("", "expected a JSON result file"),
    ("{", "expected a JSON result file"),
    ("[" * 100_000, "nested too deeply"),
    ('{"schema_version": NaN}', "NaN is not a JSON number"),
    ("[]", "'top level' must be an object"),
    ("null", "'top level' must be an object"),
]


class LoaderTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def complaint(self, path: Path) -> str:
        """Return what the loader says, which must be one line that names the file."""
        with self.assertRaises(InputError) as caught:
            load_record(path)
        text = str(caught.exception)
        self.assertIn(path.name, text)
        self.assertNotIn("\n", text)
        self.assertTrue(text.endswith("."), text)
        return text

    def good(self) -> dict[str, Any]:
        value = document([*pair(1024, 2.0, 1.0), skipped(2048, "copy", "No room.")])
        value["answers"] = [crossover(1.1, 1024.0, "below_smallest")]
        return value

    def test_reads_a_good_record(self) -> None:
        record = load_record(save(self.good(), self.folder))
        self.assertEqual(record.device_name, "h100-sxm")
        self.assertEqual([c.outcome for c in record.cases], ["ok", "ok", "skipped"])
        ttft = record.cases[0].metrics["ttft"]
        self.assertEqual((ttft.value, ttft.unit, ttft.ci95, ttft.exact), (2.0, "s", None, False))
        self.assertEqual(record.crossovers[0].context, 1024.0)
        flops = record.cases[0].metrics["flops"]
        self.assertEqual((flops.value, flops.exact), (1.4e10 * 1024, True))

    def test_older_records_hold_the_share_after_the_load_by_another_name(self) -> None:
        for name in ("last_token_share", "after_load_share"):
            value = document(pair(1024, 2.0, 1.0))
            value["cases"][1]["metrics"][name] = {"unit": "ratio", "median": 0.2}
            with tempfile.TemporaryDirectory() as folder:
                found = load_record(save(value, Path(folder)))
            self.assertEqual(found.cases[1].value(AFTER_LOAD), 0.2, name)

    def test_records_of_these_tests_fit_the_schema(self) -> None:
        try:
            from jsonschema import Draft7Validator
        except ImportError:
            self.skipTest("needs python3-jsonschema")
        path = FOLDER.parent / "schema" / "v1.json"
        if not path.exists():
            self.skipTest(f"needs {path}")
        schema = json.loads(path.read_text(encoding="utf-8"))
        measured = pair(1024, 2.0, 1.0, spread=0.02, basis="measured")
        for value in (self.good(), document(measured, device=HOST, model=LLAMA_1B)):
            errors = [e.message for e in Draft7Validator(schema).iter_errors(value)]
            self.assertEqual(errors, [])

    def test_names_file_and_key_of_what_is_wrong(self) -> None:
        for change, expected in HOSTILE:
            with self.subTest(expected):
                value = self.good()
                change(value)
                self.assertIn(expected, self.complaint(save(value, self.folder)))

    def test_refuses_what_is_not_a_json_record(self) -> None:
        for text, expected in NOT_JSON:
            with self.subTest(text[:20]):
                path = self.folder / "bad.json"
                path.write_text(text, encoding="utf-8")
                self.assertIn(expected, self.complaint(path))

    def test_refuses_bytes_that_are_not_text(self) -> None:
        path = self.folder / "bad.json"
        path.write_bytes(b"\xff\xfe\x00{")
        self.assertIn("expected a JSON result file", self.complaint(path))

    def test_tells_an_unfinished_run(self) -> None:
        part = self.folder / "run.json.part"
        part.write_text(json.dumps(self.good()), encoding="utf-8")
        self.assertIn("unfinished", self.complaint(part))
        kept = part.rename(self.folder / "run.json.part.1")
        self.assertIn("unfinished", self.complaint(kept))
        kept.rename(part)
        self.assertIn("that run is unfinished", self.complaint(self.folder / "run.json"))

    def test_tells_what_cannot_be_read(self) -> None:
        self.assertIn("no such file", self.complaint(self.folder / "none.json"))
        self.assertIn("can't be read", self.complaint(self.folder))

    def test_a_folder_stands_for_its_records(self) -> None:
        told: list[str] = []
        save({"context": {}, "benchmarks": []}, self.folder, "engine.json")
        with self.assertRaisesRegex(InputError, "has no record"):
            load_records([self.folder], told.append)
        save(self.good(), self.folder, "b.json")
        save(self.good(), self.folder, "a.json")
        found = load_records([self.folder], told.append)
        self.assertEqual([record.file for record in found], ["a.json", "b.json"])
        expected = f"{self.folder}: engine.json left out: output of a benchmark program."
        self.assertEqual(told, [expected])

    def test_what_is_no_record_in_a_folder_is_told(self) -> None:
        save({"cases": []}, self.folder, "odd.json")
        with self.assertRaisesRegex(InputError, "odd.json: key 'schema_version' is missing"):
            load_records([self.folder])


if __name__ == "__main__":
    unittest.main()
