# SPDX-License-Identifier: Apache-2.0
"""A run's parameters in words: what is not at its default is said wherever a run is named."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from kvroof_reports.rows import Record

# As `kvroof run --help` has them, in its order.
DEFAULTS = {
    "batch": 1,
    "live": 0,
    "block_tokens": 16,
    "blocks_per_chunk": 16,
    "layout": "block_first",
    "copy": "dma",
    "pipeline": "request",
    "link": "native",
    "host_tier": "unbounded",
    "disk_bytes": "none",
    "eviction": "lru",
    "store": "immediate",
    "max_offload_tokens": 0,
    "max_load_tokens": 0,
    "checksum": "off",
    "check_tokens": "off",
    "key_hash": "xxh3",
    "serving_cost": "none",
}
_ELSEWHERE = ("context_tokens", "plan", "data", "margin", "kv_dtype", "layers")  # told by others


def words(params: Mapping[str, Any], also: Collection[str] = ()) -> str:
    """Return the parameters that are not at their default, and those in `also`: batch 4, live 8."""
    names = [*DEFAULTS, *sorted(set(params) - set(DEFAULTS))]
    told = [
        name
        for name in names
        if name in params
        and name not in _ELSEWHERE
        and (name in also or params[name] != DEFAULTS.get(name))
    ]
    return ", ".join(f"{name.replace('_', ' ')} {params[name]}" for name in told)


def subject(record: Record, params: Mapping[str, Any]) -> str:
    """Return the model as a title names it: with its KV dtype, and its layers where not all ran."""
    ran, whole = params.get("layers"), record.whole_layers
    part = (
        []
        if not ran or ran == whole
        else [f"{ran} of {whole} layers" if whole else f"{ran} layers"]
    )
    dtype = params.get("kv_dtype")
    said = part + ([str(dtype)] if dtype else [])
    return f"{record.model_name} ({', '.join(said)})" if said else record.model_name


def named(record: Record, params: Mapping[str, Any], also: Collection[str] = ()) -> str:
    """Return the model and all that is said of its parameters."""
    said = words(params, also)
    return f"{subject(record, params)}, {said}" if said else subject(record, params)


def common(every: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the parameters that all of `every` share."""
    first, *others = [*every] or [{}]
    return {
        name: value
        for name, value in first.items()
        if all(name in other and other[name] == value for other in others)
    }
