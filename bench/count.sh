#!/usr/bin/env bash
# count.sh PROGRAM EXPECTED [--write]: counts the instructions of shoal_counts with callgrind and prints them beside those of
# the file EXPECTED. Fails when a call takes over 3 % more than expected, or is missing. --write renews the file.
set -euo pipefail
program=$1 expected=$2 write=${3:-}
if [[ -n $write && $write != --write ]]; then
    printf 'count.sh: there is no option "%s"; there is --write\n' "$write" >&2
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Libraries are linked at the start, or the first call of memcpy would count. One file per call, with its name and the instructions since the counter was set to zero.
LD_BIND_NOW=1 valgrind -q --tool=callgrind --callgrind-out-file="$work/out" "$program" >"$work/operations"
awk '/^desc: Trigger: Client Request: / { name = $5 }
     /^totals: / && name != "" { print name, $2; name = "" }' "$work"/out.* >"$work/instructions"

# NAME INSTRUCTIONS, per operation, in the order of the program.
awk 'NR == FNR { total[$1] = $2; next }
     $1 in total { printf "%s %.2f\n", $1, total[$1] / $2 }
     !($1 in total) { print "count.sh: callgrind did not see " $1 > "/dev/stderr"; exit 1 }' \
    "$work/instructions" "$work/operations" >"$work/now"

if [[ -n $write ]]; then
    cp "$work/now" "$expected"
    printf 'written: %s\n' "$expected"
fi
awk 'BEGIN { printf "%-30s %12s %12s %8s\n", "instructions per operation", "expected", "now", "ratio" }
     NR == FNR { expected[$1] = $2; next }
     { seen[$1] = 1
       if (!($1 in expected)) { printf "%-30s %12s %12.2f %8s  new: renew the file with --write\n", $1, "-", $2, "-"; bad = 1; next }
       ratio = $2 / expected[$1]
       more = ratio > 1.03 ? "  more than expected" : ratio < 0.97 ? "  less: renew the file with --write" : ""
       if (ratio > 1.03) bad = 1
       printf "%-30s %12.2f %12.2f %8.3f%s\n", $1, expected[$1], $2, ratio, more }
     END { for (name in expected) if (!(name in seen)) { print name " is expected and was not counted"; bad = 1 }
           exit bad }' "$expected" "$work/now"
