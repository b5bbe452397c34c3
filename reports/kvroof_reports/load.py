# SPDX-License-Identifier: Apache-2.0
"""The one loader of result files: validates, and returns typed rows or says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kvroof_reports.node import InputError, Node
from kvroof_reports.rows import (
    AFTER_LOAD,
    BASES,
    COMPARING,
    OUTCOMES,
    VERDICTS,
    VERIFY,
    Case,
    CopyChoice,
    Crossover,
    Interval,
    Metric,
    Record,
)

SCHEMA_VERSION = 1
_RENAMED = {"last_token_share": AFTER_LOAD}  # metrics that older records hold by another name


def load_record(path: Path) -> Record:
    """Read one result file.

    Parameters
    ----------
    path
        A file that `kvroof run --out` wrote.

    Raises
    ------
    InputError
        The file can't be read, is unfinished, has another schema version, lacks a key or holds a
        value of the wrong kind. The message is one sentence.
    """
    finished, is_part, _ = path.name.partition(".part")
    if is_part and finished:
        raise InputError(
            f"{path}: this is an unfinished run; run it to its end and report on "
            f"{path.with_name(finished)}."
        )
    root = Node(read_json(path), path)
    _check_version(root)
    device, model = root["device"], root["model"]
    for text in (device["name"], device["backend"], model["name"], root["tool"]["version"]):
        text.text()
    device["basis"].one_of(BASES)
    cases = [_case(case) for case in root["cases"].elements()]
    return Record(
        path=path,
        file=path.name,
        tool=root["tool"].object(),
        argv=tuple(word.text() for word in root["argv"].elements()),
        started=root["started"].text(),
        finished=root["finished"].text(),
        complete=root["complete"].flag(),
        seed=root["seed"].whole(),
        system=root["system"].object(),
        device=device.object(),
        model=model.object(),
        cases=tuple(case for case in cases if case.suite != VERIFY),
        crossovers=_crossovers(root, "crossover"),
        closed_forms=_crossovers(root, "crossover_closed_form"),
        checks=tuple(case for case in cases if case.suite == VERIFY),
    )


def load_records(paths: Sequence[Path], tell: Callable[[str], None] | None = None) -> list[Record]:
    """Read result files, and all that lie in folders; files of one name are told by their paths.

    Parameters
    ----------
    paths
        Files and folders; the output of benchmark programs that lies in a folder is left out.
    tell
        Hears a sentence of what was left out.

    Raises
    ------
    InputError
        As `load_record`, and where a folder has no file to read.
    """
    records = [load_record(file) for path in paths for file in _files_of(path, tell)]
    names = [record.file for record in records]
    return [
        replace(record, file=str(record.path)) if names.count(record.file) > 1 else record
        for record in records
    ]


def _files_of(path: Path, tell: Callable[[str], None] | None) -> list[Path]:
    """Return the JSON files directly in a folder, sorted; any other path as it is."""
    if not path.is_dir():
        return [path]
    found = sorted(f for f in path.glob("*.json") if f.is_file() and not f.name.startswith("."))
    others = [f.name for f in found if _is_benchmark_output(f)]
    if len(others) == len(found):
        raise InputError(f"{path}: the folder has no record; give files of `kvroof run`.")
    if others and tell:
        tell(f"{path}: {', '.join(others)} left out: output of a benchmark program.")
    return [f for f in found if f.name not in others]


def _is_benchmark_output(file: Path) -> bool:
    value = read_json(file)
    return isinstance(value, dict) and "benchmarks" in value and "schema_version" not in value


def _crossovers(root: Node, question: str) -> tuple[Crossover, ...]:
    return tuple(
        _crossover(answer)
        for answer in root["answers"].elements()
        if answer["question"].text() == question
    )


def read_json(path: Path) -> Any:
    """Parse a JSON file; numbers that JSON does not know (NaN, Infinity) are refused."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: can't be read: not a regular file; give a file of `kvroof run`.")
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except FileNotFoundError:
        part = path.with_name(path.name + ".part")
        hint = f" ({part.name} is there: that run is unfinished)" if part.exists() else ""
        raise InputError(f"{path}: no such file{hint}; give a file of `kvroof run`.") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"{path}: expected a JSON result file of kvroof: {reason}.") from None


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def _check_version(root: Node) -> None:
    version = root["schema_version"].whole()
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{root.file}: 'schema_version' is {version}, but this report reads version "
            f"{SCHEMA_VERSION}; use the kvroof that wrote the file."
        )


