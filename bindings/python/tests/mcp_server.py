"""A server of MCP over stdio, in a few lines: `python mcp_server.py NOTES` writes into a file what it is told."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [
    {"name": "forecast", "description": "The weather of the coming days.", "inputSchema": CITY},
    {"name": "slow", "description": "It never answers.", "inputSchema": {"type": "object"}},
    {"name": "broken", "description": "It fails.", "inputSchema": {"type": "object"}},
]


def note(text: str) -> None:
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        file.write(text + "\n")


def called(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if tool == "broken":
        return {"content": [{"type": "text", "text": "out of order"}], "isError": True}
    sky = {"sky": os.environ.get("SKY", "sunny")}
    return {"content": [{"type": "text", "text": f"{arguments['city']}: {sky['sky']}"}], "structuredContent": sky}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        info = {"name": "weather", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        note(f"called {params['name']}")
        return None if params["name"] == "slow" else called(params["name"], params.get("arguments", {}))
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "notifications/cancelled":
        note("cancelled")
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params", {}))
        if result is not None:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
note("ended")
