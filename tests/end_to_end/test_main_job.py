# SPDX-License-Identifier: Apache-2.0
"""The main job: a modelled H100 against the published points, a real CPU, what users do next."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path

import pytest
from conftest import SOURCE

HEADLINE = [
    *("run", "ttft", "--device", "sim:h100-sxm", "--model", "llama-3.1-8b"),
    *("--serving-cost", "vllm", "--context", "1k,10k,20k,...,100k"),
    *("--plan", "recompute,copy", "--out", "h100.json"),
]
HOST = [
    *("run", "ttft", "--device", "host", "--model", "llama-3.2-1b", "--layers", "1"),
    *("--kv-dtype", "f32", "--context", "256,300", "--out", "host.json"),
]


def load(path: Path) -> dict:
    """Read a record and hold it to the schema, where the machine has a validator."""
    record = json.loads(path.read_text())
    schema = json.loads((SOURCE / "results/schema/v1.json").read_text())
    importlib.import_module("jsonschema").validate(record, schema)
    return record


def metrics(record: dict, plan: str) -> dict[int, dict]:
    """Metrics of a plan's cases by context; every case must be ok."""
    assert [c["reason"] for c in record["cases"] if c["outcome"] != "ok"] == []
    return {
        c["params"]["context_tokens"]: c["metrics"]
        for c in record["cases"]
        if c["params"]["plan"] == plan
    }


@pytest.fixture
def headline(run, tmp_path: Path) -> dict:
    done = run(*HEADLINE)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("*.part*"))
    return load(tmp_path / "h100.json")


def test_headline_against_the_published_points(headline, tmp_path: Path) -> None:
    sys.path.insert(0, str(SOURCE / "reports"))
    claim = importlib.import_module("kvroof_reports.claim")
    assert claim.main([str(tmp_path / "h100.json")]) == 0


def test_headline_is_modelled_and_moves_what_it_says(headline) -> None:
    assert {c["basis"] for c in headline["cases"]} == {"published"}
    copies = metrics(headline, "copy")
    for context, figures in copies.items():
        assert figures["bytes_loaded"]["value"] == context // 256 * 256 * 131072
        low, high = figures["ttft"]["ci95"]
        assert low < figures["ttft"]["median"] < high
        assert "ci95" not in figures["bytes_loaded"]
        assert figures["link_share"]["median"] < 1
    # Bytes moved and were compared where both sides of the case fit in 1 GiB.
    by_data = {c["params"]["context_tokens"]: c["params"]["data"] for c in headline["cases"]}
    assert by_data[1024] == "on"
    assert by_data[102400] == "off"
    assert copies[1024]["regions_verified"]["value"] == 64
    assert copies[102400]["regions_verified"]["value"] == 0


def test_host_measures_and_verifies(run, tmp_path: Path) -> None:
    done = run(*HOST)
    assert done.returncode == 0, done.stderr
    record = load(tmp_path / "host.json")
    for figures in metrics(record, "copy").values():
        assert len(figures["ttft"]["samples"]) >= 5
        low, high = figures["ttft"]["ci95"]
        assert low < high
        assert figures["logit_difference"]["median"] < 1e-5
    assert metrics(record, "copy")[300]["tokens_recomputed"]["value"] == 300 - 256
    assert metrics(record, "recompute")[300]["ttft_scaled"]["basis"] == "calibrated"


def test_values_of_later_versions_are_skipped(run, tmp_path: Path) -> None:
    base = [word for word in HEADLINE if word != "1k,10k,20k,...,100k"]
    base.remove("--context")
    extra = ["--context", "1k", "--kv-dtype", "bf16,int8", "--live", "0,8", "--plan", "copy,hybrid"]
    for flag in ("--plan", "recompute,copy"):
        base.remove(flag)
    done = run(*base, *extra)
    assert done.returncode == 0, done.stderr
    cases = load(tmp_path / "h100.json")["cases"]
    assert len(cases) == 8
    skipped = [c for c in cases if c["outcome"] == "skipped"]
    assert len(skipped) == 4
    assert all(c["reason"] for c in skipped)


