# SPDX-License-Identifier: Apache-2.0
"""--plan-only says beforehand what a run then does, and touches nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

MODEL = ["run", "ttft", "--device", "sim:h100-sxm", "--model"]
GRID = ["--context", "128,1000,20k,200k", "--batch", "1,2", "--copy", "dma,batch", "--draws", "20"]
SKIPPED_HALF = ["--plan", "recompute,copy,hybrid"]


@pytest.mark.parametrize("model", ["llama-3.1-8b", "gemma-3-27b", "deepseek-v3"])
def test_the_plan_is_what_the_run_does(run, tmp_path: Path, model: str) -> None:
    words = [*MODEL, model, *GRID, *SKIPPED_HALF]
    planned = run(*words, "--plan-only", "--json")
    assert planned.returncode == 0, planned.stderr
    assert not list(tmp_path.iterdir())
    plan = json.loads(planned.stdout)
    assert run(*words, "--out", "out.json").returncode == 0
    cases = json.loads((tmp_path / "out.json").read_text())["cases"]
    expected = [(group["params"], case) for group in plan["groups"] for case in group["cases"]]
    assert len(expected) == len(cases) == 48
    for (params, said), did in zip(expected, cases, strict=True):
        assert params.items() <= did["params"].items()
        assert said["plan"] == did["params"]["plan"]
        assert (said["skipped"] or "") == did["reason"]
        if said["plan"] == "hybrid" or did["outcome"] != "ok":
            assert "bytes" not in said
        elif said["plan"] == "copy":
            assert said["bytes"] == did["metrics"]["bytes_loaded"]["value"]
            assert 0 < said["least_seconds"] <= did["metrics"]["ttft"]["median"]
        else:
            assert said["flops"] == pytest.approx(did["metrics"]["flops"]["value"])
            assert 0 < said["least_seconds"] <= did["metrics"]["ttft"]["median"]


@pytest.mark.parametrize(
    "words",
    [
        [*MODEL, "llama-3.1-8b", *GRID, *SKIPPED_HALF],
        [*MODEL, "llama-3.1-8b", "--context", "1k,2k,...,100k"],
        [*MODEL, "llama-3.1-8b", "--context", "200k"],
        ["run", "ttft", "--device", "host", "--model", "llama-3.2-1b", "--kv-dtype", "f32"],
    ],
)
def test_text_fits_a_terminal_and_nothing_is_written(run, tmp_path: Path, words) -> None:
    done = run(*words, "--plan-only")
    assert done.returncode == 0, done.stderr
    assert "no case is run" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert not list(tmp_path.iterdir())


def test_a_filter_is_heeded(run) -> None:
    words = [*MODEL, "llama-3.1-8b", "--context", "1k,10k", "--plan-only", "--json"]
    plan = json.loads(run(*words, "--", "--benchmark_filter=context:1024/").stdout)
    assert [group["params"]["context_tokens"] for group in plan["groups"]] == [1024]
    assert plan["passes"] == 2 * 201


def test_measured_roofs_are_told_from_stated_ones(run) -> None:
    host = ["run", "ttft", "--device", "host", "--model", "llama-3.2-1b", "--kv-dtype", "f32"]
    done = run(*host, "--layers", "1", "--context", "256", "--plan-only")
    assert "measured now" in done.stdout
    assert "stated peaks" in run(*MODEL, "llama-3.1-8b", "--plan-only").stdout


def test_where_nothing_would_run_there_is_no_time(run) -> None:
    said = run(*MODEL, "llama-3.1-8b", "--context", "200k", "--plan-only").stdout
    assert "No case would run." in said
    assert "Wall time" not in said


def test_flags_that_do_not_go_together(refused) -> None:
    words = [*MODEL, "llama-3.1-8b", "--out", "out.json"]
    assert "--plan-only" in refused(2, *words, "--plan-only", "--resume")
    assert "--json" in refused(2, *words, "--json")


def test_weights_that_are_quantised_elsewhere_are_told(run) -> None:
    words = [*MODEL, "deepseek-v3", "--tp", "8", "--context", "1k", "--draws", "0"]
    for more in (["--plan-only"], ["--out", "out.json"]):
        said = " ".join(run(*words, *more).stdout.split())
        assert "Weights and activations are bf16 here" in said
        assert "the config's quantization_config (fp8) is not applied." in said
    assert "quantization_config" not in run(*MODEL, "llama-3.1-8b", "--plan-only").stdout
