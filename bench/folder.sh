#!/usr/bin/env bash
# How long `shoal compile FOLDER` takes, in milliseconds of the whole process: 1,000 sources that use 20 prefabs, and a level
# of 10,000 entities. Each number is the least of several runs.
#
#     bench/folder.sh build/release/apps/shoal/shoal
set -euo pipefail

shoal=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

make_sources() {
    mkdir -p many/prefabs level/prefabs
    for n in $(seq 20); do
        echo "components = { transform = { position = [$n 0 0] } point_mass = { mass = $n } debug_name = \"prefab $n\" }" |
            tee "many/prefabs/p$n.sjson" > "level/prefabs/p$n.sjson"
    done
    for n in $(seq 1000); do
        echo "entities = { a = { prefab = \"prefabs/p$((n % 20 + 1))\" } b = { prefab = \"prefabs/p$((n % 7 + 1))\" } }" > "many/s$n.sjson"
    done
    {
        echo "entities = {"
        for n in $(seq 10000); do
            echo "e$n = { prefab = \"prefabs/p$((n % 20 + 1))\" modified_components = { transform = { position = [$n 0 1] } } }"
        done
        echo "}"
    } > level/level.sjson
}

# Prints the milliseconds of one run.
time_of() {
    local begin end
    begin=$(date +%s%N)
    "$@" > /dev/null
    end=$(date +%s%N)
    echo $(((end - begin) / 10000)) | sed -E 's/(..)$/.\1/'
}

least_of() {
    local prepare=$1
    shift
    for _ in 1 2 3 4 5 6 7; do
        $prepare
        time_of "$@"
    done | sort -n | head -1
}

change_prefab() {
    sed -i "s/debug_name = .*/debug_name = \"prefab $RANDOM$RANDOM\" }/" level/prefabs/p1.sjson many/prefabs/p1.sjson
}

make_sources
echo "1,000 sources, all of them new                 $(time_of "$shoal" compile many -o many.out)"
echo "1,000 sources, unchanged, just written         $(least_of true "$shoal" compile many -o many.out)"
sleep 2.5
"$shoal" compile many -o many.out > /dev/null
echo "1,000 sources, unchanged                       $(least_of true "$shoal" compile many -o many.out)"
echo "1,000 sources, a prefab of 190 of them changed $(least_of change_prefab "$shoal" compile many -o many.out)"
"$shoal" compile level -o level.out > /dev/null
echo "a level of 10,000 entities, a prefab changed   $(least_of change_prefab "$shoal" compile level -o level.out)"
echo "the level alone, compiled                      $(least_of true "$shoal" compile level/level.sjson --root level -o level.blob)"
echo "its files, read                                $(least_of true cat level/level.sjson level/prefabs/p1.sjson)"
