# SPDX-License-Identifier: Apache-2.0
"""Bad input gets one sentence and the right exit code, and nothing half-written."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import KVROOF

RUN = ["run", "ttft", "--out", "out.json"]
SIM = ["--device", "sim:h100-sxm"]
LLAMA = ["--model", "llama-3.1-8b"]


def config(**changes: object) -> dict[str, object]:
    """Return a small dense model's config.json with some keys changed (None: without it)."""
    keys: dict[str, object] = {
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 128,
        "vocab_size": 100,
        "max_position_embeddings": 2048,
    } | changes
    return {key: value for key, value in keys.items() if value is not None}


@pytest.mark.parametrize(
    ("device", "code", "word"),
    [
        ("foo:0", 2, "foo"),
        ("sim:nosuch", 2, "nosuch"),
        ("sim:", 2, "sim"),
        ("sim:h100-sxm,speed=9", 2, "speed"),
        ("sim:h100-sxm,ranks=2", 2, "no option 'ranks'"),
        ("host:frobnicate=1", 2, "frobnicate"),
        ("host:x", 2, "x"),
        ("host:balance=nosuch", 2, "nosuch"),
        ("host:balance=h100-sxm,link=5GB/s", 2, "link=5GB/s"),
        ("host:balance=h100-sxm", 2, "tunnel-512"),  # with another model
        ("sim:h100-sxm,balance=mi300x", 2, "balance"),
        ("host:1", 3, "1"),
        ("", 2, "empty"),
        ("cuda:0", 3, "cuda"),
        ("cuda:9", 3, "cuda"),
        ("rocm:0", 3, "rocm"),
        ("xpu:0", 3, "xpu"),
    ],
)
def test_devices(refused, tmp_path: Path, device: str, code: int, word: str) -> None:
    assert word in refused(code, *RUN, *LLAMA, "--device", device)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("ranks", "words"),
    [("0", "--tp"), ("two", "'two'"), ("3", "query heads (32)"), ("64", "query heads (32)")],
)
def test_tensor_parallel_sizes(refused, tmp_path: Path, ranks: str, words: str) -> None:
    assert words in refused(2, *RUN, *LLAMA, *SIM, "--tp", ranks)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--context", "0"),
        ("--context", "1k,1k"),
        ("--context", "ten"),
        ("--context", "-5"),
        ("--context", "1e9k"),
        ("--context", "99999999999999999999"),
        ("--context", "1k,,2k"),
        ("--batch", "0"),
        ("--kv-dtype", "fp7"),
        ("--layout", "sideways"),
        ("--plan", "guess"),
        ("--copy", "rsync"),
        ("--block-tokens", "0"),
        ("--pipeline", "both"),
        ("--link", "pcie4"),
        ("--host-tier", "0"),
        ("--host-tier", "-1GiB"),
        ("--host-tier", "much"),
        ("--host-tier", "1000TB"),  # beyond memory
        ("--eviction", "random"),
        ("--store", "second_use"),
        ("--disk-bytes", "0"),
        ("--disk-bytes", "-1"),
        ("--disk-bytes", "much"),
        ("--disk-bytes", "1000"),  # smaller than a chunk
        ("--disk", "."),  # without --disk-bytes
        ("--max-offload-tokens", "-1"),
        ("--max-offload-tokens", "some"),
        ("--max-offload-tokens", "101k"),  # above the context
        ("--max-load-tokens", "-1"),
        ("--max-load-tokens", "1.5"),
        ("--max-load-tokens", "1k,101k"),
        ("--tenant-secret", "nosuch.key"),
        ("--tenant-secret", "."),
        ("--tenant-secret", "/dev/null"),
        ("--serving-cost", "cheap"),
        ("--grid", "huge"),
        ("--seed", "-1"),
        ("--seed", "18446744073709551616"),
        ("--draws", "19"),
        ("--draws", "-1"),
        ("--layers", "33"),
        ("--layers", "none"),
    ],
)
def test_grid_values(refused, flag: str, value: str) -> None:
    words = ["run", "ttft", "--out", "out.json", *SIM, *LLAMA]
    sentence = refused(2, *words, flag, value)
    assert flag.removeprefix("--") in sentence


HOST = ["--device", "host", "--model", "llama-3.2-1b", "--layers", "1", "--kv-dtype", "f32"]
DISK = [*RUN, *HOST, "--context", "64", "--blocks-per-chunk", "1"]


def scratch_on_a_disk() -> Path:
    """Return an empty folder of the build's, since the usual temporary one may be in memory."""
    return Path(tempfile.mkdtemp(prefix="disk-", dir=KVROOF.parent))


@pytest.fixture
def folder() -> Iterator[Path]:
    path = scratch_on_a_disk()
    yield path
    path.chmod(0o700)
    shutil.rmtree(path)


