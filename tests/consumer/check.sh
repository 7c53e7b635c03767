#!/usr/bin/env bash
# check.sh ROOT BUILD RESULTS KIND...: installs the libraries of a build folder by kind (static, shared), moves the
# installed tree, and builds another project on it with CMake and with pkg-config. With the kind `sources`, the other
# project builds shoal itself. Works in BUILD/consumer. Adds `pass NAME` and `fail NAME` lines to RESULTS.
# shellcheck disable=SC2317  # the checks are called by name
set -euo pipefail
root=$1 build=$2 results=$3
kinds=("${@:4}")
work=$build/consumer
source=$root/tests/consumer
expected="shoal 0.1 works"

install_shoal() { # install_shoal KIND
    local prefix=$work/$1
    rm -rf "$prefix" "$prefix.elsewhere"
    cmake --install "$build" --component "$1" --prefix "$prefix.elsewhere"
    mv "$prefix.elsewhere" "$prefix"
}

# The option for a processor that can multiply and add at once, if that is what this one is.
can_fuse() { if grep -qsw fma /proc/cpuinfo; then echo -mfma; fi; }

use_cmake() {
    local folder=$work/use_cmake_$1
    rm -rf "$folder"
    cmake -S "$source" -B "$folder" -G Ninja -DCMAKE_PREFIX_PATH="$work/$1" -DSHOAL_CONSUMER_PROCESSOR="$(can_fuse)"
    cmake --build "$folder"
    [[ $("$folder/consumer") == "$expected" ]]
    "$folder/rounding"
    if has_checked "$1"; then [[ $("$folder/consumer_checked") == "$expected with checks" ]]; fi
}

# Plugins of another project, which has the C interface and nothing else, in a program of it and in the tool.
use_plugins() {
    local folder=$work/use_plugins_$1 plugin=$work/use_plugins_$1/plugins/libspin.so
    rm -rf "$folder"
    cmake -S "$root/plugins" -B "$folder" -G Ninja -DCMAKE_PREFIX_PATH="$work/$1"
    cmake --build "$folder"
    [[ $(nm -D --defined-only "$plugin" | grep -c ' T ') == 1 ]]
    [[ $("$work/use_cmake_$1/consumer" "$plugin") == "$expected" ]]
}

# Where the tool is, man and the shells find what they need.
installs_manuals() {
    local share=$work/$1/share file
    [[ -x $work/$1/bin/shoal ]] || return 0
    for file in man/man1/shoal.1 bash-completion/completions/shoal zsh/site-functions/_shoal \
        fish/vendor_completions.d/shoal.fish; do
        grep -q -e --offset-tables -e '\\-\\-offset\\-tables' -e '-l offset-tables' "$share/$file"
    done
}

has_checked() { compgen -G "$work/$1/lib/libshoal_checked.*" >/dev/null; } # has_checked KIND

# What the build of another project contains of shoal: nothing that it did not ask for.
contain() { # contain FetchContent|add_subdirectory FOLDER
    rm -rf "$2"
    cmake -S "$source" -B "$2" -G Ninja -DSHOAL_FROM="$1" -DSHOAL_SOURCES="$root" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "${@:3}"
}

brings_libraries_only() {
    local folder=$work/$1 built rules
    contain "$1" "$folder"
    built=$(ninja -C "$folder" -t inputs all)
    [[ $built == *libshoal.a* ]]
    if grep -E 'shoal/(tests|samples|examples|bench|apps)/' <<<"${built//"$root"/shoal}" | grep -v consumer; then return 1; fi
    if grep -- '-Werror.*src/base' "$folder/compile_commands.json"; then return 1; fi
    rules=$(find "$folder" -name cmake_install.cmake -exec grep -h 'file(INSTALL' {} +)
    [[ $rules == *consumer* && $(wc -l <<<"$rules") == 1 ]]
    [[ $(ctest --test-dir "$folder" -N) == *"Total Tests: 0"* ]]
}

# A project that names no build type compiles without optimisation, which is quick.
use_build() {
    local folder=$work/use_$1
    contain "$1" "$folder" -DCMAKE_BUILD_TYPE= -DSHOAL_WARNINGS_AS_ERRORS=ON
    cmake --build "$folder" --target consumer
    [[ $("$folder/consumer") == "$expected" ]]
}

flags() { # flags KIND FLAVOUR: what it takes to use every library of a flavour that is installed
    local folder=$work/$1/lib/pkgconfig options=(--cflags --libs) package packages=()
    for package in shoal shoal-source shoal-inspect; do
        if [[ -f $folder/$package$2.pc ]]; then packages+=("$package$2"); fi
    done
    if [[ $1 == static ]]; then options+=(--static); fi
    PKG_CONFIG_PATH=$folder pkg-config "${options[@]}" "${packages[@]}"
}

compile() { # compile KIND FLAVOUR [OPTION...]
    local words
    read -ra words <<<"$(flags "$1" "$2")"
    g++ -std=c++20 "$source/main.cpp" -o "$work/use_pc_$1" "${@:3}" "${words[@]}"
}

