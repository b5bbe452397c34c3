# SPDX-License-Identifier: Apache-2.0
"""Published reference points, and whether a run is the one that they speak of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvroof_reports.load import read_json
from kvroof_reports.node import Node
from kvroof_reports.rows import Interval
from kvroof_reports.series import Series

# The same place in the source tree (results/published) and installed (share/kvroof/results/...).
FOLDER = Path(__file__).resolve().parents[2] / "results" / "published"


@dataclass(frozen=True)
class PublishedPoint:
    """What was published for one context; low and high are two readings of the chart."""

    context: int
    recompute: Interval  # seconds
    copy: Interval  # seconds
    gated: bool

    def band(self, plan: str) -> Interval:
        """Return the TTFT of a plan."""
        return self.recompute if plan == "recompute" else self.copy

    @property
    def speedup(self) -> Interval:
        """What the readings allow for recompute over copy."""
        return self.recompute[0] / self.copy[1], self.recompute[1] / self.copy[0]


@dataclass(frozen=True)
class Published:
    """One publication."""

    name: str
    source_url: str
    claim: str
    claimed_speedup: Interval
    setting: str
    how_read: str
    models: tuple[str, ...]
    devices: tuple[str, ...]
    params: Mapping[str, Any]
    points: tuple[PublishedPoint, ...]

    def matches(self, series: Series) -> bool:
        """Whether a series is of the published model, device and setting."""
        whole = series.record.whole_layers
        params = {name: value for name, value in series.params.items() if name in self.params}
        return (
            _slug(series.record.model_name) in self.models
            and _slug(series.record.device_name) in self.devices
            and not _has_options(series.record.argv)
            and series.params.get("layers") in (None, whole)
            and all(self.params[name] == value for name, value in params.items())
        )

    def among(self, contexts: Sequence[int]) -> list[PublishedPoint]:
        """Return the points of these contexts."""
        return [point for point in self.points if point.context in contexts]


def load_published(folder: Path = FOLDER) -> list[Published]:
    """Read every publication in `folder`."""
    return [_published(Node(read_json(path), path)) for path in sorted(folder.glob("*.json"))]


def published_for(series: Series, known: list[Published]) -> Published | None:
    """Return the publication that speaks of a series, if there is one."""
    return next((published for published in known if published.matches(series)), None)


def _has_options(argv: tuple[str, ...]) -> bool:
    """Whether the device was changed by an option, as in `sim:h100-sxm,link=pcie4x16`."""
    named = [word.removeprefix("--device=") for word in argv if word.startswith("--device=")]
    named += [word for flag, word in zip(argv, argv[1:]) if flag == "--device"]
    return any("=" in word for word in named)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")


def _published(node: Node) -> Published:
    matches = node["matches"]
    return Published(
        name=node["name"].text(),
        source_url=node["source_url"].text(),
        claim=node["claim"].text(),
        claimed_speedup=_interval(node["claimed_speedup"]),
        setting=node["setting"].text(),
        how_read=node["how_read"].text(),
        models=tuple(name.text() for name in matches["models"].elements()),
        devices=tuple(name.text() for name in matches["devices"].elements()),
        params=matches["params"].object(),
        points=tuple(_point(point) for point in node["points"].elements()),
    )


def _point(node: Node) -> PublishedPoint:
    return PublishedPoint(
        context=node["context_tokens"].whole(),
        recompute=_interval(node["recompute_ms"], 1e-3),
        copy=_interval(node["copy_ms"], 1e-3),
        gated=node["gated"].flag(),
    )


def _interval(node: Node, unit: float = 1.0) -> Interval:
    low, high = (end.positive() * unit for end in node.elements())
    return low, high
