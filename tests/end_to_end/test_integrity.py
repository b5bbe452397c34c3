# SPDX-License-Identifier: Apache-2.0
"""Checksums of chunks, as a user asks for them and finds them in the record."""

from __future__ import annotations

import json
from pathlib import Path

SIM = ["--device", "sim:h100-sxm", "--model", "llama-3.1-8b", "--draws", "0"]
HOST = ["--device", "host", "--model", "llama-3.2-1b", "--layers", "1", "--kv-dtype", "f32"]
CHECKED = ("chunks_summed", "chunks_checked", "chunks_corrupt")


def copies(run, folder: Path, *words: str) -> dict[str, dict]:
    """Run ttft; returns the copy cases by what their chunks' checksums were."""
    done = run("run", "ttft", *words, "--plan", "recompute,copy", "--out", "out.json")
    assert done.returncode == 0, done.stdout + done.stderr
    cases = json.loads((folder / "out.json").read_text())["cases"]
    assert all(case["outcome"] == "ok" for case in cases)
    return {c["params"]["checksum"]: c for c in cases if c["params"]["plan"] == "copy"}


def test_the_host_compares_the_checksum_of_each_chunk_that_it_loads(run, tmp_path: Path) -> None:
    words = [*HOST, "--context", "256", "--blocks-per-chunk", "2", "--checksum", "off,always"]
    done = copies(run, tmp_path, *words)
    assert not set(CHECKED) & set(done["off"]["tier"])
    tier = done["always"]["tier"]
    assert tier["chunks_summed"] >= 8
    assert tier["chunks_checked"] >= 8 * 5  # each sample's
    assert tier["chunks_corrupt"] == 0


def test_a_simulated_checksum_takes_time(run, tmp_path: Path) -> None:
    words = [*SIM, "--context", "8k", "--checksum", "off,sampled,always"]
    done = copies(run, tmp_path, *words)
    off, sampled, always = (
        done[name]["metrics"]["ttft"]["median"] for name in ("off", "sampled", "always")
    )
    assert off <= sampled < always
    assert done["always"]["tier"]["chunks_summed"] == 32
    assert done["sampled"]["tier"]["chunks_summed"] < 32


def test_layers_are_read_before_their_chunk_can_be_compared(run, tmp_path: Path) -> None:
    layers = ["--layout", "layer_first", "--pipeline", "layer", "--checksum", "always"]
    done = run("run", "ttft", *SIM, "--context", "1k", *layers, "--out", "out.json")
    assert done.returncode == 0, done.stderr
    cases = json.loads((tmp_path / "out.json").read_text())["cases"]
    assert {case["outcome"] for case in cases} == {"skipped"}
    assert all("--checksum off" in case["reason"] for case in cases)


def test_a_checksum_that_is_none_is_refused(refused) -> None:
    for name in ("sometimes", "", "on"):
        sentence = refused(2, "run", "ttft", *SIM, "--checksum", name, "--out", "out.json")
        assert "checksum" in sentence
