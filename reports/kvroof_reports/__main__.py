# SPDX-License-Identifier: Apache-2.0
"""`kvroof report`: from result files to report.html, report.md and figures."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kvroof_reports.load import load_records
from kvroof_reports.node import InputError

_EXAMPLE = """example:
  kvroof run ttft --device sim:h100-sxm --model llama-3.1-8b --context 1k,10k,100k --out h100.json
  kvroof report h100.json --out report
  then open report/report.html

A folder stands for all records (*.json) directly in it.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 0 is done, 2 is bad input."""
    options = _parser().parse_args(arguments)
    try:
        out = _path(options.out, "--out")
        records = load_records([_path(file, "FILE") for file in options.files], _tell)
        # Figures need matplotlib; bad input is told without it.
        from kvroof_reports.report import build
        from kvroof_reports.write import write

        written = write(build(records), out)
    except InputError as error:
        print(f"kvroof report: {error}", file=sys.stderr)
        return 2
    except (OverflowError, ValueError) as error:
        print(f"kvroof report: a figure in these files can't be shown: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(
            f"kvroof report: {sys.executable} has no {error.name}; install python3-matplotlib.",
            file=sys.stderr,
        )
        return 2
    print(written[0])
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kvroof report",
        description="Write report.html (one file, opens offline), report.md and figures from "
        "result files of `kvroof run`.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="a file that run --out wrote, or a folder of them"
    )
    parser.add_argument("--out", metavar="DIR", required=True, help="the folder to write to")
    return parser


def _tell(sentence: str) -> None:
    print(f"kvroof report: {sentence}", file=sys.stderr)


def _path(text: str, what: str) -> Path:
    """Return a path that was given; an empty one would silently be the current folder."""
    if not text:
        raise InputError(f"{what} is empty; give . for the current folder.")
    return Path(text)


if __name__ == "__main__":
    sys.exit(main())
