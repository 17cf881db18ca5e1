#!/bin/sh
# Writes what a walk found into the file that `cargo test` replays: corpus.sh PROGRAM TARGET SECONDS.
# PROGRAM is the fuzz target as it was built. Of its seeds and of what it finds within SECONDS
# those inputs stay that reach something no smaller one reaches, up to LONGEST bytes each and
# ALL bytes in a file.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$1 target=$2 seconds=$3
LONGEST=600 ALL=100000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/walk" "$work/kept"
"$here/seed.sh" "$target" "$work/seeds"
dict=$here/$target.dict
"$program" "$work/walk" "$work/seeds" ${dict:+$([ ! -f "$dict" ] || echo "-dict=$dict")} \
    -seed=1 -max_len=$LONGEST -max_total_time="$seconds" -print_final_stats=1 2> "$work/log" ||
    { tail -n 40 "$work/log" >&2; exit 1; }
"$program" -merge=1 -max_len=$LONGEST "$work/kept" "$work/walk" "$work/seeds" 2> "$work/log" ||
    { tail -n 40 "$work/log" >&2; exit 1; }
# Smaller ones first; in one order whatever their names.
find "$work/kept" -type f -size -${LONGEST}c -printf '%s %f\n' | LC_ALL=C sort -n | while read -r _ name; do
    base64 -w 0 "$work/kept/$name"
    echo
done | awk -v all=$ALL '{ n += length($0) + 1 } n <= all' > "$here/../fixtures/fuzz/$target.base64"
wc -l -c "$here/../fixtures/fuzz/$target.base64"
