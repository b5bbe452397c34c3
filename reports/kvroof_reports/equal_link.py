# SPDX-License-Identifier: Apache-2.0
"""Print the link rate at which loading a recomputed context would take as long as computing it.

Usage: python -m kvroof_reports.equal_link FILE

FILE is the record of a run of plan recompute; its longest context counts. The rate is an option's
text: ``device:link=RATE``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

BYTES = {"f32": 4, "bf16": 2, "fp8": 1, "int8": 1}


def equal_link(record: dict[str, Any]) -> float:
    """Return the rate in bytes a second: K and V of all layers over the time to first token."""
    cases = [
        case
        for case in record["cases"]
        if case["outcome"] == "ok" and case["params"]["plan"] == "recompute"
    ]
    case = max(cases, key=lambda one: one["params"]["context_tokens"])
    model, params = record["model"], case["params"]
    token = 2 * model["layers"] * model["kv_heads"] * model["head_dim"] * BYTES[params["kv_dtype"]]
    return params["context_tokens"] * token / case["metrics"]["ttft"]["median"]


def main() -> None:
    """Print the rate."""
    record = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print(f"{equal_link(record) / 1e6:.4g}MB/s")


if __name__ == "__main__":
    main()
