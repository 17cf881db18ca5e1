#!/bin/sh
# What the suite runs as the client: client.sh URL, with the scenario in a variable, and
# what it is to do in another. A server may be asked about anything else with
# `toolgraft mcp tools`. A login is made as by a person: the page that is printed is opened.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# Logins are kept here and nowhere else.
export HOME="$dir" XDG_STATE_HOME="$dir/state"
printf '{ "mcpServers": { "suite": { "type": "http", "url": "%s" } } }' "$1" > "$dir/mcp.json"

toolgraft() { "$TOOLGRAFT" "$@" --mcp-config "$dir/mcp.json"; }
call() { toolgraft mcp call suite "$@"; }
# A call whose forms are sent with what they propose, as a person does with Enter at a terminal.
filled_in() { python3 "$here/filled_in.py" "$TOOLGRAFT" mcp call suite "$@" --mcp-config "$dir/mcp.json"; }

# A script of Node over the JSON of standard input, as `input`.
json() { "$NODE" -e "const input = JSON.parse(require('fs').readFileSync(0)); $1"; }

# A configuration with a client that is known: that of the context, else the document that
# the suite says is ours, which counts where the authorization server reads such.
known_client() {
    printf '%s' "${MCP_CONFORMANCE_CONTEXT:-{\}}" | json "console.log(JSON.stringify({ mcpServers: { suite: {
        type: 'http', url: '$1',
        oauth: { clientId: input.client_id ?? 'https://conformance-test.local/client-metadata.json',
                 clientSecret: input.client_secret } } } }))" > "$dir/mcp.json"
}

# Logs in; the browser is a fetch that follows where it is sent.
login() {
    : > "$dir/page"
    toolgraft mcp login suite --no-open >> "$dir/page" &
    waited=0
    until grep -q '^http' "$dir/page" || ! kill -0 $! 2> /dev/null || [ $waited -ge 100 ]; do
        sleep 0.1
        waited=$((waited + 1))
    done
    "$NODE" -e 'fetch(process.argv[1]).then(r => r.text())' "$(head -1 "$dir/page")" || true
    wait $!
}

# Does something, with a login where that is asked for, and with two more at most.
with_logins() {
    for _ in 1 2 3; do
        if "$@" > "$dir/said" 2>&1; then
            return
        fi
        cat "$dir/said" >&2
        grep -q 'toolgraft mcp login' "$dir/said" || return 1
        login || return 1
    done
    "$@"
}

case "$MCP_CONFORMANCE_SCENARIO" in
    auth/*)
        known_client "$1"
        with_logins toolgraft mcp tools
        with_logins call test-tool
        ;;
    tools_call) call add_numbers '{"a": 5, "b": 3}' ;;
    sse-retry) call test_reconnection ;;
    elicitation-*) filled_in test_client_elicitation_defaults ;;
    sep-2322-client-request-state)
        for tool in test_mrtr_echo_state test_mrtr_no_state test_mrtr_unrelated test_mrtr_no_result_type; do
            filled_in "$tool"
        done
        ;;
    http-standard-headers)
        toolgraft mcp tools
        call test_headers
        call my-hyphenated-tool
        toolgraft mcp read suite 'file:///path/to/file%20name.txt'
        ;;
    # The calls are in the scenario's context, one a line.
    http-custom-headers)
        printf '%s' "$MCP_CONFORMANCE_CONTEXT" \
            | json 'for (const c of input.toolCalls) console.log(c.name + "\t" + JSON.stringify(c.arguments))' \
            > "$dir/calls"
        tab=$(printf '\t')
        while IFS= read -r line; do
            call "${line%%"$tab"*}" "${line#*"$tab"}"
        done < "$dir/calls"
        ;;
    # All that are listed are called.
    http-invalid-tool-headers)
        toolgraft mcp tools --json > "$dir/tools.json"
        json 'for (const s of input.servers) for (const t of s.tools) console.log(t.name)' < "$dir/tools.json" > "$dir/names"
        while IFS= read -r tool; do
            call "$tool" '{"region": "us-west1"}'
        done < "$dir/names"
        ;;
    json-schema-2020-12-preservation)
        toolgraft mcp tools --json > "$dir/tools.json"
        schema=$(json 'const t = input.servers[0].tools.find(t => t.name == "json_schema_2020_12_tool");
            console.log(JSON.stringify({ schema: t.inputSchema }))' < "$dir/tools.json")
        call json_schema_echo "$schema"
        ;;
    *) toolgraft mcp tools ;;
esac