def _case(node: Node) -> Case:
    outcome = node["outcome"].one_of(OUTCOMES)
    case = Case(
        suite=node["suite"].text(),
        params={name: value.scalar() for name, value in node["params"].items()},
        outcome=outcome,
        reason=node["reason"].text() if outcome != "ok" or node.has("reason") else "",
        basis=node["basis"].one_of(BASES),
        metrics=_metrics(node, outcome),
        copy_choices=_copy_choices(node["copy_auto"]) if node.has("copy_auto") else (),
    )
    if outcome != "ok" and not case.reason:
        node["reason"].fail("a sentence that says why the case is not ok")
    if case.suite == VERIFY:
        node["params"]["check"].text()
    if case.suite in COMPARING or node["params"].has("context_tokens"):
        _check_context(node["params"]["context_tokens"])
    if case.suite in COMPARING:
        _check_ttft(node, outcome)
    return case


def _copy_choices(node: Node) -> tuple[CopyChoice, ...]:
    source = node["source"].one_of(("calibration", "profile"))
    return tuple(_copy_choice(choice, source) for choice in node["choices"].elements())


def _copy_choice(node: Node, source: str) -> CopyChoice:
    timed = node.has("fastest")
    passes = [len(times.elements()) for _, times in node["seconds"].items()] if timed else []
    return CopyChoice(
        direction=node["direction"].text(),
        region_bytes=node["region_bytes"].whole(),
        regions=node["regions"].whole(),
        taken=node["taken"].text(),
        fastest=node["fastest"].text() if timed else None,
        worse_by=node["worse_by"].number() if timed else None,
        passes=max(passes, default=0),
        source=source,
        unchecked="" if timed else node["unchecked"].text(),
    )


def _crossover(node: Node) -> Crossover:
    params = {name: value.scalar() for name, value in node["params"].items()}
    verdict = node["verdict"].one_of(VERDICTS)
    return Crossover(
        params=params,
        margin=node["params"]["margin"].positive(),
        context=None if verdict == "none_in_range" else node["context_tokens"].positive(),
        ci95=_interval(node["ci95"]) if node.has("ci95") else None,
        verdict=verdict,
        basis=node["basis"].one_of(BASES),
    )


def _check_context(node: Node) -> None:
    if node.whole() < 1:
        node.fail("a number of tokens above zero")


def _check_ttft(node: Node, outcome: str) -> None:
    node["params"]["plan"].text()
    if outcome == "ok":
        node["metrics"]["ttft"]["median"].positive()
        if node["metrics"].has("speedup"):
            node["metrics"]["speedup"]["median"].positive()


def _metrics(node: Node, outcome: str) -> dict[str, Metric]:
    if outcome != "ok" and not node.has("metrics"):
        return {}
    return {_RENAMED.get(name, name): _metric(metric) for name, metric in node["metrics"].items()}


def _metric(node: Node) -> Metric:
    exact = node.has("value")
    basis = node["basis"].one_of(BASES) if node.has("basis") else None
    return Metric(
        unit=node["unit"].text(),
        value=node["value"].number() if exact else node["median"].number(),
        ci95=_interval(node["ci95"]) if node.has("ci95") else None,
        samples=tuple(sample.number() for sample in node["samples"].elements())
        if node.has("samples")
        else (),
        exact=exact,
        basis=basis,
        samples_enough=node["samples_enough"].flag() if node.has("samples_enough") else None,
    )


def _interval(node: Node) -> Interval:
    ends = [end.number() for end in node.elements()]
    if len(ends) != 2 or ends[0] >= ends[1]:
        node.fail("[low, high] with low below high, and left out where there is no interval")
    return ends[0], ends[1]
