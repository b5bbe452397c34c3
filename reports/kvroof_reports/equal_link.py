# SPDX-License-Identifier: Apache-2.0
"""Print the link rate at which loading a context would take as long as recomputing it.

Usage: python -m kvroof_reports.equal_link FILE

FILE is the record of a run of plans recompute and copy over any link; its longest context counts.
The rate is an option's text: ``device:link=RATE``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kvroof_reports.load import load_record
from kvroof_reports.node import InputError
from kvroof_reports.rows import Record
from kvroof_reports.series import Point, series_of


def equal_link(record: Record) -> float:
    """Return the rate in bytes a second: what a copy loads over the time to recompute it.

    Raises
    ------
    InputError
        At no context both plans are ok and something is loaded.
    """
    points = [point for series in series_of(record) for point in series.points]
    rates = [(point.context, rate) for point in points if (rate := _rate(point))]
    if not rates:
        raise InputError(
            f"{record.path}: no context has an ok recompute case beside an ok copy case that loads "
            "something; give a run with --plan recompute,copy of a context of a chunk or more."
        )
    return max(rates)[1]


def _rate(point: Point) -> float | None:
    recompute, copy = point.ttft("recompute"), point.ok("copy")
    loaded = copy.value("bytes_loaded") if copy else None
    return loaded / recompute.value if recompute and loaded else None


def main(arguments: list[str] | None = None) -> int:
    """Print the rate; 0 is done, 2 is bad usage or input."""
    words = sys.argv[1:] if arguments is None else arguments
    if words in (["-h"], ["--help"]):
        print((__doc__ or "").strip())
        return 0
    try:
        if len(words) != 1:
            raise InputError("equal_link: give one FILE, the record of a run of both pure plans.")
        print(f"{equal_link(load_record(Path(words[0]))) / 1e6:.4g}MB/s")
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
