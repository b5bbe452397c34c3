# SPDX-License-Identifier: Apache-2.0
"""Check result files of kvroof: python3 check.py FILE...

Each against v1.json beside this script (by python3-jsonschema), and against the rules that a JSON
schema can't express because they compare values. FILE.part of an interrupted run is told by its
first line. Prints one sentence a finding. Exit 0: all are good; 1: one is not; 2: a file can't be
read, or jsonschema is not installed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).with_name("v1.json")


def interval_findings(figure: dict[str, Any], middle: str) -> Iterator[str]:
    """Yield what is wrong with the `ci95` of `figure` around the number called `middle`."""
    if "ci95" not in figure:
        return
    low, high = figure["ci95"]
    if not low < high:
        yield "ci95 must be wider than zero; leave out what was not drawn or sampled"
    elif not low <= figure[middle] <= high:
        yield f"ci95 must lie around {middle}"


def rule_findings(record: dict[str, Any]) -> Iterator[str]:
    """Yield the findings in a record that already fits the schema."""
    for i, case in enumerate(record["cases"]):
        for name, metric in case["metrics"].items():
            for finding in interval_findings(metric, "median"):
                yield f"cases/{i}/metrics/{name}: {finding}"
    for i, answer in enumerate(record["answers"]):
        for finding in interval_findings(answer, "context_tokens"):
            yield f"answers/{i}: {finding}"


def findings(record: Any, schema: dict[str, Any]) -> list[str]:
    """Return everything that is wrong with a parsed record."""
    import jsonschema

    errors = sorted(
        jsonschema.Draft7Validator(schema).iter_errors(record), key=lambda e: str(e.path)
    )
    if errors:
        return [f"{'/'.join(map(str, e.absolute_path)) or 'record'}: {e.message}" for e in errors]
    return list(rule_findings(record))


def is_part(text: str) -> bool:
    """Tell FILE.part's text from a record's: its first line is an object, and has `part`."""
    try:
        header = json.loads(text.split("\n", 1)[0])
    except ValueError:
        return False
    return isinstance(header, dict) and "part" in header


def part_findings(text: str, schema: dict[str, Any]) -> list[str]:
    """Return everything that is wrong with FILE.part, but for a last line that is cut short."""
    import jsonschema

    header, *cases = [json.loads(line, parse_constant=_refuse) for line in text.split("\n")[:-1]]
    found = [] if header.get("complete") is False else ["complete: false is expected in a part"]
    for i, entry in enumerate([header, *cases]):
        kind = {"$ref": f"#/definitions/{'part_case' if i else 'part_header'}"}
        validator = jsonschema.Draft7Validator({**kind, "definitions": schema["definitions"]})
        errors = validator.iter_errors(entry.pop("part", None))
        found += [f"line {i + 1}: part: {error.message}" for error in errors]
    whole = {**header, "finished": header.get("started"), "cases": cases, "answers": []}
    return found + findings(whole, schema)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def main(files: list[str]) -> int:
    """Check `files`; return the exit code."""
    try:
        import jsonschema  # noqa: F401
    except ImportError:
        print("check.py needs jsonschema: install python3-jsonschema", file=sys.stderr)
        return 2
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    worst = 0
    for file in files:
        try:
            text = Path(file).read_text(encoding="utf-8")
            if is_part(text):
                found = part_findings(text, schema)
            else:
                found = findings(json.loads(text, parse_constant=_refuse), schema)
        except (OSError, ValueError, RecursionError) as error:
            print(f"{file}: can't be read as JSON: {error}", file=sys.stderr)
            return 2
        for finding in found:
            print(f"{file}: {finding}")
            worst = 1
    return worst


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
