#!/usr/bin/env bash
# check.sh ROOT BUILD RESULTS: builds what reads and writes blobs for a big-endian machine, which QEMU stands in for, and
# compares it with this one. Works in BUILD/endianness. Adds `pass NAME` and `fail NAME` lines to RESULTS.
# shellcheck disable=SC2317  # the checks are called by name
set -euo pipefail
root=$1 build=$2 results=$3
work=$build/endianness
machine=s390x-linux-gnu
emulator=(qemu-s390x -L "/usr/$machine")

# One object per room. What is left out of the resource room needs rooms that spawn, and those need threads. The linker
# drops what nothing needs; xxHash is compiled into the object that uses it.
build_there() {
    local room name
    for room in base document state entity table; do
        printf '#include "%s"\n' "$root/src/$room"/*.cpp >"$work/$room.cpp"
    done
    for name in blob blob_check blob_values blob_writer old_words property_table dump migration registry swap_endianness; do
        echo "#include \"$root/src/resource/$name.cpp\""
    done >"$work/resource.cpp"
    cp "$root/tests/endianness/sample_blob.cpp" "$work/sample_blob.cpp"
    printf '%s\n' base document state entity table resource sample_blob | xargs -I NAME -P "$(nproc)" \
        "$machine-g++" -std=c++20 -O0 -DNDEBUG -DXXH_INLINE_ALL -ffunction-sections -Wno-subobject-linkage -I "$root/include" -I "$root/src" \
        -I "$root/tests" -c "$work/NAME.cpp" -o "$work/NAME.o"
    "$machine-g++" "$work"/*.o -Wl,--gc-sections -o "$work/there"
}

build_here() { cp "$build/tests/sample_blob" "$work/here"; }

there() { "${emulator[@]}" "$work/there" "$@"; }
here() { "$work/here" "$@"; }

a_big_endian_blob_of_this_machine_is_byte_for_byte_that_of_a_big_endian_machine() {
    here write swapped "$work/big_of_here"
    there write native "$work/big_of_there"
    cmp "$work/big_of_here" "$work/big_of_there"
}

a_little_endian_blob_of_a_big_endian_machine_is_byte_for_byte_that_of_this_machine() {
    here write native "$work/little_of_here"
    there write swapped "$work/little_of_there"
    cmp "$work/little_of_here" "$work/little_of_there"
}

a_big_endian_machine_loads_the_blob_that_was_made_for_it_and_finds_the_same_in_it() {
    here show "$work/little_of_here" >"$work/shown_here"
    there show "$work/big_of_here" >"$work/shown_there"
    grep -q 'energy = 0.5' "$work/shown_there"
    cmp "$work/shown_here" "$work/shown_there"
}

a_big_endian_machine_refuses_the_blob_of_this_machine() {
    if there show "$work/little_of_here" >/dev/null 2>"$work/refusal"; then return 1; fi
    grep -q -e "--endian big" "$work/refusal"
}

check() { # check NAME: runs a function of that name
    local word=pass
    (set -e; "$1") || word=fail
    echo "$word endianness/$1" >>"$results"
}

rm -rf "$work"
mkdir -p "$work"
build_there
build_here
for name in a_big_endian_blob_of_this_machine_is_byte_for_byte_that_of_a_big_endian_machine \
    a_little_endian_blob_of_a_big_endian_machine_is_byte_for_byte_that_of_this_machine \
    a_big_endian_machine_loads_the_blob_that_was_made_for_it_and_finds_the_same_in_it \
    a_big_endian_machine_refuses_the_blob_of_this_machine; do
    check "$name"
done
