#!/bin/sh
# What the suite runs as the client: client.sh URL, with the scenario in a variable.
# A server may be asked about anything else with `toolgraft tools`.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf '{ "mcpServers": { "suite": { "type": "http", "url": "%s" } } }' "$1" > "$dir/mcp.json"
case "$MCP_CONFORMANCE_SCENARIO" in
    tools_call) set -- call suite add_numbers '{"a": 5, "b": 3}' ;;
    sse-retry) set -- call suite test_reconnection ;;
    elicitation-*) set -- call suite test_client_elicitation_defaults --accept-defaults ;;
    *) set -- tools ;;
esac
"$TOOLGRAFT" "$@" --mcp-config "$dir/mcp.json"
