# SPDX-License-Identifier: Apache-2.0
"""The link rate at which both pure plans take as long, and what it is not found in."""

from __future__ import annotations

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from typing import Any

from kvroof_reports.equal_link import equal_link, main
from kvroof_reports.testing import document, pair, record, save, skipped


class EqualLinkTest(unittest.TestCase):
    def run_command(self, cases: list[dict[str, Any]]) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            path = save(document(cases), Path(folder))
            with contextlib.redirect_stderr(io.StringIO()) as said:
                return main([str(path)]), said.getvalue()

    def test_it_moves_what_was_loaded_in_the_time_of_the_prefill(self) -> None:
        # A window or a latent loads less than K and V of each token: the record's bytes count.
        cases = [*pair(1024, 0.5, 0.1), *pair(4096, 2.0, 1.0)]
        cases[3]["metrics"]["bytes_loaded"]["value"] = 5_000_000
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(equal_link(record(cases, Path(folder))), 5_000_000 / 2.0)

    def test_the_rate_is_the_text_of_an_option(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = save(document(pair(4096, 2.0, 1.0)), Path(folder))
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                self.assertEqual(main([str(path)]), 0)
        self.assertEqual(printed.getvalue(), "268.4MB/s\n")  # 4,096 tokens of 131,072 bytes in 2 s

    def test_a_run_without_both_plans_is_one_sentence(self) -> None:
        nothing_loaded = pair(64, 0.1, 0.1)
        nothing_loaded[1]["metrics"]["bytes_loaded"]["value"] = 0
        for cases in (
            [],
            pair(4096, 2.0, 1.0)[:1],
            [pair(4096, 2.0, 1.0)[1], skipped(4096, "recompute", "No room.")],
            nothing_loaded,
        ):
            status, said = self.run_command(cases)
            self.assertEqual(status, 2)
            self.assertIn("run.json: no context has an ok recompute case", said)
            self.assertIn("--plan recompute,copy", said)
            self.assertEqual(said.count("\n"), 1)

    def test_no_argument_is_one_sentence(self) -> None:
        for words in ([], ["one.json", "two.json"]):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(main(words), 2)
            self.assertIn("give one FILE", said.getvalue())
            self.assertEqual(said.getvalue().count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