def test_a_disk_tier_needs_a_directory_that_is_fit(refused, tmp_path: Path, folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (folder / "link").symlink_to(inner)
    (folder / "file").write_text("")
    holding = folder / "holding"
    holding.mkdir()
    (holding / "thesis.txt").write_text("mine")
    other = folder / "other"
    other.mkdir()
    (other / "kvroof-disk-tier").write_text("kvroof disk tier, format 1\n")
    cases = {
        "nosuch": "does not exist",
        "link": "is a symbolic link",
        "file": "is no directory",
        "holding": "holds files that are not a disk tier's",
        "other": "format",
    }
    for name, words in cases.items():
        sentence = refused(2, *DISK, "--disk", str(folder / name), "--disk-bytes", "1GB")
        assert "--disk" in sentence
        assert words in sentence, sentence
    assert [p.name for p in holding.iterdir()] == ["thesis.txt"]
    assert not list(inner.iterdir())
    assert not list(tmp_path.iterdir())


def test_a_disk_tier_in_memory_is_refused(refused, tmp_path: Path) -> None:
    shm = Path("/dev/shm")
    if not os.access(shm, os.W_OK):
        pytest.skip("there is no /dev/shm that one may write to")
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        sentence = refused(2, *DISK, "--disk", folder, "--disk-bytes", "1GB")
        assert "tmpfs, which keeps files in memory" in sentence
        assert not list(Path(folder).iterdir())
    assert not list(tmp_path.iterdir())


def test_a_disk_tier_that_cannot_be_written_is_refused(refused, folder: Path) -> None:
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write to a read-only directory")
    assert "can't write to" in refused(2, *DISK, "--disk", str(folder), "--disk-bytes", "1GB")


def test_a_disk_without_room_is_refused(refused, tmp_path: Path, folder: Path) -> None:
    sentence = refused(2, *DISK, "--disk", str(folder), "--disk-bytes", "900000TB")
    assert "fewer than the 900000000000000000 of --disk-bytes" in sentence
    assert not list(tmp_path.iterdir())


def test_a_disk_tier_is_asked_for_whole(refused, folder: Path) -> None:
    assert "give --disk" in refused(2, *DISK, "--disk-bytes", "1GB")
    both = ["--disk", str(folder), "--disk-bytes", "1GB", "--check-tokens"]
    assert "files hold no tokens to check" in refused(2, *DISK, *both)
    assert not list(folder.iterdir())


def test_a_host_tier_that_is_too_small_reads_the_rest_from_disk(
    run, tmp_path: Path, folder: Path
) -> None:
    # A block of a layer of llama-3.2-1b in f32 takes 64 KiB: room for two of the four chunks.
    words = ["--host-tier", "128KiB", "--disk", str(folder), "--disk-bytes", "1GB"]
    done = run(*DISK, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    copy = json.loads((tmp_path / "out.json").read_text())["cases"][1]
    assert copy["metrics"]["chunks_loaded"]["value"] == 4
    assert copy["metrics"]["chunks_from_disk"]["value"] >= 2
    assert copy["tier"]["disk"]["chunks_written"] >= 4
    assert copy["params"]["disk_bytes"] == 10**9


def test_a_secret_is_long_and_stays_one(refused, run, tmp_path: Path) -> None:
    secret = tmp_path / "tenant.key"
    secret.write_text("swordfish\n")
    sentence = refused(2, *RUN, *SIM, *LLAMA, "--tenant-secret", "tenant.key")
    assert "holds a secret of 9 bytes, expected 16 at least" in sentence
    assert "swordfish" not in sentence
    secret.write_text("swordfish-and-more\n")
    words = [*RUN, *SIM, *LLAMA, "--context", "1k", "--check-tokens"]
    done = run(*words, "--tenant-secret", "tenant.key")
    assert done.returncode == 0, done.stderr
    record = (tmp_path / "out.json").read_text()
    assert "swordfish" not in record + done.stdout + done.stderr
    params = json.loads(record)["cases"][1]["params"]
    assert (params["key_hash"], params["check_tokens"]) == ("siphash", "on")
    assert json.loads(record)["cases"][1]["tier"]["chunks_collided"] == 0


def test_a_wind_tunnel_sets_its_link_itself(refused) -> None:
    words = [*RUN, "--device", "host:balance=h100-sxm", "--model", "tunnel-512"]
    assert "--link" in refused(2, *words, "--link", "5GB/s")
    assert "--kv-dtype" in refused(2, *words, "--kv-dtype", "f32,bf16")
    assert "--tp: host:balance=h100-sxm imitates one device" in refused(2, *words, "--tp", "2")


def test_a_wind_tunnel_takes_the_catalogues_model(refused, tmp_path: Path) -> None:
    folder = tmp_path / "tunnel-512"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config()))
    words = [*RUN, "--device", "host:balance=h100-sxm", "--model", "tunnel-512/config.json"]
    sentence = refused(2, *words)
    assert "the catalogue's tunnel-512 alone, not with tunnel-512/config.json" in sentence


