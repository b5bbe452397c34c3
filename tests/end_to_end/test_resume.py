# SPDX-License-Identifier: Apache-2.0
"""A run that is killed goes on where it was: no case is lost, doubled or changed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import KVROOF, SOURCE

sys.path.insert(0, str(SOURCE / "results/schema"))
check = pytest.importorskip("check")
SCHEMA = json.loads((SOURCE / "results/schema/v1.json").read_text())

# Two suites; groups that share a session, links that are opened anew, plans that are skipped.
GRID = [
    *("run", "ttft", "crossover", "--device", "sim:h100-sxm", "--model", "llama-3.1-8b"),
    *("--context", "128,10k,12k,20k", "--batch", "1,2", "--link", "native,pcie4x16"),
    *("--plan", "recompute,copy,hybrid", "--serving-cost", "vllm", "--draws", "50"),
    *("--out", "out.json"),
]
CASES = 2 * 4 * 2 * 2 * 3
SMALL = [
    *("run", "ttft", "--device", "sim:h100-sxm", "--model", "llama-3.1-8b"),
    *("--context", "1k,2k,3k", "--draws", "20", "--out", "out.json"),
]
KILLS = 50
MOST_TRIES = 400
SEED = 20260108


def figures(record: dict) -> dict:
    """Return what must not depend on interruptions: all but times, argv and the momentary load."""
    kept = {k: v for k, v in record.items() if k not in ("started", "finished", "argv")}
    kept["system"] = {k: v for k, v in record["system"].items() if k != "load_average_1min"}
    return kept


def uninterrupted(run, words: list[str], tmp_path: Path) -> dict:
    done = run(*words)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out.json").read_text())
    (tmp_path / "out.json").unlink()
    return record


def killed_after(seconds: float, folder: Path) -> bool:
    """Run the grid with --resume, kill it after `seconds`; False: it was done before that."""
    words = [str(KVROOF), *GRID, "--resume"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, cwd=folder, **quiet) as process:
        try:
            assert process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait() != 0
    return False


def whole_groups(part: Path) -> list[str]:
    """Return the lines of the part's whole groups, after holding the part to the schema."""
    text = part.read_text() if part.exists() else ""
    if not text.count("\n"):
        return []
    assert check.part_findings(text, SCHEMA) == []
    lines = text.split("\n")[1:-1]
    places = [json.loads(line)["part"] for line in lines]
    count = [place["group"] for place in places]
    return [
        line
        for line, place in zip(lines, places, strict=True)
        if count.count(place["group"]) == place["cases"]
    ]


def test_kills_at_any_time_change_nothing(run, tmp_path: Path, capsys) -> None:
    began = time.monotonic()
    expected = figures(uninterrupted(run, GRID, tmp_path))
    whole_run = time.monotonic() - began
    assert len(expected["cases"]) == CASES
    moments = random.Random(SEED)  # noqa: S311 - the same moments each time
    out, part = tmp_path / "out.json", tmp_path / "out.json.part"
    kills, mid_run, finished, kept = 0, 0, 0, []
    for _ in range(MOST_TRIES):
        if kills == KILLS:
            break
        killed = killed_after(moments.uniform(0, whole_run), tmp_path)
        kills += killed
        assert killed or not part.exists()
        if out.exists():  # also where the kill came behind its rename
            assert figures(json.loads(out.read_text())) == expected
        if out.exists() and not part.exists():
            finished += 1
            out.unlink()
            kept = []
            continue
        now = whole_groups(part)
        assert now[: len(kept)] == kept
        mid_run += 0 < len(now) < CASES
        kept = now
    assert kills == KILLS
    assert mid_run >= KILLS // 4, "kills that land before the first case test nothing"
    done = run(*GRID, "--resume")
    assert done.returncode == 0, done.stderr
    record = json.loads(out.read_text())
    assert figures(record) == expected
    assert check.findings(record, SCHEMA) == []
    assert [file.name for file in tmp_path.iterdir()] == ["out.json"]
    with capsys.disabled():
        print(
            f"\n{kills} kills, {mid_run} of them between the first and the last case, over runs of "
            f"{whole_run:.2f} s; {finished + 1} finished, {time.monotonic() - began:.0f} s in all"
        )


def killed_behind_line(words: list[str], folder: Path, lines: int) -> Path:
    """Run kvroof until its part has so many lines and kill it; return the part."""
    part = folder / "out.json.part"
    with subprocess.Popen([str(KVROOF), *words], cwd=folder, stderr=subprocess.DEVNULL) as process:
        while not part.exists() or part.read_text().count("\n") < lines:
            assert process.poll() is None
            time.sleep(0.001)
        process.kill()
    return part


