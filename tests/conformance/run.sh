#!/bin/sh
# Runs the client scenarios of the public conformance suite, in the version for each
# version of the protocol, all but those of authorization and of extensions. The suite
# calls a client good that does nothing: a scenario counts only with a check that
# succeeded and none that failed.
set -eu
cd "$(dirname "$0")"
export TOOLGRAFT="${TOOLGRAFT:-$PWD/../../target/debug/toolgraft}"
export NODE="$PWD/node_modules/.bin/node"
results=$(mktemp -d)
trap 'rm -rf "$results" "$results.log"' EXIT
failed=0

# The scenarios of a version that are neither of authorization nor of an extension, as
# the suite itself lists them.
scenarios() {
    "$NODE" "node_modules/conformance-$1/dist/index.js" list \
        | sed -n '/^Client scenarios/,/^$/s/^  - \([^ ]*\) \[\(.*\)\]$/\1 \2/p' \
        | while read -r name versions; do
            case "$name,$versions," in
                auth/*) ;;
                *" $1,"* | *",$1,"*) echo "$name" ;;
            esac
        done
}

run() {
    version=$1 scenario=$2
    rm -rf "${results:?}"/*
    "$NODE" "node_modules/conformance-$version/dist/index.js" client \
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

for version in 2025-11-25 2026-07-28; do
    names=$(scenarios "$version")
    if [ -z "$names" ]; then
        echo "FAILED  $version: the suite lists no scenario"
        failed=1
    fi
    for scenario in ${SCENARIOS:-$names}; do
        run "$version" "$scenario"
    done
done
exit $failed
