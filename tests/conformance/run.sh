#!/bin/sh
# Runs the client scenarios of the public conformance suite, all but those of
# authorization. The suite calls a client good that does nothing: a scenario counts
# only with a check that succeeded and none that failed.
set -eu
cd "$(dirname "$0")"
export TOOLGRAFT="${TOOLGRAFT:-$PWD/../../target/debug/toolgraft}"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
failed=0
for scenario in initialize tools_call sse-retry elicitation-sep1034-client-defaults; do
    rm -rf "$results"/*
    node_modules/.bin/node node_modules/@modelcontextprotocol/conformance/dist/index.js client \
        --command "$PWD/client.sh" --scenario "$scenario" --spec-version 2025-11-25 \
        --output-dir "$results" > "$results.log" 2>&1 || true
    checks=$(find "$results" -name checks.json)
    good=0 bad=1
    if [ -n "$checks" ]; then
        # shellcheck disable=SC2086
        good=$(cat $checks | grep -c '"status": "SUCCESS"' || true)
        # shellcheck disable=SC2086
        bad=$(cat $checks | grep -c '"status": "FAILURE"' || true)
    fi
    if [ "$good" -gt 0 ] && [ "$bad" -eq 0 ]; then
        echo "passed  $scenario: $good checks"
    else
        echo "FAILED  $scenario: $good checks passed, $bad did not"
        cat "$results.log"
        failed=1
    fi
    rm -f "$results.log"
done
exit $failed
