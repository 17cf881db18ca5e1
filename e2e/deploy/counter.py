"""An MCP server over stdio with one tool, which writes down each call that it got."""

import json
import os
import sys

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, answer = message["method"], {}
    if method == "initialize":
        answer = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "counter", "version": "1"},
        }
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
        answer = {"tools": [{"name": "count", "description": "Counts.", "inputSchema": schema}]}
    elif method == "tools/call":
        text = message["params"]["arguments"]["id"]
        with open(os.environ["COUNTED"], "a", encoding="utf-8") as counted:
            counted.write(text + "\n")
        answer = {"content": [{"type": "text", "text": "counted " + text}]}
    elif method != "ping":
        error = {"code": -32601, "message": "no such method"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
