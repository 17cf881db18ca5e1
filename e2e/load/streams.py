"""A thousand streams at once through `toolgraft serve`: readers, slow readers, clients that go
away, and requests whose calls run at an MCP server that is killed now and then.

    streams.py TOOLGRAFT [STREAMS] [WAVES]

Fails where an answer is not the one that was asked for, where something is left over once all
is done (answers that go on, connections, requests at the endpoint, memory that grows from wave
to wave), or where a stream takes more than `MOST` of memory.
"""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

# Bytes of resident memory for a stream, with a tenth of them long, and growth from the second
# wave to the last: the allocator of the C library keeps what its arenas once held.
MOST = 300_000
GROWTH = 64_000_000
# Idle connections to the endpoint that may be left.
KEPT = 70
# What a slow reader is told: more than sockets hold.
LONG = "".join(f"{number} " for number in range(30_000))

HERE = Path(__file__).resolve().parent
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]


def call(tool, arguments, server=None):
    named = f"<server_name>{server}</server_name>\n" if server else ""
    return f"<use_mcp_tool>\n{named}<tool_name>{tool}</tool_name>\n<arguments>\n{json.dumps(arguments)}\n</arguments>\n</use_mcp_tool>"


class Failure(Exception):
    pass


class Endpoint:
    """Answers by what the question names: KIND-NUMBER."""

    def __init__(self):
        self.open = 0

    async def start(self):
        server = await asyncio.start_server(self.connection, "127.0.0.1", 0, limit=1 << 22, backlog=4096)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"

    async def connection(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next((int(line.split(":")[1]) for line in head.splitlines() if line.lower().startswith("content-length")), 0)
                body = json.loads(await reader.readexactly(length)) if length else {}
                self.open += 1
                try:
                    if body and "/chat/completions " not in head.split("\r\n")[0]:
                        # What else is asked about a model (Ollama's `/api/show`) nobody knows here.
                        writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                        await writer.drain()
                        continue
                    await self.answer(body, writer)
                finally:
                    self.open -= 1
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, body, writer):
        if not body:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{\"data\":[]}")
            return await writer.drain()
        kind, number = re.search(r"Weather of (\w+)-(\w+)\?", str(body["messages"])).groups()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        text, pause = "I look.\n" + call("weather", {"city": f"Oslo {number}"}), 0.02
        if kind == "slow":
            text, pause = LONG, 0
        elif kind == "mcp":
            # Its server may have been killed: then the call failed, and that is an answer, too.
            text = call("count", {"id": number}, "counter")
            if any(message["role"] == "assistant" for message in body["messages"]):
                text = f"{'Done' if 'counted ' + number in str(body['messages']) else 'Failed'} {number}."
        step = 4_000 if kind == "slow" else 16
        for at in range(0, len(text), step):
            self.chunk(writer, {"content": text[at:at + step]})
            await writer.drain()
            await asyncio.sleep(pause)
        self.chunk(writer, {}, "stop")
        writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
        await writer.drain()

    @staticmethod
    def chunk(writer, delta, reason=None):
        event = {"id": "u", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        data = f"data: {json.dumps(event)}\n\n".encode()
        writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


async def client(port, kind, number):
    """One request; what came of it."""
    question = f"Weather of {kind}-{number}?"
    # One model, as in life: what an endpoint tells of one is asked once.
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": question}], "tools": TOOLS}
    if kind == "mcp":
        body["model"] += "+tools"
    data = json.dumps(body).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 16)
    try:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        await writer.drain()
        if kind == "gone":
            await reader.read(200)
            return "gone"
        text = b""
        while piece := await reader.read(1 << 14):
            text += piece
            if kind == "slow":
                await asyncio.sleep(0.02)
        return text.decode()
    finally:
        writer.transport.abort() if kind == "gone" else writer.close()


def right(kind, number, text):
    if kind == "read":
        return f'Oslo {number}\\"' in text and "[DONE]" in text
    if kind == "slow":
        chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
        said = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)
        return said == LONG and "[DONE]" in text
    if kind == "mcp":
        return any(f"{word} {number}." in text for word in ("Done", "Failed")) and "[DONE]" in text
    return text == "gone"


