"""Three instances of `toolgraft serve` behind HAProxy, under load: one is drained, one killed.

    python3 tests/deploy/balanced.py target/debug/toolgraft

Each client asks once, for a stream; the model calls a tool of an MCP server and then answers.
What is held to: the drained instance loses nothing; what the killed one had accepted ends with
an error, and is played again nowhere (counted at the model's endpoint and at the tool); all else
is answered.
"""

import collections
import http.client
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS = 12
REQUESTS = 240

asked = collections.Counter()
lock = threading.Lock()


class Endpoint(http.server.BaseHTTPRequestHandler):
    """A model: its first answer calls the tool, the second says that it is done. Slowly."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send(200, "application/json", json.dumps({"data": [{"id": "m", "owned_by": "nobody"}]}).encode())

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        messages = request["messages"]
        number = next(m["content"] for m in messages if m["role"] == "user").split()[-1]
        has_result = f"counted {number}" in json.dumps(messages)
        with lock:
            asked[number, has_result] += 1
        call = (
            "<use_mcp_tool>\n<server_name>counter</server_name>\n<tool_name>count</tool_name>\n<arguments>\n"
            f'{{"id": "{number}"}}\n</arguments>\n</use_mcp_tool>'
        )
        text = f"done {number}" if has_result else call
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        size = max(1, len(text) // 8)
        try:
            for at in range(0, len(text), size):
                self.piece({"content": text[at : at + size]}, None)
                time.sleep(0.02)
            self.piece({}, "stop")
            self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            pass  # The instance that asked was killed.
        self.close_connection = True

    def piece(self, delta, reason):
        chunk = {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def send(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(what, holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"balanced: waited {seconds} s in vain for {what}")
        time.sleep(0.05)


def is_ready(port):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    except OSError:
        return False


def ask(port, number):
    """Whether the request was answered; else what the client saw."""
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": f"Count {number}"}]})
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        stream = answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        return f"broken: {error!r}"
    if answer.status != 200:
        return f"status {answer.status}"
    pieces = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: {")]
    text = "".join(c["delta"].get("content") or "" for p in pieces for c in p.get("choices", []))
    return None if text == f"done {number}" and "data: [DONE]" in stream else f"ended: {stream[-200:]!r}"


def main():
    program = os.path.abspath(sys.argv[1])
    if not shutil.which("haproxy"):
        print("balanced: not run, since there is no haproxy (Debian: apt-get install haproxy)")
        return
    endpoint = Server(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    folder = tempfile.mkdtemp(prefix="toolgraft-balanced-")
    counted = os.path.join(folder, "counted")
    started = []
    try:
        run(program, endpoint.server_address[1], folder, counted, started)
    finally:
        for process in started:
            process.kill()
        shutil.rmtree(folder, ignore_errors=True)


def run(program, upstream, folder, counted, started):
    config = os.path.join(folder, "mcp.json")
    server = {"command": sys.executable, "args": [os.path.join(HERE, "counter.py")], "env": {"COUNTED": counted}}
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"mcpServers": {"counter": server}}, file)
    ports = [free_port() for _ in range(3)]
    instances = []
    for port in ports:
        command = [program, "serve", "--base-url", f"http://127.0.0.1:{upstream}/v1", "--listen", f"127.0.0.1:{port}"]
        command += ["--mcp-config", config, "--mcp-always", "--allow", "*"]
        with open(os.path.join(folder, f"{port}.log"), "w", encoding="utf-8") as log:
            instances.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
    started.extend(instances)
    for port in ports:
        until(f"the instance at {port}", lambda port=port: is_ready(port))
    listen = free_port()
    names = dict(zip(["ONE", "TWO", "THREE"], [f"127.0.0.1:{port}" for port in ports]))
    names |= {"LISTEN": f"127.0.0.1:{listen}", "SOCKET": os.path.join(folder, "admin")}
    balancer = ["haproxy", "-db", "-f", os.path.join(HERE, "haproxy.cfg")]
    started.append(subprocess.Popen(balancer, env=os.environ | names))
    until("HAProxy", lambda: is_ready(listen))

    outcomes = {}
    numbers = iter(range(REQUESTS))

    def client():
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            outcomes[str(number)] = ask(listen, str(number))

    clients = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in clients:
        thread.start()
    until("a third of the answers", lambda: len(outcomes) > REQUESTS / 3, 120)
    before_drain = {number for number, outcome in outcomes.items() if outcome}
    drained, killed, _ = instances
    drained.send_signal(signal.SIGTERM)
    until("the drained instance's end", lambda: drained.poll() is not None, 60)
    lost_in_drain = {number: outcome for number, outcome in outcomes.items() if outcome}
    until("two thirds of the answers", lambda: len(outcomes) > REQUESTS * 2 / 3, 120)
    killed.kill()
    for thread in clients:
        thread.join()

    with open(counted, encoding="utf-8") as file:
        calls = collections.Counter(file.read().split())
    failed = {number: outcome for number, outcome in outcomes.items() if outcome}
    twice = [key for key, count in asked.items() if count > 1] + [n for n, count in calls.items() if count > 1]
    uncounted = [number for number, outcome in outcomes.items() if not outcome and calls[number] != 1]
    print(f"balanced: {len(outcomes)} requests, {len(failed)} ended with an error, all of them at the killed instance")
    wrong = []
    if before_drain or lost_in_drain:
        wrong.append(f"lost before an instance was killed: {lost_in_drain}")
    if not 0 < len(failed) <= CLIENTS:
        wrong.append(f"the killed instance had accepted between 1 and {CLIENTS} requests, but failed: {failed}")
    if twice:
        wrong.append(f"played twice: {twice}")
    if uncounted:
        wrong.append(f"answered without exactly one call of the tool: {uncounted}")
    if len(outcomes) != REQUESTS:
        wrong.append(f"{REQUESTS - len(outcomes)} requests without an outcome")
    if wrong:
        sys.exit("balanced: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