def interrupted(run, tmp_path: Path, lines: int) -> Path:
    """Leave the part of a small run as if it had ended after so many lines; return it."""
    longer = [word.replace("3k", "3k,...,100k") for word in SMALL]
    part = killed_behind_line(longer, tmp_path, lines)
    header, *cases = part.read_text().split("\n")
    fixed = json.loads(header)
    fixed["part"]["grid"]["context_tokens"] = [1024, 2048, 3072]
    part.write_text("\n".join([json.dumps(fixed), *cases[: lines - 1], ""]))
    return part


def test_a_case_cut_off_from_its_group_is_run_again(run, tmp_path: Path) -> None:
    expected = figures(uninterrupted(run, SMALL, tmp_path))
    interrupted(run, tmp_path, 4)
    done = run(*SMALL, "--resume")
    assert done.returncode == 0, done.stderr
    assert "2 cases are kept, 1 of an incomplete group" in done.stderr
    assert "[2/4" in done.stderr
    assert figures(json.loads((tmp_path / "out.json").read_text())) == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--context", "1k,2k"], "--context is 1024,2048,3072 there, and 1024,2048 here"),
        (["--batch", "2"], "--batch is 1 there, and 2 here"),
        (["--plan", "copy"], "--plan is recompute,copy there, and copy here"),
        (["--serving-cost", "vllm"], "--serving-cost is none there, and vllm here"),
        (["--model", "qwen3-8b"], "model name is llama-3.1-8b there, and qwen3-8b here"),
        (["--layers", "4"], "model layers is 32 there, and 4 here"),
        (["--device", "sim:mi300x"], "--device is sim:h100-sxm there, and sim:mi300x here"),
        (["--device", "host"], "--device is sim:h100-sxm there, and host here"),
        (["--seed", "2"], "--seed is 1 there, and 2 here"),
        (["--draws", "21"], "--draws is 20 there, and 21 here"),
    ],
)
def test_another_run_is_refused(refused, run, tmp_path: Path, words: list[str], said: str) -> None:
    part = interrupted(run, tmp_path, 3)
    before = part.read_text()
    flags = dict(zip(SMALL[2::2], SMALL[3::2], strict=True)) | {words[0]: words[1]}
    sentence = refused(2, "run", "ttft", *[w for f in flags.items() for w in f], "--resume")
    assert said in sentence
    assert "out.json.part" in sentence
    assert part.read_text() == before


def test_another_geometry_is_refused(refused, run, tmp_path: Path) -> None:
    """The path of a config.json does not tell what stood in it."""
    keys = {
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "intermediate_size": 128,
        "vocab_size": 100,
        "max_position_embeddings": 2048,
    }
    config = tmp_path / "config.json"
    config.write_text(json.dumps(keys))
    words = ["run", "ttft", "--device", "sim:h100-sxm", "--model", "config.json"]
    words += ["--context", "1k", "--draws", "20", "--out", "out.json"]
    assert run(*words).returncode == 0
    assert "nothing is run" in run(*words, "--resume").stdout
    for changed, said in (
        ({"attention_bias": True}, "model biases/qkv is false there, and true here"),
        ({"rope_theta": 500000.0}, "model rope_theta is 10000.0 there, and 500000.0 here"),
    ):
        config.write_text(json.dumps(keys | changed))
        assert said in refused(2, *words, "--resume")


def test_other_builds_and_profiles_are_refused(refused, run, tmp_path: Path) -> None:
    part = interrupted(run, tmp_path, 3)
    header, *rest = part.read_text().split("\n")
    for path, said in (
        (("tool", "version"), "kvroof's version is other there"),
        (("tool", "commit"), "kvroof's commit is other there"),
        (("device", "profile", "name"), "device profile/name is other there"),
    ):
        changed = json.loads(header)
        node = changed
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = "other"
        part.write_text("\n".join([json.dumps(changed), *rest]))
        assert said in refused(2, *SMALL, "--resume")


def test_a_wind_tunnel_keeps_its_balance(run, tmp_path: Path) -> None:
    """Measured anew, the link's rate would be another one for the rest of the cases."""
    words = ["run", "ttft", "--device", "host:balance=h100-sxm", "--model", "tunnel-512"]
    words += ["--kv-dtype", "f32", "--context", "256,512,768", "--out", "out.json"]
    part = killed_behind_line(words, tmp_path, 3)
    balance = json.loads(part.read_text().split("\n")[0])["device"]["balance"]
    done = run(*words, "--resume")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["device"]["balance"] == balance
    assert [case["outcome"] for case in record["cases"]] == ["ok"] * 6
    assert "nothing is run" in run(*words, "--resume").stdout