def resident(pid):
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def sockets(pid):
    return sum(os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket") for fd in os.listdir(f"/proc/{pid}/fd"))


def active(port):
    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30).read().decode()
    return int(next(line for line in page.splitlines() if line.startswith('toolgraft_budget_used{budget="max_requests"')).split()[1])


async def kill_servers(pid):
    """Kills the MCP server now and then."""
    while True:
        await asyncio.sleep(random.uniform(2, 5))
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        for task in os.listdir(f"/proc/{pid}/task"):
            children += Path(f"/proc/{pid}/task/{task}/children").read_text(encoding="ascii").split()
        for child in set(children):
            os.kill(int(child), signal.SIGKILL)


async def wave(port, pid, streams, number):
    kinds = ["read"] * 5 + ["gone"] * 2 + ["slow"] + ["mcp"] * 2
    jobs = [(kinds[at % len(kinds)], f"{number}x{at}") for at in range(streams)]
    most = 0

    async def watch():
        nonlocal most
        while True:
            most = max(most, resident(pid))
            await asyncio.sleep(0.1)

    watching, killing = asyncio.create_task(watch()), asyncio.create_task(kill_servers(pid))
    answers = await asyncio.wait_for(asyncio.gather(*(client(port, kind, n) for kind, n in jobs)), 300)
    watching.cancel()
    killing.cancel()
    wrong = [(kind, n, text[-300:]) for (kind, n), text in zip(jobs, answers) if not right(kind, n, text)]
    if wrong:
        raise Failure(f"{len(wrong)} of {streams} answers are wrong, the first: {wrong[0]}")
    return most, sum("Done" in text for (kind, _), text in zip(jobs, answers) if kind == "mcp")


async def run(program, streams, waves):
    endpoint = Endpoint()
    url = await endpoint.start()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "mcp.json")
        server = {"command": sys.executable, "args": [str(HERE.parent / "deploy" / "counter.py")], "env": {"COUNTED": str(Path(folder, "counted"))}}
        config.write_text(json.dumps({"mcpServers": {"counter": server}}), encoding="utf-8")
        command = [program, "serve", "--listen", "127.0.0.1:0", "--base-url", url, "--mcp-config", str(config), "--allow", "counter.*"]
        process = subprocess.Popen(command, env={"HOME": folder, "PATH": os.environ["PATH"]}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            said = await asyncio.to_thread(process.stdout.readline)
            port, pid = int(said.strip().removesuffix("/v1").rsplit(":", 1)[1]), process.pid
            rest, begun, after, succeeded = resident(pid), sockets(pid), [], 0
            for number in range(waves):
                most, done = await wave(port, pid, streams, number)
                succeeded += done
                end = time.monotonic() + 30
                while (await asyncio.to_thread(active, port)) or endpoint.open:
                    if time.monotonic() > end:
                        raise Failure(f"{active(port)} answers go on, {endpoint.open} requests at the endpoint")
                    await asyncio.sleep(0.2)
                after.append(resident(pid))
                print(f"wave {number + 1}: {(most - rest) / streams / 1e3:.0f} KB a stream at most, {after[-1] / 1e6:.1f} MB after it", flush=True)
                if (most - rest) / streams > MOST:
                    raise Failure(f"a stream takes more than {MOST} bytes")
            if len(after) > 2 and after[-1] - after[1] > GROWTH:
                raise Failure(f"memory grows: {after}")
            if not succeeded:
                raise Failure("no call of the server's succeeded")
            # Some idle connections to the endpoint are kept for a while, those of clients are gone.
            kept = sockets(pid) - begun
            if kept > KEPT:
                raise Failure(f"{kept} connections are left")
            print(f"{waves * streams} requests, {rest / 1e6:.1f} MB at rest, {kept} idle connections to the endpoint")
        finally:
            process.terminate()
            if process.wait(timeout=60) != 0:
                raise Failure(f"serve ended with {process.returncode}")


if __name__ == "__main__":
    program, *numbers = sys.argv[1:]
    streams, waves = [*map(int, numbers), 1_000, 4][:2] if len(numbers) != 1 else (int(numbers[0]), 4)
    try:
        asyncio.run(run(program, streams, waves))
    except Failure as failure:
        sys.exit(str(failure))