@pytest.mark.parametrize("device", ["host:link=5GB/s", "sim:h100-sxm,link=pcie4x16"])
def test_a_link_is_set_once(refused, tmp_path: Path, device: str) -> None:
    sentence = refused(2, *RUN, *LLAMA, "--device", device, "--link", "native,1GB/s")
    assert f"--device {device} sets the link itself; leave out --link 1GB/s" in sentence
    assert not list(tmp_path.iterdir())


def test_unknown_words(refused) -> None:
    assert "nosuch" in refused(2, "run", "nosuch", "--out", "o.json", *SIM, *LLAMA)
    assert "llama-9" in refused(2, *RUN, *SIM, "--model", "llama-9")
    refused(2, "frobnicate")
    refused(2, *RUN, *SIM, *LLAMA, "--frobnicate")
    refused(2, *RUN, *SIM, *LLAMA, "--", "--benchmark_frobnicate")
    refused(2, "models", "--", "llama-3.1-8b")
    refused(2, "run", "ttft", "ttft", "--out", "o.json", *SIM, *LLAMA)


def test_a_broken_profile_is_named(refused, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("{}")
    assert "mine.json" in refused(2, *RUN, *LLAMA, "--device", "sim:mine.json")


def test_a_pipe_is_no_file(refused, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    assert "pipe.json" in refused(2, "models", "./pipe.json")
    assert "pipe.json" in refused(2, *RUN, *LLAMA, "--device", "sim:./pipe.json")


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"hidden_size": None}, "hidden_size"),
        ({"num_attention_heads": 0}, "num_attention_heads"),
        ({"num_key_value_heads": 3}, "num_key_value_heads"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"vocab_size": "many"}, "vocab_size"),
        ({"architectures": ["MambaForCausalLM"]}, "MambaForCausalLM"),
        ({"rope_scaling": [1]}, "rope_scaling"),
    ],
)
def test_hostile_configs(refused, tmp_path: Path, changes: dict, key: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config(**changes)))
    assert key in refused(2, *RUN, *SIM, "--model", str(path))
    assert key in refused(2, "models", str(path))


NO_CONFIGS = {
    "empty": "",
    "cut": "{",
    "list": "[]",
    "deep_lists": "[" * 100_000,
    "deep_objects": '{"a":' * 100_000,
    "binary": "\x00\xff",
}


@pytest.mark.parametrize("kind", NO_CONFIGS)
def test_texts_that_are_no_config(refused, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(NO_CONFIGS[kind].encode("latin-1"))
    assert "config.json" in refused(2, "models", str(path))


def test_outputs_that_cannot_be_written(refused, tmp_path: Path) -> None:
    good = ["run", "ttft", *SIM, *LLAMA, "--context", "1k", "--out"]
    assert "no/such" in refused(2, *good, "no/such/out.json")
    (tmp_path / "folder").mkdir()
    assert "folder" in refused(2, *good, "folder")
    assert "/dev/full" in refused(2, *good, "/dev/full")
    assert "--out" in refused(2, *good, "")
    (tmp_path / "link.json").symlink_to(tmp_path / "nothing.json")
    assert "link.json" in refused(2, *good, "link.json")
    (tmp_path / "link.json").unlink()
    for other in ("out.json", "./out.json.part"):
        assert "--benchmark_out" in refused(2, *good, "out.json", "--", f"--benchmark_out={other}")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder"]


@pytest.mark.parametrize(
    "words",
    [
        ["models"],
        ["devices", "--json"],
        ["run", "--help"],
        ["run", "ttft", *SIM, *LLAMA, "--plan-only"],
        [*RUN, *SIM, *LLAMA, "--context", "1k"],
    ],
)
def test_a_terminal_that_takes_nothing_is_an_error(tmp_path: Path, words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(KVROOF), *words],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "kvroof: standard output cannot be written in full"
    if "--out" in words:  # the record does not depend on it
        assert json.loads((tmp_path / "out.json").read_text())["complete"]


def test_a_benchmark_output_that_is_cut_short_is_an_error(run, tmp_path: Path) -> None:
    done = run(*RUN, *SIM, *LLAMA, "--context", "1k", "--", "--benchmark_out=/dev/full")
    assert done.returncode == 2
    assert "--benchmark_out: /dev/full cannot be written in full" in done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["complete"]


def test_a_full_disk_keeps_the_earlier_result(run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    out.write_text("earlier")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    done = run(*RUN, *SIM, *LLAMA, "--context", "1k,2k,3k,4k,5k,6k", preexec_fn=limit)
    assert done.returncode == 2, done.stderr
    assert "out.json" in done.stderr
    assert out.read_text() == "earlier"


def test_other_schema_versions(run, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"schema_version": 99}))
    done = run("report", str(path), "--out", "report")
    assert done.returncode == 2
    assert "old.json" in done.stderr
    assert "99" in done.stderr
    assert not (tmp_path / "report").exists()


def test_reports_without_an_interpreter(run, tmp_path: Path) -> None:
    done = run("report", "x.json", "--out", "r", env={**os.environ, "PATH": "/nowhere"})
    assert done.returncode in (1, 2)
    assert len(done.stderr.strip().splitlines()) == 1
