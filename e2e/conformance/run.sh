#!/bin/sh
# Runs the client scenarios of the public conformance suite: run.sh VERSION… names versions of
# the protocol, 2025-11-25 and 2026-07-28. Of each, the suite of that version, all but the
# scenarios of extensions; of the earlier one also those of authorization in the later suite.
# The suite calls a client good that does nothing: a scenario counts only with a check that
# succeeded and none that failed.
set -eu
[ $# -gt 0 ] || { echo "usage: run.sh VERSION…" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
export TOOLGRAFT="${TOOLGRAFT:-$PWD/../../target/debug/toolgraft}"
export NODE="$PWD/node_modules/.bin/node"

# The scenarios of the suite for a version of the protocol that are of no extension, as the
# suite itself lists them.
scenarios() {
    "$NODE" "node_modules/conformance-$1/dist/index.js" list \
        | sed -n '/^Client scenarios/,/^$/s/^  - \([^ ]*\) \[\(.*\)\]$/\1 \2/p' \
        | while read -r name versions; do
            case ",$versions," in
                *",$2,"*) echo "$name" ;;
            esac
        done
}

# One scenario, which is told in one piece.
run() {
    suite=$1 version=$2 scenario=$3
    results=$(mktemp -d)
    trap 'rm -rf "$results" "$results.log"' EXIT
    "$NODE" "node_modules/conformance-$suite/dist/index.js" client \
        --command "$PWD/client.sh" --scenario "$scenario" --spec-version "$version" \
        --output-dir "$results" > "$results.log" 2>&1 || true
    checks=$(find "$results" -name checks.json)
    good=0 bad=1
    if [ -n "$checks" ]; then
        # shellcheck disable=SC2086
        good=$(cat $checks | grep -c '"status": "SUCCESS"' || true)
        # shellcheck disable=SC2086
        bad=$(cat $checks | grep -cE '"status": "(FAILURE|WARNING)"' || true)
    fi
    if [ "$good" -gt 0 ] && [ "$bad" -eq 0 ]; then
        echo "passed  $version $scenario: $good checks"
    else
        printf '%s\n' "FAILED  $version $scenario: $good checks passed, $bad did not" "$(cat "$results.log")"
        return 1
    fi
}

if [ "$1" = --one ]; then
    run "$2" "$3" "$4"
    exit
fi

# They mostly wait, so four run at once.
failed=0
all() {
    printf '%s\n' "$3" | xargs -P 4 -n 1 "$here/run.sh" --one "$1" "$2" || failed=1
}

for version in "$@"; do
    names=$(scenarios "$version" "$version")
    if [ -z "$names" ]; then
        echo "FAILED  $version: the suite lists no scenario"
        failed=1
        continue
    fi
    all "$version" "$version" "${SCENARIOS:-$names}"
    if [ "$version" = 2025-11-25 ] && [ -z "${SCENARIOS:-}" ]; then
        all 2026-07-28 "$version" "$(scenarios 2026-07-28 "$version" | grep '^auth/')"
    fi
done
exit $failed
