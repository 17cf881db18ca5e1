#!/bin/sh
# Runs the client scenarios of the public conformance suite: run.sh VERSION… names versions of
# the protocol, 2025-11-25 and 2026-07-28. Of each, the suite of that version, all but the
# scenarios of extensions; of the earlier one also those of authorization in the later suite.
# The suite calls a client good that does nothing: a scenario counts only with a check that
# succeeded and none that failed.
set -eu
[ $# -gt 0 ] || { echo "usage: run.sh VERSION…" >&2; exit 2; }
cd "$(dirname "$0")"
export TOOLGRAFT="${TOOLGRAFT:-$PWD/../../target/debug/toolgraft}"
export NODE="$PWD/node_modules/.bin/node"
results=$(mktemp -d)
trap 'rm -rf "$results" "$results.log"' EXIT
failed=0

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

run() {
    suite=$1 version=$2 scenario=$3
    rm -rf "${results:?}"/*
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
        echo "FAILED  $version $scenario: $good checks passed, $bad did not"
        cat "$results.log"
        failed=1
    fi
}

all() {
    for scenario in $3; do
        run "$1" "$2" "$scenario"
    done
}

for version in "$@"; do
    names=$(scenarios "$version" "$version")
    if [ -z "$names" ]; then
        echo "FAILED  $version: the suite lists no scenario"
        failed=1
    fi
    all "$version" "$version" "${SCENARIOS:-$names}"
    if [ "$version" = 2025-11-25 ] && [ -z "${SCENARIOS:-}" ]; then
        all 2026-07-28 "$version" "$(scenarios 2026-07-28 "$version" | grep '^auth/')"
    fi
done
exit $failed
