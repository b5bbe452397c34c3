# SPDX-License-Identifier: Apache-2.0
"""Small records for tests, made from a few numbers; not installed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kvroof_reports.load import load_record
from kvroof_reports.rows import AFTER_LOAD, ALONE, Record

H100 = {
    "backend": "sim",
    "name": "h100-sxm (modelled)",
    "driver": "",
    "bus_id": "",
    "numa_node": -1,
    "memory_bytes": 80_000_000_000,
    "host_memory_bytes": 500_000_000_000,
    "basis": "published",
    "virtual_time": True,
    "peaks": {"flops_f32": 0, "flops_bf16": 989.4e12, "link_in": 63e9, "link_out": 63e9},
    "link": {"now": {"gen": 5, "width": 16}, "best": {"gen": 5, "width": 16}},
    "profile": {"derates": {"gemm": {"value": 1, "low": 1, "high": 1, "source": "no derate"}}},
}
HOST = {
    **{key: value for key, value in H100.items() if key not in ("link", "profile")},
    "backend": "host",
    "name": "AMD EPYC 7B13",
    "basis": "measured",
    "virtual_time": False,
}
LLAMA_8B = {
    "name": "llama-3.1-8b",
    "source": "catalogue",
    "layers": 32,
    "hidden": 4096,
    "heads": 32,
    "kv_heads": 8,
    "head_dim": 128,
    "intermediate": 14336,
    "vocab": 128256,
    "max_position": 131072,
    "tied_embeddings": False,
    "qk_norm": False,
    "norm_epsilon": 1e-5,
    "rope_theta": 500000.0,
}
LLAMA_1B = {**LLAMA_8B, "name": "llama-3.2-1b", "layers": 4, "full_layers": 16}
TUNNEL_512 = {**LLAMA_8B, "name": "tunnel-512", "layers": 4}
TUNNEL = {
    **HOST,
    "basis": "emulated",
    "balance": {
        "machine": "h100-sxm (modelled)",
        "machine_model": "llama-3.1-8b",
        "machine_context_tokens": 10240,
        "context_tokens": 1280,
        "pi": 9.64,
        "pi_basis": "published",
        "prefill": {"unit": "s", "median": 0.06, "samples_enough": True},
        "link_rate": 421_000_000,
    },
}
SYSTEM = {
    "cpu": "AMD EPYC 7B13",
    "sockets": 1,
    "cores": 2,
    "threads": 2,
    "threads_allowed": 2,
    "isa": ["avx2"],
    "virtualised": True,
    "memory_bytes": 8_000_000_000,
    "numa_node_bytes": [8_000_000_000],
    "kernel": "6.1.0",
    "distribution": "Debian GNU/Linux 12",
    "governor": "not exposed",
    "transparent_huge_pages": "madvise",
    "huge_page_bytes": 2097152,
    "huge_pages": 0,
    "memlock_bytes": "unlimited",
    "iommu_groups": 0,
    "load_average_1min": 0.1,
}

PARAMS = {"batch": 1, "live": 0, "kv_dtype": "bf16", "copy": "dma", "link": "native"}


def metric(unit: str, median: float, spread: float = 0.0) -> dict[str, Any]:
    """Return a metric; a spread of 0.02 gives an interval of 2 % each way and three samples."""
    if not spread:
        return {"unit": unit, "median": median}
    low, high = median * (1 - spread), median * (1 + spread)
    figure = {"unit": unit, "median": median, "ci95": [low, high]}
    return {**figure, "samples": [low, median, high], "samples_enough": True}


def pair(
    context: int,
    recompute: float,
    load: float,
    *,
    spread: float = 0.0,
    basis: str = "published",
    params: Mapping[str, Any] = PARAMS,
) -> list[dict[str, Any]]:
    """Return the two cases of a context that succeeded."""
    shared = {"context_tokens": context, **params}
    flops, moved = 14_000_000_000 * context, 131072 * context
    return [
        _ok(
            {**shared, "plan": "recompute"},
            basis,
            {
                "ttft": metric("s", recompute, spread),
                "mfu": metric("ratio", 0.45, spread),
                "flop_rate": metric("FLOP/s", flops / recompute, spread),
                "flops": {"unit": "FLOP", "value": flops},
            },
        ),
        _ok(
            {**shared, "plan": "copy"},
            basis,
            {
                "ttft": metric("s", load, spread),
                "speedup": metric("ratio", recompute / load, spread),
                "link_share": metric("ratio", 0.8, spread),
                "bytes_loaded": {"unit": "bytes", "value": moved},
                "load_time": metric("s", load, spread),
                "copy_bandwidth": metric("bytes/s", moved / load, spread),
            },
        ),
    ]


def alone(context: int, speedup: float, *, basis: str = "published") -> list[dict[str, Any]]:
    """Return the two cases of a context, with prefill over load and the share after the load."""
    cases = pair(context, speedup, 1.2, basis=basis)
    cases[1]["metrics"] |= {
        ALONE: metric("ratio", speedup, 0.02),
        AFTER_LOAD: metric("ratio", 0.2, 0.02),
    }
    return cases


def _ok(params: dict[str, Any], basis: str, metrics: dict[str, Any]) -> dict[str, Any]:
    return {
        "suite": "ttft",
        "params": params,
        "outcome": "ok",
        "reason": "",
        "basis": basis,
        "metrics": metrics,
    }


def skipped(context: int, plan: str, reason: str, outcome: str = "skipped") -> dict[str, Any]:
    """Return a case without a result."""
    return {
        "suite": "ttft",
        "params": {"context_tokens": context, "plan": plan, **PARAMS},
        "outcome": outcome,
        "reason": reason,
        "basis": "measured",
        "metrics": {},
    }


def crossover(margin: float, context: float | None, verdict: str, **params: Any) -> dict[str, Any]:
    """Return what a run concluded for one margin; `params` are those that aren't the usual."""
    return {
        "question": "crossover",
        "params": {**PARAMS, "plan": "copy", **params, "margin": margin},
        "context_tokens": context,
        "verdict": verdict,
        "basis": "published",
    }


def document(
    cases: Iterable[dict[str, Any]],
    device: Mapping[str, Any] = H100,
    model: Mapping[str, Any] = LLAMA_8B,
) -> dict[str, Any]:
    """Return a whole result file as a JSON value."""
    return copy.deepcopy(
        {
            "schema_version": 1,
            "tool": {
                "version": "0.1.0",
                "commit": "abc1234",
                "dirty": False,
                "build": {"type": "Release", "compiler": "gcc 12"},
            },
            "argv": ["kvroof", "run", "ttft", "--device", "sim:h100-sxm"],
            "started": "2026-12-01T12:00:00Z",
            "finished": "2026-12-01T12:00:02Z",
            "complete": True,
            "seed": 1,
            "system": SYSTEM,
            "device": dict(device),
            "model": dict(model),
            "cases": list(cases),
            "answers": [],
        }
    )


def save(value: Any, folder: Path, name: str = "run.json") -> Path:
    """Write a JSON value to a file of `folder`."""
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def record(cases: Iterable[dict[str, Any]], folder: Path, **others: Any) -> Record:
    """Write and load a result file."""
    return load_record(save(document(cases, **others), folder))
