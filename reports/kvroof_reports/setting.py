# SPDX-License-Identifier: Apache-2.0
"""What tells the settings of a crossover run apart: the usual parameters, and whatever varies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kvroof_reports.rows import Crossover

USUAL = ("batch", "live", "kv_dtype")  # told whether they vary or not
_APART = ("link", "plan", "margin")  # told by a panel or a column of their own
_WORDS = {"live": "live sequences", "kv_dtype": "dtype"}

Setting = tuple[str, ...]  # the values, in the order of the names


def copies(crossovers: Iterable[Crossover]) -> list[Crossover]:
    """Return the answers about plan copy."""
    return [answer for answer in crossovers if answer.params.get("plan") == "copy"]


def names_of(crossovers: Iterable[Crossover]) -> tuple[str, ...]:
    """Return the parameters by which each setting of some answers is told from the others."""
    answers = list(crossovers)
    every = dict.fromkeys(name for answer in answers for name in answer.params)
    others = [name for name in every if name not in USUAL + _APART]
    varying = [n for n in others if len({value_of(answer.params, n) for answer in answers}) > 1]
    return (*USUAL, *varying)


def setting_of(params: Mapping[str, Any], names: Sequence[str]) -> Setting:
    """Return the setting of an answer."""
    return tuple(value_of(params, name) for name in names)


def value_of(params: Mapping[str, Any], name: str) -> str:
    """Return a parameter as text; a dash where the answer does not have it."""
    return str(params.get(name, "–"))


def label(names: Sequence[str], setting: Setting) -> str:
    """Return a setting in words: batch 4, live 0, bf16, serving cost vllm."""
    pairs = zip(names, setting, strict=True)
    return ", ".join(v if n == "kv_dtype" else f"{n.replace('_', ' ')} {v}" for n, v in pairs)


def words(names: Sequence[str]) -> list[str]:
    """Return the parameters as a sentence names them."""
    return [_WORDS.get(name, name.replace("_", " ")) for name in names]