def without_plan(case: dict) -> None:
    del case["params"]["plan"]


def too_few_draws(case: dict) -> None:
    case["part"]["draws"]["ttft"].pop()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["params"].update(context_tokens=77), "a case of context 77 where 1k is"),
        (lambda c: c["params"].update(plan="hybrid"), "no case of plan recompute, or several"),
        (without_plan, "no case of plan recompute, or several"),
        (too_few_draws, "19 draws of ttft where 20 are expected"),
        (lambda c: c["part"].update(group=0.9), "0.9 is no whole number"),
        (lambda c: c["metrics"].update(ttft=3), "line 2 is no case of a run"),
    ],
)
def test_cases_of_no_group_are_refused(refused, run, tmp_path: Path, change, said: str) -> None:
    part = interrupted(run, tmp_path, 5)
    header, first, *rest = part.read_text().split("\n")
    case = json.loads(first)
    change(case)
    part.write_text("\n".join([header, json.dumps(case), *rest]))
    before = part.read_text()
    sentence = refused(2, *SMALL, "--resume")
    assert said in sentence
    assert "out.json.part" in sentence
    assert "json.exception" not in sentence
    assert part.read_text() == before


def test_parts_that_are_none_are_refused(refused, tmp_path: Path) -> None:
    part = tmp_path / "out.json.part"
    part.write_text("precious\n")
    assert "first line is no header" in refused(2, *SMALL, "--resume")
    assert part.read_text() == "precious\n"


def test_nothing_to_resume_is_a_new_run(run, tmp_path: Path) -> None:
    done = run(*SMALL, "--resume")
    assert done.returncode == 0
    assert "nothing to resume in out.json.part: started anew" in done.stderr
    again = run(*SMALL, "--resume")
    assert again.returncode == 0
    assert "out.json is finished already, with 6 cases: nothing is run." in again.stdout


def test_a_finished_file_of_another_grid_is_kept(refused, run, tmp_path: Path) -> None:
    assert run(*SMALL).returncode == 0
    before = (tmp_path / "out.json").read_text()
    wider = [word.replace("1k,2k,3k", "1k,4k") for word in SMALL]
    assert "has no case of ttft/llama-3.1-8b/context:4096/" in refused(2, *wider, "--resume")
    assert "--seed is 1 there" in refused(2, *SMALL, "--seed", "2", "--resume")
    (tmp_path / "out.json").write_text("precious")
    assert "out.json: is not JSON" in refused(2, *SMALL, "--resume")
    (tmp_path / "out.json").write_text(json.dumps(json.loads(before) | {"cases": [3]}))
    sentence = refused(2, *SMALL, "--resume")
    assert "cannot resume out.json: " in sentence
    assert "json.exception" not in sentence
    (tmp_path / "out.json").write_text(before.replace('"cases"', '"caskets"'))
    sentence = refused(2, *SMALL, "--resume")
    assert "cannot resume out.json: is not a whole kvroof record" in sentence
    (tmp_path / "out.json").write_text(before)
    assert run(*SMALL, "--resume").returncode == 0


def test_a_filter_chooses_what_still_runs(run, tmp_path: Path) -> None:
    """What the part holds stays, and Google Benchmark hears of what it selects of that too."""
    interrupted(run, tmp_path, 3)
    gb = ["--", "--benchmark_out=gb.json", "--benchmark_filter=context:(1024|3072)/"]
    done = run(*SMALL, "--resume", *gb)
    assert done.returncode == 0, done.stderr
    contexts = [
        c["params"]["context_tokens"]
        for c in json.loads((tmp_path / "out.json").read_text())["cases"]
    ]
    assert contexts == [1024, 1024, 3072, 3072]
    benchmarks = json.loads((tmp_path / "gb.json").read_text())["benchmarks"]
    assert [b["name"].split("/")[2] for b in benchmarks] == ["context:1024", "context:3072"]
    assert all(b["speedup"] > 1 for b in benchmarks)
    (tmp_path / "out.json").unlink()
    interrupted(run, tmp_path, 5)
    done = run(*SMALL, "--resume", "--", "--benchmark_filter=context:1024/")
    assert done.returncode == 0, done.stderr
    assert len(json.loads((tmp_path / "out.json").read_text())["cases"]) == 4