def test_benchmark_flags(run, tmp_path: Path) -> None:
    without_out = HEADLINE[: HEADLINE.index("--out")]
    listed = run(*without_out, "--", "--benchmark_list_tests")
    names = listed.stdout.splitlines()
    assert listed.returncode == 0
    assert len(names) == 11
    assert all(name.startswith("ttft/llama-3.1-8b/context:") for name in names)
    assert not (tmp_path / "h100.json").exists()
    done = run(*HEADLINE, "--", "--benchmark_filter=context:10240/", "--benchmark_out=gb.json")
    assert done.returncode == 0, done.stderr
    assert len(load(tmp_path / "h100.json")["cases"]) == 2
    benchmarks = json.loads((tmp_path / "gb.json").read_text())["benchmarks"]
    assert [b["name"].split("/")[2] for b in benchmarks] == ["context:10240"]
    assert benchmarks[0]["speedup"] > 1
    nothing = run(*HEADLINE, "--", "--benchmark_filter=nothing")
    assert nothing.returncode == 2


def test_google_benchmark_output(run, tmp_path: Path) -> None:
    """What its users read: context, names, times, counters, and why something is not there."""
    words = [*SIM, "--context", "128,1k,200k", "--plan", "recompute,copy,hybrid", "--draws", "20"]
    done = run(*words, "--", "--benchmark_out=gb.json", "--benchmark_format=json")
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "gb.json").read_text())
    assert json.loads(done.stdout)["benchmarks"] == written["benchmarks"]
    record = load(tmp_path / "o.json")
    context = written["context"]
    assert context["kvroof"] == f"{record['tool']['version']} {record['tool']['commit']}"
    assert context["device"] == "sim:h100-sxm"
    assert context["device_name"] == record["device"]["name"]
    assert context["model"] == "llama-3.1-8b"
    assert context["basis"] == "published"
    short, whole, long = written["benchmarks"]
    ttft = {p: metrics_of(record, p, 1024)["ttft"]["median"] for p in ("recompute", "copy")}
    assert whole["recompute_s"] == pytest.approx(ttft["recompute"])
    assert whole["speedup"] == pytest.approx(ttft["recompute"] / ttft["copy"])
    assert whole["copy_bytes"] == 1024 * 131072
    total = whole["recompute_s"] + whole["copy_s"] + whole["hybrid_s"]
    assert whole["real_time"] == pytest.approx(total * 1e3)
    assert whole["time_unit"] == "ms"
    assert whole["label"] == "published"
    assert short["recompute_s"] > 0
    assert "copy skipped: the context is shorter" in short["label"]
    assert long["error_message"].startswith("skipped: 204800 tokens")
    csv = run(*words, "--", "--benchmark_format=csv")
    assert csv.returncode == 0, csv.stderr
    assert len({line.count('"ttft/') for line in csv.stdout.splitlines()[1:]}) == 1
    assert len(csv.stdout.splitlines()) == 4


def metrics_of(record: dict, plan: str, context: int) -> dict:
    return next(
        c["metrics"]
        for c in record["cases"]
        if c["params"]["plan"] == plan and c["params"]["context_tokens"] == context
    )


def test_same_seed_same_model_figures(run, tmp_path: Path) -> None:
    records = []
    for _ in range(2):
        assert run(*HEADLINE).returncode == 0
        records.append(json.loads((tmp_path / "h100.json").read_text())["cases"])
    assert records[0] == records[1]


def test_batch_and_layouts_on_the_simulator(run, tmp_path: Path) -> None:
    words = [
        "run",
        "ttft",
        "--device",
        "sim:h100-sxm",
        "--model",
        "llama-3.1-8b",
        "--out",
        "o.json",
    ]
    done = run(*words, "--context", "1000", "--batch", "1,4", "--layout", "block_first,layer_first")
    assert done.returncode == 0, done.stderr
    record = load(tmp_path / "o.json")
    assert len(record["cases"]) == 8
    assert all(c["outcome"] == "ok" for c in record["cases"]), record["cases"]