round_with_pkg_config() {
    local words
    read -ra words <<<"$(flags "$1" "")"
    # shellcheck disable=SC2046  # no option, or one
    g++ -std=c++20 -O2 $(can_fuse) "$source/rounding.cpp" -o "$work/rounding_pc_$1" "${words[@]}"
    LD_LIBRARY_PATH=$work/$1/lib "$work/rounding_pc_$1"
}

use_pkg_config() {
    compile "$1" ""
    [[ $(LD_LIBRARY_PATH=$work/$1/lib "$work/use_pc_$1") == "$expected" ]]
    round_with_pkg_config "$1"
    has_checked "$1" || return 0
    compile "$1" -checked
    [[ $(LD_LIBRARY_PATH=$work/$1/lib "$work/use_pc_$1") == "$expected with checks" ]]
}

# A program built for checked mode, or for other ids, must not link with libraries built without it.
mixed_builds_do_not_link() {
    local output
    output=$(compile "$1" "" -DSHOAL_CHECKED=1 2>&1) && return 1
    [[ $output == *"undefined reference to \`shoal_is_built_with_checks'"* ]]
    output=$(compile "$1" "" -DSHOAL_CHECKED=1 -DSHOAL_INDEX_BITS=16 2>&1) && return 1
    [[ $output == *"undefined reference to \`shoal_is_built_with_16_index_bits_and_checks'"* ]]
    output=$(compile "$1" "" -DSHOAL_WIDE_IDS=1 2>&1) && return 1
    [[ $output == *"undefined reference to \`shoal_is_built_with_wide_ids'"* ]]
    output=$(compile "$1" "" -DSHOAL_WIDE_IDS=1 -DSHOAL_INDEX_BITS=16 2>&1) && return 1
    [[ $output == *"SHOAL_INDEX_BITS is for 32-bit ids"* ]]
}

# A program that links both flavours is told by whoever notices first.
one_flavour_in_a_program() {
    local output folder=$work/use_cmake_$1
    output=$(cmake -S "$source" -B "$folder" -DSHOAL_MIXED=ON 2>&1) && return 1
    [[ ${output//$'\n'/ } == *'INTERFACE_SHOAL_CHECKED property of "shoal::source_checked" does not agree'* ]]
    if output=$(compile "$1" "" -L"$work/$1/lib" -Wl,--no-as-needed -lshoal_checked 2>&1); then
        output=$(LD_LIBRARY_PATH=$work/$1/lib "$work/use_pc_$1" 2>&1) && return 1
        [[ $output == *"this program has loaded two kinds of shoal's libraries, shoal_is_built_with"* ]]
    else
        [[ $output == *"multiple definition of \`shoal_has_one_kind_of_build_in_a_program'"* ]]
    fi
}

# What a shared library exports is in namespace shoal or begins with shoal_.
exports_are_ours() {
    local library foreign
    for library in "$work"/shared/lib/libshoal*.so; do
        foreign=$(nm -D --defined-only "$library" | cut -d' ' -f3- | grep -Ev '^_ZNK?5shoal' | c++filt |
            grep -Ev '^(typeinfo( name)? for |vtable for |VTT for |guard variable for )?shoal(::|_)' || true)
        if [[ -n $foreign ]]; then
            printf '%s exports what is not its own:\n%s\n' "$library" "$foreign"
            return 1
        fi
        [[ $(nm -DC --defined-only "$library") == *shoal::* ]]
    done
}

# Runs a check in a shell of its own and notes how it ended.
check() {
    local name=consumer/$1_$2 status
    printf -- '--- %s\n' "$name"
    set +e
    (set -e; "$@")
    status=$?
    set -e
    if ((status == 0)); then echo "pass $name" >>"$results"; else echo "fail $name" >>"$results"; fi
    all_status=$((all_status | status))
}

# Everything that is asked of a kind; the exit code is that of the checks.
check_kind() { # check_kind KIND
    all_status=0
    if [[ $1 == sources ]]; then
        check brings_libraries_only FetchContent
        check brings_libraries_only add_subdirectory
        check use_build FetchContent
        return "$all_status"
    fi
    check install_shoal "$1"
    check installs_manuals "$1"
    check use_cmake "$1"
    check use_plugins "$1"
    check use_pkg_config "$1"
    check mixed_builds_do_not_link "$1"
    if has_checked "$1"; then check one_flavour_in_a_program "$1"; fi
    if [[ $1 == shared ]]; then check exports_are_ours shared; fi
    return "$all_status"
}

# The kinds are checked at the same time: much of a check is one compiler on one core.
export CMAKE_COLOR_DIAGNOSTICS=OFF
mkdir -p "$work"
for kind in "${kinds[@]}"; do
    check_kind "$kind" >"$work/$kind.log" 2>&1 &
done
status=0
for process in $(jobs -p); do wait "$process" || status=1; done
for kind in "${kinds[@]}"; do cat "$work/$kind.log"; done
exit "$status"
