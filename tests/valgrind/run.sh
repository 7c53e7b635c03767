#!/usr/bin/env bash
# run.sh SOURCE BUILD RESULTS REPORTS: runs the tests that tests.txt names, of a build without sanitizers, and the tool on a
# sample, in valgrind, which finds reads of memory that was never written. Appends `pass valgrind/...` and `fail valgrind/...`
# to RESULTS, a line for each test and one for each program that valgrind complains about.
set -uo pipefail

source=$1 build=$2 results=$3 reports=$4
mkdir -p "$reports"

# libhwy asks for the time when it is loaded, with an instruction (rdtscp) that valgrind refuses where a virtual machine hides
# it. What is asked for is only used by benchmarks of libhwy, so a function that is loaded before it answers. Its path has no
# spaces, which would end it.
preload=$(mktemp --directory --tmpdir=/tmp)
trap 'rm -rf "$preload"' EXIT
c++ -shared -fPIC -o "$preload/timer.so" "$source/tests/valgrind/timer.cpp" || exit 1
memcheck=(env LD_PRELOAD="$preload/timer.so"
    valgrind --quiet --error-exitcode=99 --suppressions="$source/tests/valgrind/valgrind.supp")

# Runs a command, and says what became of it: check NAME COMMAND...
check() {
    local name=$1 status=0
    shift
    "$@" >"$reports/$name.log" 2>&1 || status=$?
    if ((status == 0)); then
        echo "pass valgrind/$name" >>"$results"
        return
    fi
    cat "$reports/$name.log"
    local what="exit code $status"
    if ((status == 99)); then what="it reads what was never written, or memory that is not its own"; fi
    echo "fail valgrind/$name ($what)" >>"$results"
}

check_tests() { # check_tests PROGRAM FILTER
    local num_tests
    num_tests=$("$build/tests/$1" --gtest_list_tests --gtest_filter="$2" | grep -c '^  ')
    if ((num_tests == 0)); then
        echo "fail valgrind/$1 (tests/valgrind/tests.txt names no test of it)" >>"$results"
        return
    fi
    GTEST_OUTPUT="json:$reports/$1.json" check "$1" "${memcheck[@]}" "$build/tests/$1" --gtest_filter="$2" --gtest_brief=1
}

# The lagoon as text, compiled, checked, spawned and run for three frames.
check_tool() {
    local shoal=$build/apps/shoal/shoal lagoon=$source/samples/lagoon/lagoon
    check shoal_compile "${memcheck[@]}" "$shoal" compile "$lagoon.sjson" --schema "$lagoon.schema.sjson" \
        -o "$reports/lagoon.blob"
    check shoal_dump "${memcheck[@]}" "$shoal" dump "$reports/lagoon.blob"
    check shoal_run "${memcheck[@]}" "$shoal" run "$reports/lagoon.blob" --frames 3 --save "$reports/lagoon.save"
}

# Two at a time: valgrind runs a program on one core.
check_tool &
while read -r program filter; do
    while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n; done
    check_tests "$program" "$filter" &
done < <(grep -v '^#' "$source/tests/valgrind/tests.txt")
wait
! grep -q '^fail' "$results"
