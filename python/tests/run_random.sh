#!/usr/bin/env bash
# Random calls of the Python module with the address sanitizer: run_random.sh [CALLS]. Needs the build of ./dev build asan.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cmake --build "$root/build/asan" --target shoal_python
site=$root/build/asan/python/site
rm -rf "$site"
mkdir -p "$site/shoal"
cp "$root"/python/shoal/* "$root"/build/asan/python/_core*.so "$site/shoal"
cd "$root/python/tests"
# Python itself leaks, and keeps small objects in memory of its own unless it is told not to.
SHOAL_PYTHON_CALLS=${1:-1000000} PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=$site PYTHONDONTWRITEBYTECODE=1 \
    LD_PRELOAD=$(clang++-19 -print-file-name=libclang_rt.asan-x86_64.so) \
    /usr/bin/python3 -m pytest -q -p no:cacheprovider --show-capture=no "${@:2}"
