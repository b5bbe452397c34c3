#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are missing, and says which. Needs root or sudo only if any is.
# Usage: install-packages.sh [build|test]      (test adds what the checks need)
set -euo pipefail

build="g++ cmake ninja-build pkg-config git nlohmann-json3-dev libcli11-dev libfmt-dev libspdlog-dev
  libxxhash-dev libsodium-dev libdnnl-dev libhwloc-dev libnuma-dev liburing-dev libbenchmark-dev libgtest-dev libgmock-dev
  python3 python3-matplotlib"
test="clang-format clang-tidy python3-jsonschema python3-pytest python3-venv"

wanted=$build
[ "${1:-build}" = test ] && wanted="$build $test"

missing=()
for package in $wanted; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
    missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
    echo "install-packages: as root, run: apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  root=(sudo)
fi
echo "install-packages: installing ${missing[*]}"
"${root[@]}" apt-get update -q
DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}"