SIM = ["run", "ttft", "--device", "sim:h100-sxm", "--model", "llama-3.1-8b", "--out", "o.json"]


@pytest.mark.parametrize(
    ("model", "layers", "context"),
    [
        ("llama-3.1-8b", "16", "1k"),
        ("llama-3.1-8b", "4", "10k"),
        ("gemma-3-27b", "6", "10k"),  # five layers with a window, one without: 10 of 62 have none
    ],
)
@pytest.mark.parametrize("layout", ["layer_first", "block_first"])
def test_fewer_layers_scale_to_the_whole_model(
    run, tmp_path: Path, model: str, layers: str, context: str, layout: str
) -> None:
    """What does not grow with layers, a serving cost too, must not be multiplied by them."""
    words = ["run", "ttft", "--device", "sim:h100-sxm", "--model", model, "--out", "o.json"]
    words += ["--context", context, "--layout", layout, "--serving-cost", "vllm", "--draws", "20"]
    assert run(*words).returncode == 0
    whole = load(tmp_path / "o.json")
    done = run(*words, "--layers", layers, "--plan", "recompute,copy,hybrid")
    assert done.returncode == 0
    cut = load(tmp_path / "o.json")
    tokens = 1024 * int(context.removesuffix("k"))
    for plan in ("recompute", "copy", "hybrid"):
        figures = metrics(cut, plan)[tokens]
        if plan == "hybrid" or (plan == "copy" and layout == "block_first"):
            assert "ttft_scaled" not in figures  # its regions are smaller than the whole model's
            continue
        scaled = figures["ttft_scaled"]
        assert scaled["median"] == pytest.approx(
            metrics(whole, plan)[tokens]["ttft"]["median"], rel=0.05
        )
        assert scaled["basis"] == "published"


def test_a_context_below_one_chunk_copies_nothing(run, tmp_path: Path) -> None:
    assert run(*SIM, "--context", "128,512").returncode == 0
    record = load(tmp_path / "o.json")
    outcome = {
        (c["params"]["context_tokens"], c["params"]["plan"]): c["outcome"] for c in record["cases"]
    }
    assert outcome[128, "copy"] == "skipped"
    assert outcome[128, "recompute"] == outcome[512, "copy"] == "ok"
    assert {a["context_tokens"] for a in record["answers"]} <= {512, None}


def test_requests_of_a_batch_end_one_after_the_other(run, tmp_path: Path) -> None:
    assert run(*SIM, "--context", "20k", "--batch", "4").returncode == 0
    for plan in ("recompute", "copy"):
        figures = metrics(load(tmp_path / "o.json"), plan)[20480]
        share = figures["ttft_median_request"]["median"] / figures["ttft"]["median"]
        assert 0.45 < share < 0.6  # the second of four


def test_text_fits_a_terminal(run) -> None:
    many = ["--batch", "1,2", "--layout", "block_first,layer_first", "--blocks-per-chunk", "8,16"]
    sim = ["run", "ttft", "--device", "sim:h100-sxm", "--model", "llama-3.1-8b", "--out", "o.json"]
    helps = [[command, "--help"] for command in ("devices", "models", "run", "report")]
    for words in (HEADLINE, [*sim, *many], ["devices"], ["models"], *helps):
        done = run(*words)
        assert done.returncode == 0, done.stderr
        assert max(len(line) for line in done.stdout.splitlines()) <= 80, words


def test_every_help_has_an_example(run) -> None:
    for command in ("devices", "models", "run", "report"):
        done = run(command, "--help")
        assert done.returncode == 0
        assert "Example:" in done.stdout


def test_models_and_devices_as_json(run) -> None:
    models = json.loads(run("models", "--json").stdout)
    llama = next(m for m in models if m["name"] == "llama-3.1-8b")
    assert llama["kv_bytes_per_token"] == 131072
    assert llama["kv_bytes_per_token_growing"] == 131072
    assert round(llama["params_active_body"] / 1e6) == 6979
    adapters = json.loads(run("devices", "--json").stdout)
    states = {a["adapter"]: a["state"] for a in adapters}
    assert states["host"] == states["sim"] == "ready"
    assert states["cuda"] == "unavailable"
    specs = [d["spec"] for a in adapters for d in a["devices"]]
    assert specs[0] == "host"
    assert "sim:a100-pcie-80gb" in specs
    text = run("devices").stdout
    assert all(f"       {spec}: " in text for spec in specs)
    assert text.count("NUMA") == 1


