#!/bin/sh
# Writes the fuzz target's seeds into a folder (fuzz/corpus/laws unless one is
# named): each parser fixture under some configurations.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seeds=${1:-$here/corpus/laws}
mkdir -p "$seeds"
find "$here/../fixtures/parse" -name '*.txt' | while IFS= read -r file; do
    name=$(basename "$(dirname "$file")")-$(basename "$file" .txt)
    # Catalogue and dialects, reasoning and policy, limits, cuts: see laws.rs.
    printf '\000\000\000\001' | cat - "$file" > "$seeds/$name-plain"
    printf '\010\010\000\002' | cat - "$file" > "$seeds/$name-coding"
    printf '\020\012\000\003' | cat - "$file" > "$seeds/$name-daily-open"
    printf '\030\014\254\004' | cat - "$file" > "$seeds/$name-market-small"
    printf '\010\014\240\005' | cat - "$file" > "$seeds/$name-coding-small"
done
