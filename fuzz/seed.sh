#!/bin/sh
# Writes a fuzz target's seeds into a folder: seed.sh TARGET [FOLDER], fuzz/corpus/TARGET
# unless one is named.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$1
seeds=${2:-$here/corpus/$target}
mkdir -p "$seeds"

# Files below a fixture folder: the path of each, and a name for its seed.
fixtures() {
    find "$here/../fixtures/$1" -type f -name "$2" | LC_ALL=C sort | while IFS= read -r file; do
        name=$(basename "$(dirname "$file")")-$(basename "$file")
        printf '%s\t%s\n' "$file" "$name"
    done
}
tab=$(printf '\t')

case $target in
laws)
    # Each under some configurations. Catalogue and dialects, reasoning and policy,
    # limits, cuts: see laws.rs.
    fixtures parse '*.txt' | while IFS=$tab read -r file name; do
        printf '\000\000\000\001' | cat - "$file" > "$seeds/$name-plain"
        printf '\010\010\000\002' | cat - "$file" > "$seeds/$name-coding"
        printf '\020\012\000\003' | cat - "$file" > "$seeds/$name-daily-open"
        printf '\030\014\254\004' | cat - "$file" > "$seeds/$name-market-small"
        printf '\010\014\240\005' | cat - "$file" > "$seeds/$name-coding-small"
    done
    ;;
copied)
    # Each fixture as what a tool said, to a model of each way to write calls.
    fixtures parse '*.txt' | while IFS=$tab read -r file name; do
        for way in 0 1 2 3; do
            printf "\\00$way\\005" | cat - "$file" > "$seeds/$name-$way"
        done
    done
    ;;
grammar)
    # Each byte is a choice: any bytes are a message.
    fixtures parse '*.txt' | while IFS=$tab read -r file name; do
        head -c 256 "$file" > "$seeds/$name"
        tail -c 256 "$file" > "$seeds/$name-end"
    done
    ;;
json)
    # The arguments of the fixtures, each behind a seed of the cuts; then some by hand.
    fixtures parse '*.txt' | while IFS=$tab read -r file name; do
        printf '\001' > "$seeds/$name.tmp"
        sed -n 's/.*[">(: ]\({.*}\).*/\1/p' "$file" | head -n 1 >> "$seeds/$name.tmp"
        mv "$seeds/$name.tmp" "$seeds/$name"
    done
    n=0
    while IFS= read -r line; do
        n=$((n + 1))
        printf '\007%s' "$line" > "$seeds/line-$n"
    done <<'END'
{"a": [1, -2.5e-3, 1E400, 0.1, 123456789012345678901234567890], "b": {"c": [[], {}, ""]}, "": null}
["\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\", "\ud83d", "\u0000", true, false]
{"a": 1, "a": 2}
-0
"天气"
END
    ;;
repair | validate)
    # Each byte is a choice.
    fixtures parse '*.txt' | while IFS=$tab read -r file name; do
        head -c 96 "$file" > "$seeds/$name"
    done
    ;;
recording)
    fixtures streams '*' | while IFS=$tab read -r file name; do
        printf '\000' | cat - "$file" > "$seeds/$name"
        printf '\006' | cat - "$file" > "$seeds/$name-imported"
    done
    # The example of the format's page, whole and line by line.
    sed -n '/^```jsonl$/,/^```$/p' "$here/../docs/replay.md" | grep '^{' > "$seeds/example.tmp"
    printf '\000' | cat - "$seeds/example.tmp" > "$seeds/example"
    n=0
    while IFS= read -r line; do
        n=$((n + 1))
        printf '\001%s\n' "$line" > "$seeds/line-$n"
    done < "$seeds/example.tmp"
    rm "$seeds/example.tmp"
    ;;
config)
    # The examples of the page on MCP servers, and what else is understood.
    awk -v to="$seeds/page-" '/^```jsonc?$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > (to n) }' \
        "$here/../docs/mcp.md"
    n=0
    while IFS= read -r line; do
        n=$((n + 1))
        printf '%s\n' "$line" > "$seeds/line-$n"
    done <<'END'
{"servers": {"a": {"type": "stdio", "command": "x", "args": ["${A}", "${env:B}", "$${C}"], "env": {"K": "${A:-d}"}, "cwd": "/"}}}
{"mcpServers": {"a": {"transport": "streamable-http", "url": "https://u:p@h.example/x?k=${A}", "headers": {"Authorization": "Bearer ${A}"}}}}
{"mcpServers": {"a": {"command": "x", "disabled": true, "timeout": 5, "connectTimeout": 2.5, "autoApprove": ["*"], "alwaysAllow": ["t"]}, "a": {"url": 5}, "": null}}
// none
END
    ;;
*)
    echo "seed.sh: no target $target" >&2
    exit 1
    ;;
esac
