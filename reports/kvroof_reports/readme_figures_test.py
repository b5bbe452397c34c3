# SPDX-License-Identifier: Apache-2.0
"""The README's table: what its rows say, and that the README has them."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kvroof_reports import claim, hybrid, tunnel
from kvroof_reports.load import load_record
from kvroof_reports.published import FOLDER
from kvroof_reports.readme_figures import main, table

ROOT = FOLDER.parent.parent
REFERENCE = ROOT / "results/reference"


def _rename(value: Any) -> None:
    for one in value["benchmarks"]:
        one["name"] = one["name"].replace("offload+load", "both")


class ReadmeFiguresTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name) / "reference"
        shutil.copytree(REFERENCE, self.folder)

    def change(self, name: str, change: Callable[[Any], None]) -> None:
        path = self.folder / name
        value = json.loads(path.read_text(encoding="utf-8"))
        change(value)
        path.write_text(json.dumps(value), encoding="utf-8")

    def row(self, words: str) -> list[str]:
        (line,) = [line for line in table(self.folder).splitlines() if words in line]
        return line.strip("| ").split(" | ")[1:]

    def said(self) -> str:
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(main([str(self.folder)]), 2)
        self.assertEqual(said.getvalue().count("\n"), 1)
        return said.getvalue()

    def test_the_readme_has_these_rows(self) -> None:
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        lines = text[text.index("| what | measured | asked |") :].partition("\n\n")[0].splitlines()
        self.assertEqual(lines[:-1], table(REFERENCE).splitlines())
        self.assertIn("scripts/crossover_grid.py", lines[-1])

    def test_what_is_asked_is_what_the_gates_ask(self) -> None:
        (low, high), allowed = claim.SPEEDUP_RANGES[102400], 100 * tunnel.ALLOWED[102400]
        self.assertEqual(self.row("speedup at 100K")[1], f"{low:g} to {high:g}")
        self.assertEqual(self.row("alone, 10K to 100K")[1], f"± {allowed:.0f} %")
        self.assertEqual(self.row("host at a link")[1], f"{hybrid.LEAST_GAIN:g}")

    def test_hybrid_counts_the_points_whose_gain_is_gated(self) -> None:
        points = hybrid.points_of(load_record(REFERENCE / "hybrid.json"))
        gains = [point.gain for point in points if point.gated]
        self.assertLess(len(gains), len(points))
        measured = self.row(f"5 GB/s, {len(gains)} contexts")[0]
        self.assertEqual(measured, f"{min(gains):.2f} at least")

        def lengthen(value: Any) -> None:  # what follows the load: near, but no longer gated
            copies = [c for c in value["cases"] if c["params"]["plan"] == "copy"]
            copies[-1]["metrics"].pop("last_token_share", None)
            copies[-1]["metrics"]["after_load_share"] = {"unit": "ratio", "median": 0.5}

        self.change("hybrid.json", lengthen)
        self.assertEqual(len(self.row(f"5 GB/s, {len(gains) - 1} contexts")), 2)

    def test_what_was_not_run_is_told(self) -> None:
        def drop(value: Any) -> None:
            cases = value["cases"]
            value["cases"] = [c for c in cases if c["params"]["context_tokens"] not in (1024, 4096)]

        for name in ("h100-sxm.json", "hybrid-host.json"):
            self.change(name, drop)
        self.assertEqual(self.row("speedup at 1K")[0], "not run")
        self.assertEqual(self.row("prefill alone, 1K")[0], "not run")
        self.assertEqual(self.row("host at a link")[0], "not run")

    def test_attention_is_in_f32_where_bf16_failed(self) -> None:
        def fail(value: Any) -> None:
            for one in value["benchmarks"]:
                one["error_occurred"] = "bf16" in one["name"]

        self.change("attention.json", fail)
        text = (REFERENCE / "attention.json").read_text(encoding="utf-8")
        shares = {b["name"]: b.get("of_best_gemm") for b in json.loads(text)["benchmarks"]}
        self.assertEqual(
            self.row("attention at 8K tokens, head size 128, over oneDNN's best rate (f32)")[0],
            f"{shares['attention/f32/tokens:8192/past:0/head_dim:128/real_time']:.2f}",
        )

    def test_look_ups_have_their_rows_where_they_were_measured(self) -> None:
        rates = {"lookup/lru": 20.46e6, "lookup+use/lru": 13.04e6, "lookup/arc": 1e6}
        rows = [{"name": name, "items_per_second": rate} for name, rate in rates.items()]
        path = self.folder / "tier.json"
        path.write_text(json.dumps({"context": {}, "benchmarks": rows}), encoding="utf-8")
        self.assertEqual(self.row("| look-ups a second"), ["20.5 million", "over 10 million"])
        self.assertEqual(self.row("each a use"), ["13.0 million", "over 10 million"])
        self.change("tier.json", lambda value: value["benchmarks"].pop(1))
        self.assertIn("tier.json: benchmark lookup+use/lru is missing", self.said())
        path.unlink()
        self.assertNotIn("look-ups", table(self.folder))

    def test_a_file_that_is_missing_or_wrong_is_one_sentence(self) -> None:
        self.change("engine.json", _rename)
        self.assertIn("engine.json: benchmark offload+load/block_first is missing", self.said())
        (self.folder / "engine.json").unlink()
        self.assertIn("engine.json: no such file; scripts/figures.sh writes it.", self.said())
        (self.folder / "host.json").unlink()
        self.assertIn("host.json: no such file", self.said())


if __name__ == "__main__":
    unittest.main()
