# SPDX-License-Identifier: Apache-2.0
"""The wind tunnel's gates: each must be able to fail."""

from __future__ import annotations

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from typing import Any

from kvroof_reports.testing import (
    H100,
    LLAMA_8B,
    TUNNEL,
    TUNNEL_512,
    alone,
    document,
    metric,
    save,
)
from kvroof_reports.tunnel import ALLOWED, main


def simulated(context: int) -> float:
    """Return a speedup that rises as a large model's does."""
    return 7 + context / 6000


def cases(scale: int, basis: str, factor: float = 1.0) -> list[dict[str, Any]]:
    """Return both plans at every gated context over `scale`, `factor` times as simulated."""
    found = []
    for context in ALLOWED:
        found += alone(context // scale, factor * simulated(context), basis=basis)
    return found


class TunnelTest(unittest.TestCase):
    def run_tunnel(
        self,
        tunnel: list[dict[str, Any]],
        machine: list[dict[str, Any]] | None = None,
        **others: Any,
    ) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            sim = document(machine or cases(1, "published"), model=LLAMA_8B)
            own = document(tunnel, **{"device": TUNNEL, "model": TUNNEL_512, **others})
            files = [
                str(save(value, Path(folder), name))
                for name, value in (("sim.json", sim), ("tunnel.json", own))
            ]
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                status = main(files)
        return status, printed.getvalue()

    def fails(self, tunnel: list[dict[str, Any]], *expected: str, **others: Any) -> None:
        status, text = self.run_tunnel(tunnel, **others)
        self.assertEqual(status, 1, text)
        failed = [line for line in text.splitlines() if line.startswith(("FAIL", "not run"))]
        for words in expected:
            self.assertTrue(any(words in line for line in failed), f"{words} not in {failed}")

    def test_a_tunnel_like_the_machine_passes(self) -> None:
        status, text = self.run_tunnel(cases(8, "emulated"))
        self.assertEqual(status, 0, text)
        self.assertIn("12 of 12 gates hold.", text)  # 11 contexts, and that it rises

    def test_the_table_has_both_contexts_speedups_and_shares(self) -> None:
        row = next(
            line
            for line in self.run_tunnel(cases(8, "emulated", 1.1))[1].splitlines()
            if line.split()[:1] == ["10K"]
        )
        self.assertEqual(
            " ".join(row.split()), "10K 1280 8.71x 9.58x 9.39x to 9.77x +10.0 % 20.0 % 20.0 %"
        )

    def test_fifteen_per_cent_and_twenty_five_at_the_shortest(self) -> None:
        self.assertEqual(self.run_tunnel(cases(8, "emulated", 1.14))[0], 0)
        self.assertEqual(self.run_tunnel(cases(8, "emulated", 0.86))[0], 0)
        status, text = self.run_tunnel(cases(8, "emulated", 0.80))
        self.assertEqual(status, 1)
        self.assertIn("PASS  tunnel at 1K", text)
        self.fails(cases(8, "emulated", 0.80), "tunnel at 10K", "tunnel at 100K")
        self.fails(cases(8, "emulated", 1.26), "tunnel at 1K ", "tunnel at 10K")

    def test_a_speedup_that_falls_with_context_fails(self) -> None:
        tunnel = cases(8, "emulated")
        tunnel[-1]["metrics"]["speedup_alone"] = metric("ratio", simulated(92160), 0.02)
        self.fails(tunnel, "not higher at 100K than before")

    def test_a_point_that_was_never_run_does_not_pass(self) -> None:
        self.fails(cases(8, "emulated")[:-2], "tunnel at 100K")
        text = self.run_tunnel(cases(8, "emulated")[:-2])[1]
        self.assertNotIn("FAIL", text)
        self.assertIn("11 of 11 gates that could be asked hold; 1 were not run.", text)
        self.fails(cases(8, "emulated"), "tunnel at 1K", machine=cases(1, "published")[2:])

    def test_runs_that_do_not_belong_together_fail(self) -> None:
        other = {**TUNNEL, "balance": {**TUNNEL["balance"], "machine": "mi300x (modelled)"}}
        self.fails(cases(8, "emulated"), "no run of host:balance=MACHINE", device=other)
        plain = {key: value for key, value in TUNNEL.items() if key != "balance"}
        self.fails(cases(8, "emulated"), "no run of host:balance=MACHINE", device=plain)
        self.fails(cases(8, "emulated"), "llama-3.1-8b on h100-sxm", device=H100)

    def test_bad_input_is_status_two(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(main(["/nonexistent.json", "/nonexistent.json"]), 2)
        self.assertIn("no such file", said.getvalue())
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(main(["one.json"]), 2)


if __name__ == "__main__":
    unittest.main()
