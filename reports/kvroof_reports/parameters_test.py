# SPDX-License-Identifier: Apache-2.0
"""Runs that differ in any parameter are told apart wherever they are named."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any

from kvroof_reports import parameters, style
from kvroof_reports.figures import speedup_by_context, ttft_by_context
from kvroof_reports.load import load_record, load_records
from kvroof_reports.report import build
from kvroof_reports.rows import Record
from kvroof_reports.series import series_of
from kvroof_reports.testing import H100, LLAMA_8B, PARAMS, crossover, document, pair, save

# Parameters, and what must be said of them.
CHANGES = (
    ({}, ""),
    ({"live": 8}, "live 8"),
    ({"batch": 4}, "batch 4"),
    ({"layout": "layer_first"}, "layout layer_first"),
    ({"link": "5GB/s"}, "link 5GB/s"),
    ({"serving_cost": "vllm"}, "serving cost vllm"),
    ({"block_tokens": 32}, "block tokens 32"),
    ({"blocks_per_chunk": 2}, "blocks per chunk 2"),
    ({"layers": 8}, "8 of 32 layers"),
    ({"kv_dtype": "fp8"}, "fp8"),
)


class ParametersTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def record(self, name: str, params: dict[str, Any], **others: Any) -> Record:
        """Return a run with its usual parameters, but for some."""
        cases = pair(1024, 0.04, 0.02, params={**PARAMS, "serving_cost": "none", **params})
        return load_record(save(document(cases, **others), self.folder, name))

    def test_defaults_are_not_said(self) -> None:
        self.assertEqual(parameters.words({**parameters.DEFAULTS, "context_tokens": 1024}), "")
        self.assertEqual(parameters.words({"live": 8, "batch": 4}), "batch 4, live 8")
        self.assertEqual(parameters.words({"batch": 1, "live": 0}, ["batch"]), "batch 1")
        self.assertEqual(parameters.words({"of_later": "x"}), "of later x")

    def test_a_parameter_that_is_not_at_its_default_is_said_everywhere(self) -> None:
        style.use()
        records = [self.record(f"{i}.json", changed) for i, (changed, _) in enumerate(CHANGES)]
        ranks = "h100-sxm (modelled), one of 8"
        records.append(
            self.record(
                "tp.json", {}, device={**H100, "name": ranks}, model={**LLAMA_8B, "ranks": 8}
            )
        )
        words = [*(said for _, said in CHANGES), "one of 8 tensor-parallel ranks"]
        report = build(records)
        series = [one for record in records for one in series_of(record)]
        ttft = [picture for picture in report.pictures if picture.name.startswith("ttft")]
        places = {
            "question": [answer.question for answer in report.answers],
            "heading": [section.title for section in report.sections[: len(records)]],
            "alt": [picture.alt for picture in ttft],
            "ttft": [_title(ttft_by_context.draw(one)) for one in series],
            "speedup": [_title(speedup_by_context.draw(one)) for one in series],
        }
        for place, texts in places.items():
            self.assertEqual(len(set(texts)), len(records), place)
            for text, said in zip(texts, words, strict=True):
                self.assertIn(said, " ".join(text.split()), place)

    def test_a_crossover_run_says_what_all_its_settings_share(self) -> None:
        whole = document(pair(1024, 0.04, 0.02, params={**PARAMS, "layout": "layer_first"}))
        whole["answers"] = [crossover(1, 1024, "found")]
        whole["answers"] += [{**crossover(1, 1024, "found"), "question": "crossover_closed_form"}]
        for case in whole["cases"]:
            case["suite"] = "crossover"
        report = build([load_record(save(whole, self.folder, "grid.json"))])
        self.assertIn("With layout layer_first.", report.answers[0].question)
        self.assertIn("layout layer_first", report.sections[0].title)
        self.assertIn("layout layer_first", report.pictures[0].alt)

    def test_files_of_one_name_are_told_apart_by_their_folders(self) -> None:
        paths = []
        for name in ("a", "b"):
            (self.folder / name).mkdir()
            paths.append(save(document(pair(1024, 2.0, 1.0)), self.folder / name))
        report = build(load_records(paths))
        for i, path in enumerate(paths):
            self.assertIn(f"({path})", report.sections[i].title)
            self.assertTrue(report.answers[i].basis.endswith(f"Record: {path}."))
            self.assertIn(str(path), report.pictures[2 * i].alt)


def _title(figure: Any) -> str:
    return figure.axes[0].get_title(loc="left")


if __name__ == "__main__":
    unittest.main()
