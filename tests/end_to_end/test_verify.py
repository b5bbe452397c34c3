# SPDX-License-Identifier: Apache-2.0
"""`kvroof verify` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from conftest import SOURCE


def test_a_simulated_device_is_verified_and_recorded(run, tmp_path: Path) -> None:
    done = run("verify", "--device", "sim:h100-sxm", "--out", "verify.json")
    assert done.returncode == 0, done.stderr
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    record = json.loads((tmp_path / "verify.json").read_text())
    checks = {case["params"]["check"] for case in record["cases"]}
    assert {"round_trip", "compatibility", "collisions", "logits"} <= checks
    # This profile names no disk, and so there are no files to spoil.
    without_files = [case for case in record["cases"] if case["params"]["check"] != "files"]
    assert {case["outcome"] for case in without_files} == {"ok"}
    check = SOURCE / "results" / "schema" / "check.py"
    subprocess.run([sys.executable, str(check), str(tmp_path / "verify.json")], check=True)
    reported = run("report", "verify.json", "--out", "report")
    assert reported.returncode == 0, reported.stderr
    assert "found nothing wrong" in (tmp_path / "report" / "report.md").read_text()


def test_chosen_checks_run_alone(run) -> None:
    done = run("verify", "--check", "store_race,load_race")
    assert done.returncode == 0, done.stderr
    assert "store_race" in done.stdout
    assert "round_trip" not in done.stdout


def test_bad_input_is_one_sentence(refused, tmp_path: Path) -> None:
    assert "nosuch" in refused(2, "verify", "--check", "nosuch")
    assert "frob" in refused(2, "verify", "--device", "frob:0")
    assert "cuda" in refused(3, "verify", "--device", "cuda:9")
    assert "seed" in refused(2, "verify", "--seed", "-1")
    assert "nomodel" in refused(2, "verify", "--model", "nomodel")
    assert "missing" in refused(2, "verify", "--out", "missing/v.json")
    assert not list(tmp_path.iterdir())