def test_devices_say_what_bf16_cases_say(run, tmp_path: Path) -> None:
    """The quickstart picks its dtype by this."""
    adapters = json.loads(run("devices", "--json").stdout)
    host = next(a for a in adapters if a["adapter"] == "host")["devices"][0]
    words = [word.replace("f32", "bf16") for word in HOST]
    assert run(*words).returncode == 0
    reasons = {c["reason"] for c in load(tmp_path / "host.json")["cases"]}
    assert reasons == {host.get("bf16_unavailable", "")}


def test_report_from_both(run, tmp_path: Path) -> None:
    assert run(*HEADLINE).returncode == 0
    assert run(*HOST).returncode == 0
    done = run("report", "h100.json", "host.json", "--out", "report", env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "report/report.html").read_text()
    assert "http://" not in html.split("<body")[0]
    assert "modelled" in html
    assert (tmp_path / "report/report.md").exists()


def test_a_bounded_host_tier_is_in_the_record_and_warned_of(run, tmp_path: Path) -> None:
    words = ["run", "ttft", "--device", "sim:h100-sxm", "--model", "llama-3.1-8b", "--draws", "0"]
    tier = ["--context", "8k", "--host-tier", "512MiB", "--store", "second-use,on-evict"]
    done = run(*words, *tier, "--eviction", "arc", "--out", "tier.json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("only mirrors") == 1  # on-evict does not
    cases = [c for c in load(tmp_path / "tier.json")["cases"] if c["params"]["plan"] == "copy"]
    assert [c["params"]["store"] for c in cases] == ["second-use", "on-evict"]
    for case in cases:
        assert case["params"]["host_tier"] == 512 << 20
        assert case["params"]["eviction"] == "arc"
        assert case["tier"]["bytes"] == 512 << 20  # 16 of the prefix's 32 chunks
        assert case["metrics"]["chunks_loaded"]["value"] == 16
        assert case["metrics"]["tokens_recomputed"]["value"] == 4096
    first, second = (case["tier"] for case in cases)
    assert first["chunks_unwanted"] == 32
    assert "only mirrors" in first["warnings"][0]
    assert second["chunks_handed_over"] >= 16
    assert "warnings" not in second


def test_a_paced_link_is_never_called_measured(run) -> None:
    words = [*HOST, "--link", "100MB/s"]
    words[words.index("256,300")] = "256"
    done = run(*words)
    assert done.returncode == 0, done.stderr
    assert "basis emulated" in done.stdout
    assert "measured" not in done.stdout


def test_a_wind_tunnel_says_how_it_was_balanced(run, tmp_path: Path) -> None:
    tunnel = ["run", "ttft", "--device", "host:balance=h100-sxm", "--model", "tunnel-512"]
    options = ["--kv-dtype", "f32", "--context", "128,256", "--blocks-per-chunk", "2"]
    done = run(*tunnel, *options, "--out", "tunnel.json")
    assert done.returncode == 0, done.stderr
    assert "basis emulated" in done.stdout
    assert "link paced to" in done.stdout
    record = load(tmp_path / "tunnel.json")
    balance = record["device"]["balance"]
    link_time = 1280 * 4096 / balance["link_rate"]  # 4 layers, K and V, 128 wide, 4 bytes
    assert balance["prefill"]["median"] / link_time == pytest.approx(balance["pi"], rel=1e-3)
    assert record["device"]["basis"] == "emulated"
    assert record["device"]["peaks"]["link_in"] == balance["link_rate"]
    for figures in metrics(record, "copy").values():
        assert figures["copy_bandwidth"]["median"] <= 1.001 * balance["link_rate"]
        assert figures["speedup_alone"]["ci95"]
        assert 0 < figures["after_load_share"]["median"] < 1
