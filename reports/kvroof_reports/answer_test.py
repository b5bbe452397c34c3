# SPDX-License-Identifier: Apache-2.0
"""What the first lines of a report say, for each kind of answer."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any

from kvroof_reports.answer import Answer, answer
from kvroof_reports.series import series_of
from kvroof_reports.testing import (
    H100,
    HOST,
    LLAMA_1B,
    PARAMS,
    metric,
    pair,
    record,
    skipped,
)


class AnswerTest(unittest.TestCase):
    def answers(self, cases: list[dict[str, Any]], **others: Any) -> list[Answer]:
        with tempfile.TemporaryDirectory() as folder:
            return [answer(s) for s in series_of(record(cases, Path(folder), **others))]

    def only(self, cases: list[dict[str, Any]], **others: Any) -> Answer:
        (found,) = self.answers(cases, **others)
        return found

    def test_copy_always_wins(self) -> None:
        found = self.only([*pair(1024, 0.04, 0.02), *pair(102400, 6.18, 0.3)])
        self.assertEqual(
            found.question,
            "Is it cheaper to copy KV of llama-3.1-8b (bf16) from host memory or to recompute it "
            "on h100-sxm (modelled, basis: published)?",
        )
        self.assertEqual(
            found.answer,
            "Copying wins at every context tried, from 1,024 tokens up: 2.00x at 1,024 tokens, "
            "20.6x at 102,400.",
        )
        self.assertTrue(found.basis.startswith("Modelled (basis: published); no interval."))
        self.assertIn("At 102,400 tokens recompute reaches 45.0 % of the compute peak", found.basis)

    def test_copy_never_wins(self) -> None:
        found = self.only([*pair(256, 0.5, 1.0), *pair(4096, 1.0, 3.0)])
        self.assertEqual(
            found.answer,
            "Recomputing wins at every context tried, 256 to 4,096 tokens; it is faster by 2.00x "
            "at 256 tokens, 3.00x at 4,096.",
        )

    def test_crossover_inside_the_range(self) -> None:
        found = self.only([*pair(256, 0.5, 1.0), *pair(1024, 2.0, 1.0), *pair(4096, 8.0, 1.0)])
        self.assertEqual(
            found.answer,
            "Copying wins from 1,024 tokens up: 2.00x at 1,024 tokens, 8.00x at 4,096. Below that, "
            "recomputing wins at 256 tokens (0.500x).",
        )

    def test_a_win_that_does_not_last_is_no_crossover(self) -> None:
        found = self.only([*pair(256, 2.0, 1.0), *pair(1024, 0.5, 1.0)])
        self.assertTrue(found.answer.startswith("No crossover in range:"), found.answer)
        self.assertIn("recomputing wins at 1,024 tokens (0.500x)", found.answer)
        self.assertIn("copying wins at 256 tokens (2.00x)", found.answer)

    def test_an_interval_around_one_is_no_win(self) -> None:
        cases = [*pair(256, 1.01, 1.0, spread=0.05, basis="measured")]
        cases += pair(1024, 2.0, 1.0, spread=0.05, basis="measured")
        found = self.only(cases, device=HOST)
        self.assertTrue(found.answer.startswith("Copying wins from 1,024 tokens up"), found.answer)
        self.assertIn(
            "neither wins for certain at 256 tokens (1.01x; 0.959x to 1.06x)", found.answer
        )
        self.assertIn("95 % interval (bootstrap)", found.basis)

    def test_single_context(self) -> None:
        found = self.only(pair(4096, 3.0, 1.0))
        self.assertEqual(
            found.answer, "At 4,096 tokens, the only context tried, copying wins by 3.00x."
        )
        found = self.only([*pair(4096, 3.0, 1.0), skipped(8192, "copy", "No room.")])
        self.assertIn("the only context with both results", found.answer)
        self.assertIn("1 of 3 cases have no result", found.basis)

    def test_a_gap_is_not_called_tried(self) -> None:
        cases = [*pair(256, 2.0, 1.0), *pair(512, 3.0, 1.0), skipped(1024, "copy", "No room.")]
        self.assertIn("Copying wins at every context with both results", self.only(cases).answer)

    def test_only_skipped_cases(self) -> None:
        cases = [skipped(c, p, "No bf16 here.") for c in (1, 2) for p in ("recompute", "copy")]
        found = self.only(cases, device=HOST)
        self.assertIn("No answer: no context has both", found.answer)
        self.assertIn("4 skipped: No bf16 here.", found.answer)

    def test_a_failed_arm_leaves_no_answer(self) -> None:
        cases = [pair(4096, 3.0, 1.0)[0], skipped(4096, "copy", "Device lost.", "failed")]
        found = self.only(cases)
        self.assertIn("only recompute succeeded; 1 failed: Device lost.", found.answer)

    def test_f32_host_run_of_some_layers(self) -> None:
        params = {**PARAMS, "kv_dtype": "f32", "layers": 4}
        cases = pair(1024, 1.0, 0.1, spread=0.02, basis="measured", params=params)
        for case in cases:
            scaled = metric("s", case["metrics"]["ttft"]["median"] * 4, 0.02)
            case["metrics"]["ttft_scaled"] = {**scaled, "basis": "calibrated"}
        found = self.only(cases, device=HOST, model=LLAMA_1B)
        self.assertIn("KV of llama-3.2-1b (4 of 16 layers, f32)", found.question)
        self.assertIn("the host CPU, AMD EPYC 7B13 (measured)", found.question)
        self.assertIn("10.0x (9.80x to 10.2x)", found.answer)
        self.assertIn("Scaled to all layers (modelled, basis: calibrated)", found.basis)
        self.assertIn(
            "recompute 4.00 s (3.92 to 4.08 s) and copy 400 ms (392 to 408 ms)", found.basis
        )

    def test_every_parameter_set_has_its_answer(self) -> None:
        cases = [*pair(1024, 2.0, 1.0), *pair(1024, 4.0, 1.0, params={**PARAMS, "batch": 8})]
        found = self.answers(cases)
        self.assertEqual(len(found), 2)
        self.assertIn("With batch 8.", found[1].question)

    def test_the_serving_cost_of_a_modelled_run_is_told(self) -> None:
        cases = pair(1024, 2.0, 1.0, params={**PARAMS, "serving_cost": "vllm"})
        self.assertIn("Serving cost: vllm.", self.only(cases).basis)
        measured = pair(1024, 2.0, 1.0, spread=0.02, basis="measured")
        self.assertNotIn("Serving cost", self.only(measured, device=HOST).basis)

    def test_an_interval_that_stayed_wide_is_told(self) -> None:
        cases = [*pair(256, 2.0, 1.0, spread=0.3, basis="measured")]
        cases += pair(1024, 2.0, 1.0, spread=0.02, basis="measured")
        cases[0]["metrics"]["ttft"]["samples_enough"] = False
        found = self.only(cases, device=HOST)
        self.assertIn(
            "At 256 tokens an interval stayed wider than the sampler's target, 5 %", found.basis
        )

    def test_what_hybrid_gains_is_told(self) -> None:
        cases = [*self.with_hybrid(1024, 3.0, 2.0, 2.0), *self.with_hybrid(2048, 4.0, 5.0, 2.0)]
        cases[-1]["metrics"]["speedup"] = metric("ratio", 2.0, 0.1)
        self.assertTrue(
            self.only(cases).answer.endswith(
                "Plan hybrid is faster than the better pure plan by 2.00x (1.80x to 2.20x) at "
                "2,048 tokens, where it gains most."
            ),
            self.only(cases).answer,
        )
        cases[-1]["metrics"]["gain_over_pure"] = metric("ratio", 1.02, 0.1)
        self.assertIn(
            "Plan hybrid is nowhere faster for certain than the better pure plan: 1.02x (0.918x to "
            "1.12x) at 2,048 tokens.",
            self.only(cases).answer,
        )
        self.assertNotIn("hybrid", self.only(pair(1024, 3.0, 2.0)).answer)
        alone = [cases[-1], pair(2048, 4.0, 5.0)[0]]
        self.assertNotIn("better pure", self.only(alone).answer)

    def with_hybrid(
        self, context: int, recompute: float, load: float, both: float
    ) -> list[dict[str, Any]]:
        cases = pair(context, recompute, load)
        params = {**cases[1]["params"], "plan": "hybrid"}
        return [*cases, {**cases[1], "params": params, "metrics": {"ttft": metric("s", both)}}]

    def test_a_profile_of_ones_own_is_named(self) -> None:
        device = {**H100, "spec": "sim:/tmp/mine.json"}
        self.assertIn(
            "on h100-sxm, mine.json (", self.only(pair(1, 2.0, 1.0), device=device).question
        )

    def test_the_weakest_basis_is_the_basis(self) -> None:
        cases = [*pair(1024, 2.0, 1.0), *pair(2048, 2.0, 1.0, basis="datasheet")]
        self.assertIn("basis: datasheet", self.only(cases, device=H100).question)


if __name__ == "__main__":
    unittest.main()
