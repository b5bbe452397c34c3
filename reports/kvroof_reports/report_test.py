# SPDX-License-Identifier: Apache-2.0
"""Whole reports, as a user gets them."""

from __future__ import annotations

import base64
import contextlib
import io
import re
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from kvroof_reports.__main__ import main
from kvroof_reports.testing import (
    HOST,
    LLAMA_1B,
    PARAMS,
    TUNNEL,
    TUNNEL_512,
    alone,
    crossover,
    document,
    pair,
    save,
    skipped,
)

GPU = [*pair(1024, 0.03, 0.015), *pair(10240, 0.26, 0.045), *pair(102400, 6.5, 0.31)]
CPU_PARAMS = {**PARAMS, "kv_dtype": "f32", "layers": 4}
CPU = [
    *pair(256, 0.1, 0.01, spread=0.02, basis="measured", params=CPU_PARAMS),
    *pair(1024, 0.5, 0.02, spread=0.02, basis="measured", params=CPU_PARAMS),
    skipped(4096, "copy", "The host tier has no room for <4096> tokens."),
]


class References(HTMLParser):
    """Collects what a page refers to, and its images."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [v or "" for k, v in attrs if k in ("src", "href", "srcset", "data")]
        if tag == "img":
            self.images.append(dict(attrs))


class Reporting(unittest.TestCase):
    """What both groups of tests do: write records, report on them, read the page."""

    folder: Path
    out: Path

    def file(self, name: str, cases: list[dict[str, Any]], **others: Any) -> str:
        return str(save(document(cases, **others), self.folder, name))

    def report(self, *files: str) -> tuple[int, str]:
        said, printed = io.StringIO(), io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(printed):
            status = main([*files, "--out", str(self.out)])
        return status, said.getvalue()

    def html(self) -> str:
        text = (self.out / "report.html").read_text(encoding="utf-8")
        return text.replace("\u00a0", " ")


class TwoRunsTest(Reporting):
    """One report on a modelled and a measured run, looked at from several sides."""

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = Path(scratch.name)
        cls.out = cls.folder / "out"
        both = cls()
        value = document(GPU)
        value["answers"] = [crossover(1.0, 1024.0, "below_smallest")]
        for case in value["cases"][-2:]:
            case["params"]["data"] = "off"
        gpu = str(save(value, cls.folder, "gpu.json"))
        cpu = both.file("cpu.json", CPU, device=HOST, model=LLAMA_1B)
        both.assertEqual(both.report(gpu, cpu), (0, ""))

    def test_html_needs_no_other_file(self) -> None:
        page = References()
        page.feed(self.html())
        self.assertTrue(page.images)
        self.assertTrue(all(a.startswith("data:image/svg+xml;base64,") for a in page.addresses))
        self.assertTrue(all(len(image["alt"] or "") > 40 for image in page.images))
        self.assertFalse(page.tags & {"script", "link", "iframe", "object"})
        self.assertNotRegex(self.html(), r"@import|url\(")
        for image in page.images:
            svg = base64.b64decode((image["src"] or "").split(",")[1]).decode("utf-8")
            self.assertNotRegex(svg, r'(?:href|src)="(?!#|data:)')

    def test_answers_come_before_figures_and_carry_their_basis(self) -> None:
        head = self.html().split("<section>")[0]
        self.assertIn("2.00x at 1,024 tokens, 21.0x at 102,400", head)
        self.assertIn("Modelled (basis: published); no interval.", head)
        self.assertIn("Measured; in brackets the 95 % interval (bootstrap).", head)

    def test_only_what_was_repeated_is_called_a_median(self) -> None:
        captions = re.findall(r"<caption><span>(M.*?)</span></caption>", self.html())
        self.assertEqual(
            [caption.split(":")[0] for caption in captions],
            ["Modelled", "Measured on a real clock"],
        )
        self.assertIn("the nominal run", captions[0])
        self.assertNotIn("median", captions[0])
        self.assertIn("medians", captions[1])

    def test_says_modelled_wherever_the_modelled_device_is_titled(self) -> None:
        titles = re.findall(r"<h2[^>]*>(.*?)</h2>", self.html())
        named = [t for t in titles if "h100-sxm" in t]
        self.assertTrue(named)
        self.assertTrue(all("modelled" in t for t in named), named)

    def test_published_points_stand_beside_with_their_source(self) -> None:
        self.assertIn("https://blog.vllm.ai/2026/01/08/kv-offloading-connector.html", self.html())
        # 6.5 s against a band that begins at 6848.5 ms.
        self.assertIn("<td>6,500.0</td><td>6,848.5 to 6,850.0</td><td>-5.1 %</td>", self.html())

    def test_the_balance_follows_from_the_records(self) -> None:
        # 1.4e10 FLOP a token in 0.5 s for 1,024 tokens; 131,072 bytes a token in 0.02 s.
        self.assertIn("(28.7 TFLOP/s over 6.71 GB/s)", self.html())
        self.assertIn("The speedups, of whole TTFTs, are 25.0x and 21.0x.", self.html())

    def test_gates_of_points_that_were_not_run_are_told_apart(self) -> None:
        # Of 10 recompute, 11 copy, 2 speedup gates and a derate: 2, 3, 2 and 1 were run.
        self.assertIn("8 of 8 gates of this comparison hold.", self.html())
        self.assertIn(
            "Gates on recompute allow -18 % to +5 % outside the published band", self.html()
        )
        self.assertIn("20 more belong to points that were never run.", self.html())

    def test_crossovers_and_unmoved_bytes_are_told(self) -> None:
        self.assertIn("at or below the smallest context tried", self.html())
        self.assertIn("<p>Data off at 102,400 tokens.</p>", self.html())
        self.assertEqual(self.html().count("priced but not moved"), 1)

    def test_reasons_are_shown_and_escaped(self) -> None:
        self.assertIn("The host tier has no room for &lt;4096&gt; tokens.", self.html())

    def test_markdown_refers_to_pictures_that_are_there(self) -> None:
        text = (self.out / "report.md").read_text(encoding="utf-8")
        pictures = re.findall(r"\]\(([^)]+\.png)\)", text)
        self.assertEqual(len(pictures), 5)
        for name in pictures:
            self.assertTrue((self.out / name).read_bytes().startswith(b"\x89PNG"))

    def test_the_same_records_give_the_same_page(self) -> None:
        first = self.html()
        self.report(str(self.folder / "gpu.json"), str(self.folder / "cpu.json"))
        self.assertEqual(self.html(), first)

    def test_nothing_temporary_is_left(self) -> None:
        self.assertEqual([path.name for path in self.out.iterdir() if path.name[0] == "."], [])


class WindTunnelTest(Reporting):
    def test_a_tunnel_beside_its_machine_has_its_own_section(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            self.folder = Path(scratch)
            self.out = self.folder / "out"
            machine = [*alone(1024, 8.0), *alone(10240, 9.6)]
            own = [*alone(128, 9.0, basis="emulated"), *alone(1280, 8.0, basis="emulated")]
            files = (
                self.file("sim.json", machine),
                self.file("tunnel.json", own, device=TUNNEL, model=TUNNEL_512),
            )
            self.assertEqual(self.report(*files), (0, ""))
            self.assertIn("The wind tunnel beside the machine that it imitates", self.html())
            self.assertIn("tunnel at 10K is 8.00x (-16.7 %), expected 9.60x ±15 %", self.html())
            self.assertIn("speedup by context is not higher at 10K than before", self.html())
            self.assertTrue(list(self.out.rglob("wind-tunnel.png")))


class OtherRunsTest(Reporting):
    """Reports without figures, and reports that can't be."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.out = self.folder / "out"

    def test_without_a_success_there_is_still_a_report(self) -> None:
        cases = [skipped(1024, plan, "No AVX-512.") for plan in ("recompute", "copy")]
        self.assertEqual(self.report(self.file("none.json", cases, device=HOST))[0], 0)
        self.assertIn("2 skipped: No AVX-512", self.html())
        self.assertNotIn("<img", self.html())

    def test_without_a_case_there_is_still_a_report(self) -> None:
        self.assertEqual(self.report(self.file("none.json", []))[0], 0)
        self.assertIn("No answer: the run holds no case.", self.html())

    def test_a_crossover_run_without_a_case_has_no_figure(self) -> None:
        value = document([])
        found = crossover(1, 16384, "found")
        value["answers"] = [found, {**found, "question": "crossover_closed_form"}]
        self.assertEqual(self.report(str(save(value, self.folder, "grid.json"))), (0, ""))
        self.assertIn("<td>16,384</td>", self.html())
        self.assertNotIn("<img", self.html())

    def test_reasons_that_differ_in_figures_only_stand_in_one_row(self) -> None:
        def missing(context: int, reason: str) -> dict[str, Any]:
            return {**skipped(context, "copy", reason), "suite": "crossover"}

        cases = [missing(n, f"needs {n}.5 GB") for n in (1, 2, 3, 4)] + [missing(9, "no AVX-512")]
        self.report(self.file("none.json", cases))
        self.assertIn("none of 5 cases succeeded; the first was skipped: needs 1.5 GB", self.html())
        self.assertIn("context_tokens 1 to 4, plan copy", self.html())
        self.assertIn("the first: needs 1.5 GB", self.html())
        self.assertNotIn("2.5 GB", self.html())

    def test_a_crossover_run_is_answered_setting_by_setting(self) -> None:
        value = document([{**case, "suite": "crossover"} for case in GPU])
        simulated = [crossover(1, 16384, "found"), crossover(2, None, "none_in_range")]
        value["answers"] = [
            *simulated,
            {**crossover(1, 65536, "found"), "question": "crossover_closed_form"},
        ]
        self.report(str(save(value, self.folder, "grid.json")))
        self.assertIn(
            "Copying is faster from 16,384 tokens up, in the only setting tried", self.html()
        )
        row = re.search(r"<td[^>]*>native</td>.*?</tr>", self.html(), re.S)
        self.assertEqual(
            re.findall(r">([^<]*)</td>", row[0])[4:] if row else [],
            ["16,384", "none that ran", "65,536"],
        )

    def test_settings_that_end_alike_are_answered_in_one_sentence(self) -> None:
        value = document([{**case, "suite": "crossover"} for case in GPU])
        for verdict, context, says in (
            ("none_in_range", None, "Copying is not faster, even at the longest that ran, in each"),
            ("below_smallest", 1024, "Copying is faster at every context that ran, in each"),
        ):
            value["answers"] = [crossover(1, context, verdict, live=live) for live in (0, 8)]
            self.report(str(save(value, self.folder, "grid.json")))
            self.assertIn(f"{says} of 2 settings of batch, live sequences, dtype", self.html())

    def test_crossovers_of_settings_that_differ_in_serving_cost_stand_apart(self) -> None:
        value = document([{**case, "suite": "crossover"} for case in GPU])
        found = [
            crossover(1, 1024 * (i + 1), "found", serving_cost=cost)
            for i, cost in enumerate(("none", "vllm"))
        ]
        closed = [{**one, "question": "crossover_closed_form"} for one in found]
        value["answers"] = found + closed
        self.report(str(save(value, self.folder, "grid.json")))
        rows = re.findall(r"<td[^>]*>native</td>.*?</tr>", self.html(), re.S)
        self.assertEqual(
            [re.findall(r">([^<]*)</td>", row)[4:] for row in rows],
            [["none", "1,024", "1,024"], ["vllm", "2,048", "2,048"]],
        )
        self.assertIn("2 settings of batch, live sequences, dtype, serving cost and", self.html())

    def test_runs_that_read_the_same_are_told_apart_by_their_files(self) -> None:
        self.report(self.file("one.json", GPU), self.file("two.json", GPU))
        titles = re.findall(r"<h2[^>]*>(.*?)</h2>", self.html())
        self.assertIn("one.json", titles[0])
        self.assertIn("two.json", titles[1])

    def test_an_interval_that_stayed_wide_has_a_mark_and_one_footnote(self) -> None:
        cases = pair(256, 2.0, 1.0, spread=0.3, basis="measured", params=CPU_PARAMS)
        for name in ("ttft", "mfu"):
            cases[0]["metrics"][name]["samples_enough"] = False
        self.report(self.file("cpu.json", cases, device=HOST, model=LLAMA_1B))
        self.assertIn("<small>1.40 to 2.60 s †</small>", self.html())
        self.assertEqual(self.html().count("† The interval stayed wider than"), 1)
        text = (self.out / "report.md").read_text(encoding="utf-8")
        self.assertIn("\n\n† The interval stayed wider", text)

    def test_a_long_report_has_a_table_of_contents(self) -> None:
        files = [self.file(f"{i}.json", pair(1024, 2.0, 1.0)) for i in range(4)]
        self.report(*files[:3])
        self.assertNotIn("<nav", self.html())
        self.report(*files)
        targets = re.findall(r'<a href="#([^"]*)">', self.html())
        headings = re.findall(r'<h2 id="([^"]*)">', self.html())
        self.assertEqual(targets, headings)
        self.assertEqual(len(set(headings)), len(headings))

    def test_one_bad_file_writes_nothing(self) -> None:
        bad = document(GPU)
        bad["schema_version"] = 9
        paths = self.file("gpu.json", GPU), str(save(bad, self.folder, "bad.json"))
        status, said = self.report(*paths)
        self.assertEqual(status, 2)
        self.assertIn("bad.json: 'schema_version' is 9", said)
        self.assertEqual(said.count("\n"), 1)
        self.assertFalse(self.out.exists())

    def test_a_folder_stands_for_the_records_in_it(self) -> None:
        records = self.folder / "records"
        (records / "deeper.json").mkdir(parents=True)
        self.assertEqual(self.report(str(records))[0], 2)
        for name in ("b.json", "a.json", ".hidden.json", "a.json.part", "notes.txt"):
            whole = document(pair(1024, 2.0, 1.0))
            save(whole if name in ("a.json", "b.json") else "no record", records, name)
        self.assertEqual(self.report(str(records)), (0, ""))
        titles = re.findall(r"<h2[^>]*>(.*?)</h2>", self.html())
        self.assertEqual(
            [title[-8:] for title in titles if "h100" in title], ["(a.json)", "(b.json)"]
        )

    def test_an_empty_path_is_not_the_current_folder(self) -> None:
        file = self.file("none.json", [])
        for words in ([file, "--out", ""], ["", "--out", str(self.out)]):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(main(words), 2)
            self.assertIn("is empty; give . for the current folder.", said.getvalue())
        self.assertFalse(self.out.exists())

    def test_an_output_that_cannot_be_written_is_one_sentence(self) -> None:
        self.out.write_text("a file", encoding="utf-8")
        status, said = self.report(self.file("none.json", []))
        self.assertEqual(status, 2)
        self.assertIn("the report can't be written", said)
        self.assertEqual(said.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
