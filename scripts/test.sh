#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every check: format and lint, address and undefined-behaviour sanitizers, thread sanitizer, and
# last the release build with all tests. Installs what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

# build PRESET [TARGET...]: configures and builds.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null
  cmake --build "build/$preset" ${1:+--target "$@"}
}

scripts/install-packages.sh test
if [ ! -x .venv/bin/ruff ]; then
  /usr/bin/python3 -m venv .venv
  .venv/bin/pip install --quiet ruff==0.17.6
fi

say "Format and lint"
git ls-files '*.h' '*.cc' | xargs clang-format --dry-run --Werror
.venv/bin/ruff check .
.venv/bin/ruff format --check .
cmake --preset ci >/dev/null
cmake --build build/ci --target kvroof_git_state
git ls-files '*.cc' | grep -vE '_(test|bench)\.cc$' | xargs -P "$(nproc)" -n 4 clang-tidy --quiet --extra-arg=-Wno-error -p build/ci

say "AddressSanitizer and UndefinedBehaviorSanitizer"
build asan kvroof_unit_tests
ctest --preset asan

say "ThreadSanitizer: transfer/ and backends/"
build tsan kvroof_tsan_tests
ctest --preset tsan

say "Release"
build ci
ctest --preset ci
