# SPDX-License-Identifier: Apache-2.0
"""The sources keep the arrows, each planted violation is found, and every header compiles alone.

The environment names what to check: ``KVROOF_ROOT``, and ``CXX`` with ``KVROOF_CXXFLAGS``.
"""

import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import arrows  # noqa: E402

ROOT = Path(os.environ.get("KVROOF_ROOT", Path(__file__).parents[2]))

PLANTED = [
    ("transfer/lane.cc", '#include "backends/host/device.h"', "must not include backends/host"),
    ("transfer/lane.cc", '#include "suites/harness/record.h"', "must not include suites"),
    ("transfer/lane.cc", "auto t = std::chrono::steady_clock::now();", "names steady_clock"),
    ("transfer/lane.h", "// the CUDA driver would not wait", "names CUDA"),
    ("transfer/lane_test.cc", '#include "suites/harness/record.h"', "must not include suites"),
    ("kernels/prefill/x.cc", '#include "transfer/engine.h"', "must not include transfer"),
    ("kernels/prefill/x.cc", "std::this_thread::sleep_for(1ms);", "names sleep_for"),
    (
        "kernels/model/x.h",
        '#include "kernels/prefill/prefill.h"',
        "must not include kernels/prefill",
    ),
    (
        "kernels/gemm/x.cc",
        '#include "kernels/model/model_shape.h"',
        "must not include kernels/model",
    ),
    (
        "backends/api/x.h",
        '#include "kernels/model/model_shape.h"',
        "must not include kernels/model",
    ),
    ("backends/host/x.cc", '#include "backends/sim/device.h"', "must not include backends/sim"),
    ("backends/sim/machine/x.cc", '#include "transfer/engine.h"', "must not include transfer"),
    ("backends/sim/x.cc", '#include "suites/catalog/models.h"', "must not include suites"),
    ("backends/sim/x.cc", 'open("suites/catalog/devices/a.json");', "only suites read"),
    ("suites/ttft/x.cc", '#include "backends/sim/device.h"', "must not include backends/sim"),
    ("suites/ttft/x.cc", "std::chrono::system_clock::now();", "names system_clock"),
]
FINE = [
    ("transfer/lane.cc", '#include "backends/api/device.h"'),
    ("transfer/lane_test.cc", '#include "backends/sim/test_profile.h"'),
    ("transfer/lane.cc", "// a relationship, a chip and a damned good ship"),
    ("backends/host/ops.cc", '#include "kernels/gemm/gemm.h"'),
    ("backends/sim/machine/flow.cc", '#include "backends/sim/profile.h"'),
    ("suites/harness/clock.cc", "std::chrono::system_clock::now();"),
    ("suites/ttft/x.cc", '#include "suites/catalog/models.h"'),
    ("suites/ttft/x.cc", '#include "git_state.h"'),
]


class Arrows(unittest.TestCase):
    def found_in(self, file: str, line: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file
            path.parent.mkdir(parents=True)
            path.write_text(line + "\n", encoding="utf-8")
            return [str(v) for v in arrows.violations(Path(folder))]

    def test_each_planted_violation_is_found(self) -> None:
        for file, line, sentence in PLANTED:
            with self.subTest(file=file, line=line):
                found = self.found_in(file, line)
                self.assertTrue(any(sentence in v for v in found), found)

    def test_what_is_allowed_is_not_reported(self) -> None:
        for file, line in FINE:
            with self.subTest(file=file, line=line):
                self.assertEqual(self.found_in(file, line), [])

    def test_a_source_that_includes_its_header_late_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "transfer"
            home.mkdir()
            (home / "x.h").touch()
            (home / "x.cc").write_text("#include <vector>\n", encoding="utf-8")
            found = list(arrows.first_include_is_own_header(Path(folder)))
        self.assertEqual([v.file for v in found], ["transfer/x.cc"])

    def test_the_house_keeps_its_arrows(self) -> None:
        self.assertGreater(len(list(arrows.sources(ROOT))), 50)
        self.assertEqual([str(v) for v in arrows.violations(ROOT)], [])

    def test_sources_include_their_own_header_first(self) -> None:
        self.assertEqual([str(v) for v in arrows.first_include_is_own_header(ROOT)], [])

    @unittest.skipUnless("CXX" in os.environ, "CXX is not set")
    def test_headers_without_a_source_compile_alone(self) -> None:
        command = [os.environ["CXX"], *shlex.split(os.environ.get("KVROOF_CXXFLAGS", ""))]
        headers = arrows.headers_to_compile(ROOT)
        self.assertIn(ROOT / "backends/api/device.h", headers)
        for header in headers:
            with self.subTest(header=str(header.relative_to(ROOT))):
                done = subprocess.run(
                    [*command, "-fsyntax-only", "-x", "c++", str(header)],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual(done.returncode, 0, done.stderr[:2000])


if __name__ == "__main__":
    unittest.main()
