# SPDX-License-Identifier: Apache-2.0
"""The house's arrows: which folder may include which, where a clock may be read, who names vendors.

``python3 arrows.py ROOT`` prints each violation as ``file:line: sentence`` and exits 1 if any.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DEVICE_CODE = ("kernels/portable/", "kernels/attention/", "kernels/gemm/")
CONTRACT = ("backends/api/",)
SHARED = ("backends/os/", "backends/queues/")
MODEL = ("kernels/model/",)
ENGINE = (*CONTRACT, *MODEL, "kernels/prefill/")

# Folder: what its files may include besides their own folder. The longest match counts.
ALLOWED: dict[str, tuple[str, ...]] = {
    "backends/api/": (),
    "backends/registry/": (*CONTRACT, "backends/host/adapter.h", "backends/sim/adapter.h"),
    "backends/conformance/": CONTRACT,
    "backends/os/": CONTRACT,
    "backends/queues/": (*CONTRACT, "kernels/portable/"),
    "backends/disk/": (*CONTRACT, *SHARED),
    "backends/faults/": (*CONTRACT, "backends/queues/"),
    "backends/stream/": (*CONTRACT, *SHARED),
    "backends/cuda/": (*CONTRACT, *SHARED, "backends/stream/"),
    # An adapter: the contract, what adapters share, device code, and the two headers by which it
    # is registered.
    "backends/": (
        *CONTRACT,
        *SHARED,
        *DEVICE_CODE,
        "backends/disk/",
        "backends/registry/device_spec.h",
        "backends/registry/registry.h",
    ),
    "kernels/model/": CONTRACT,
    "kernels/portable/": (*CONTRACT, *DEVICE_CODE),
    "kernels/attention/": (*CONTRACT, *DEVICE_CODE),
    "kernels/gemm/": (*CONTRACT, *DEVICE_CODE),
    "kernels/prefill/": (*CONTRACT, *MODEL),
    "transfer/": ENGINE,
    "transfer/disk/": (*ENGINE, "transfer/", "backends/os/errors.h"),  # it opens a directory
    "suites/": (*ENGINE, "transfer/", "suites/", "backends/registry/"),
}
# Tests and benchmarks open real devices, and compare with what stands beside.
TESTS_TOO = ("backends/", *DEVICE_CODE, *ENGINE, "tests/doubles/")

SOURCES = ("backends", "kernels", "transfer", "suites")
IS_TEST = re.compile(r"(_test|_bench|_fixture|/test_\w+)\.(cc|h)$")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
CLOCK = re.compile(
    r"\b(steady_clock|system_clock|high_resolution_clock|sleep_for|sleep_until|clock_gettime"
    r"|gettimeofday|usleep|nanosleep)\b"
)
NO_CLOCK = ("transfer/", "kernels/model/", "kernels/prefill/", "suites/")
OWN_CLOCK = ("suites/harness/",)
VENDOR = re.compile(
    r"\b(cuda|nvidia|rocm|hip|amd|radeon|intel|xpu|sycl|level.?zero)", re.IGNORECASE
)
NO_VENDOR = ("transfer/",)
CATALOG = "suites/catalog/"


@dataclass(frozen=True)
class Violation:
    """One line that goes against an arrow."""

    file: str
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.sentence}"


def violations(root: Path) -> Iterator[Violation]:
    """Every violation under ``root``, in the order of files and lines."""
    for path in sources(root):
        file = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for sentence in (*wrong_include(file, line), *wrong_words(file, line)):
                yield Violation(file, number, sentence)


def sources(root: Path) -> Iterator[Path]:
    """The C++ files of the house below ``root``."""
    for top in SOURCES:
        yield from sorted(p for p in (root / top).rglob("*") if p.suffix in (".cc", ".h"))


def wrong_include(file: str, line: str) -> Iterator[str]:
    """What is wrong with the include on this line, if there is one."""
    match = INCLUDE.match(line)
    if not match or "/" not in match[1]:  # a header that the build makes has no folder
        return
    target = match[1]
    own = file.rpartition("/")[0] + "/"
    folder = max((f for f in ALLOWED if file.startswith(f)), key=len)
    if folder == "backends/":  # each adapter's own folder is the one below
        own = "/".join(file.split("/")[:2]) + "/"
    allowed = (own, folder if folder != "backends/" else own, *ALLOWED[folder])
    if IS_TEST.search(file):
        allowed += TESTS_TOO
    if not target.startswith(allowed):
        yield f"{folder} must not include {target}"


def wrong_words(file: str, line: str) -> Iterator[str]:
    """Clocks, vendors and the catalogue where they don't belong."""
    if IS_TEST.search(file):
        return
    if file.startswith(NO_CLOCK) and not file.startswith(OWN_CLOCK) and (m := CLOCK.search(line)):
        yield f"only the device's clock is read here, and this names {m[0]}"
    if file.startswith(NO_VENDOR) and (m := VENDOR.search(line)):
        yield f"the engine names no vendor, and this names {m[0]}"
    if not file.startswith("suites/") and CATALOG in line:
        yield "only suites read the catalogue"


def first_include_is_own_header(root: Path) -> Iterator[Violation]:
    """``x.cc`` includes ``x.h`` first, which proves that ``x.h`` compiles alone."""
    for path in sources(root):
        header = path.with_suffix(".h")
        if path.suffix != ".cc" or not header.exists():
            continue
        wanted = header.relative_to(root).as_posix()
        first = next(
            (
                i
                for i in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
                if i[1].startswith("#include")
            ),
            (1, ""),
        )
        if first[1] != f'#include "{wanted}"':
            file = path.relative_to(root).as_posix()
            yield Violation(file, first[0], f"the first include must be {wanted}")


def headers_to_compile(root: Path) -> list[Path]:
    """Headers without a source of their own name, which nothing else proves to compile alone."""
    return [p for p in sources(root) if p.suffix == ".h" and not p.with_suffix(".cc").exists()]


def main() -> int:
    """Print what points the wrong way below the folder that the command line names."""
    root = Path(sys.argv[1]).resolve()
    found = [*violations(root), *first_include_is_own_header(root)]
    for violation in found:
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
