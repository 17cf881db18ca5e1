"""A server of FastMCP (mcp 1) over HTTP: fast.py sse|streamable-http PORT."""

import sys

from mcp.server.fastmcp import Context, FastMCP

transport, port = sys.argv[1:]
app = FastMCP("fast", host="127.0.0.1", port=int(port), log_level="ERROR")


@app.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers"""
    return a + b


@app.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts and tells of its progress"""
    for n in range(to):
        await ctx.report_progress(n, to)
        await ctx.info(f"at {n}")
    return "counted"


@app.resource("fast://{name}")
def named(name: str) -> str:
    """A resource by its name"""
    return f"this is {name}"


app.run(transport=transport)
