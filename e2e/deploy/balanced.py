"""Three instances of `toolgraft serve` behind HAProxy and behind nginx, under load.

    python3 e2e/deploy/balanced.py target/debug/toolgraft [haproxy|nginx]

First each client asks once, for a stream; the model calls a tool of an MCP server and then answers.
One instance is drained, one killed. What is held to: the drained one loses nothing; what the
killed one had accepted ends with an error, and is played again nowhere (counted at the model's
endpoint and at the tool); all else is answered.

Then the model calls that tool and behind it a tool of the client's, which comes back with the
result. What the first call brought is known to the instance that answered alone: with affinity
every conversation goes on there. Without it, as a check of the test, some do not.

A balancer that is not installed is named and left out.
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
CONVERSATIONS = 60

asked = collections.Counter()
lock = threading.Lock()


def call(tool, number, server=None):
    """A call as the model writes it."""
    name = f"<server_name>{server}</server_name>\n" if server else ""
    return (
        f'<use_mcp_tool>\n{name}<tool_name>{tool}</tool_name>\n<arguments>\n{{"id": "{number}"}}\n'
        "</arguments>\n</use_mcp_tool>"
    )


class Endpoint(http.server.BaseHTTPRequestHandler):
    """A model: it calls the tool, then the client's where that is wanted, and says that it is done. Slowly."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send(200, "application/json", json.dumps({"data": [{"id": "m", "owned_by": "nobody"}]}).encode())

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        # What else is asked about a model (Ollama's `/api/show`) nobody knows here.
        if not self.path.endswith("/chat/completions"):
            return self.send(404, "application/json", b"{}")
        messages = request["messages"]
        said = json.dumps(messages)
        kind, number = next(m["content"] for m in messages if m["role"] == "user").split()[-2:]
        # What our tool brought, and what the client's did.
        results = (f"counted {number}" in said, f"looked {number}" in said)
        with lock:
            asked[number, results] += 1
        match kind, results:
            case "Look", (False, True):
                text = f"lost {number}"
            case ("Count", (True, _)) | ("Look", (True, True)):
                text = f"done {number}"
            case "Look", (True, False):
                text = call("look", number)
            case _:
                text = call("count", number, "counter")
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


def send(port, body, address="127.0.0.1"):
    """Status and text of an answer; else what broke."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(address, 0))
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        return None, repr(error)


def ask(port, number):
    """Whether the request was answered; else what the client saw."""
    status, stream = send(port, {"model": "m", "stream": True, "messages": [{"role": "user", "content": f"Count {number}"}]})
    if status is None:
        return f"broken: {stream}"
    if status != 200:
        return f"status {status}"
    pieces = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: {")]
    text = "".join(c["delta"].get("content") or "" for p in pieces for c in p.get("choices", []))
    return None if text == f"done {number}" and "data: [DONE]" in stream else f"ended: {stream[-200:]!r}"


LOOK = {"type": "function", "function": {"name": "look", "parameters": {
    "type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}}


def converse(port, number, address):
    """The last answer of a conversation with a call of the client's tool; or what went wrong."""
    body = {"model": "m", "tools": [LOOK], "messages": [{"role": "user", "content": f"Look {number}"}]}
    status, answer = send(port, body, address)
    if status != 200:
        return f"status {status}: {answer}"
    message = json.loads(answer)["choices"][0]["message"]
    if len(message.get("tool_calls") or []) != 1:
        return f"no call: {answer}"
    identifier = message["tool_calls"][0]["id"]
    body["messages"] += [message, {"role": "tool", "tool_call_id": identifier, "content": f"looked {number}"}]
    status, answer = send(port, body, address)
    return json.loads(answer)["choices"][0]["message"]["content"] if status == 200 else f"status {status}: {answer}"


class HAProxy:
    name = "haproxy"
    # As they stand in the file and beside it.
    even, sticky = "balance leastconn", "balance source\n    hash-type consistent"
    in_turn = "balance roundrobin"

    @staticmethod
    def command(text, ports, listen, folder):
        path = os.path.join(folder, "haproxy.cfg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        names = dict(zip(["ONE", "TWO", "THREE"], [f"127.0.0.1:{port}" for port in ports]))
        names |= {"LISTEN": f"127.0.0.1:{listen}", "SOCKET": os.path.join(folder, "admin")}
        return ["haproxy", "-db", "-f", path], os.environ | names


class Nginx:
    name = "nginx"
    even, sticky, in_turn = "least_conn;", "ip_hash;", ""

    @staticmethod
    def command(text, ports, listen, folder):
        for written, port in zip([8787, 8788, 8789, 8080], [*ports, listen]):
            text = text.replace(f"127.0.0.1:{written}", f"127.0.0.1:{port}")
        with open(os.path.join(folder, "toolgraft.conf"), "w", encoding="utf-8") as file:
            file.write(text)
        kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
        # Its workers read this folder, which is ours alone.
        user = "user root;" if os.geteuid() == 0 else ""
        main = f"{user} daemon off; pid {folder}/pid; events {{}}\nhttp {{ access_log off; {temporary} include {folder}/toolgraft.conf; }}\n"
        path = os.path.join(folder, "nginx.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(main)
        return ["nginx", "-e", os.path.join(folder, "nginx.log"), "-p", folder, "-c", path], os.environ


FILES = {HAProxy: "haproxy.cfg", Nginx: "nginx.conf"}


def configured(balancer, lines):
    """The file as it is handed out, with these lines in place of those that share evenly."""
    with open(os.path.join(HERE, FILES[balancer]), encoding="utf-8") as file:
        text = file.read()
    # It says itself which lines are for affinity.
    for line in balancer.sticky.splitlines():
        assert f"#   {line.strip()}" in text, f"{FILES[balancer]} does not say {line}"
    assert text.count(f"    {balancer.even}\n") == 1
    return text.replace(f"    {balancer.even}\n", f"    {lines}\n")


class Running:
    """Three instances behind a balancer; all that was started ends with it."""

    def __init__(self, program, upstream, balancer, lines):
        self.folder = tempfile.mkdtemp(prefix="toolgraft-balanced-")
        self.counted = os.path.join(self.folder, "counted")
        self.started = []
        try:
            self.start(program, upstream, balancer, lines)
        except BaseException:
            self.end()
            raise

    def start(self, program, upstream, balancer, lines):
        config = os.path.join(self.folder, "mcp.json")
        server = {"command": sys.executable, "args": [os.path.join(HERE, "counter.py")], "env": {"COUNTED": self.counted}}
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"mcpServers": {"counter": server}}, file)
        ports = [free_port() for _ in range(3)]
        for port in ports:
            command = [program, "serve", "--base-url", f"http://127.0.0.1:{upstream}/v1", "--listen", f"127.0.0.1:{port}"]
            command += ["--mcp-config", config, "--mcp-always", "--allow", "*"]
            self.spawn(command, f"{port}.log", os.environ)
        self.instances = list(self.started)
        for port in ports:
            until(f"the instance at {port}", lambda port=port: is_ready(port))
        self.port = free_port()
        command, environment = balancer.command(configured(balancer, lines), ports, self.port, self.folder)
        self.spawn(command, f"{balancer.name}.log", environment)
        until(balancer.name, lambda: is_ready(self.port))

    def spawn(self, command, log, environment):
        with open(os.path.join(self.folder, log), "w", encoding="utf-8") as file:
            self.started.append(subprocess.Popen(command, stdout=file, stderr=file, stdin=subprocess.DEVNULL, env=environment))

    def calls(self):
        """How often the tool was called, for each number."""
        with open(self.counted, encoding="utf-8") as file:
            return collections.Counter(file.read().split())

    def end(self):
        # nginx ends its workers where it is asked to.
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        asked.clear()
        return self

    def __exit__(self, *_):
        self.end()


def main():
    program = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:] or [balancer.name for balancer in FILES]
    endpoint = Server(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    upstream = endpoint.server_address[1]
    for balancer in FILES:
        if balancer.name not in wanted:
            continue
        if not shutil.which(balancer.name):
            print(f"balanced: skipped: there is no {balancer.name} (Debian: apt-get install {balancer.name})")
            continue
        with Running(program, upstream, balancer, balancer.even) as running:
            loses_only_what_was_killed(balancer, running)
        with Running(program, upstream, balancer, balancer.sticky) as running:
            goes_on_where_it_began(balancer, running)
        with Running(program, upstream, balancer, balancer.in_turn) as running:
            lost = [answer for answer in conversations(running).values() if answer.startswith("lost")]
            if not lost:
                sys.exit(f"balanced: behind {balancer.name} without affinity no conversation was parted: the test sees nothing")


def conversations(running):
    """How each conversation ended, of clients that have addresses of their own."""
    answers = {}

    def client(at):
        # nginx looks at the first three numbers of an address.
        for number in range(at, CONVERSATIONS, CLIENTS):
            answers[number] = converse(running.port, str(number), f"127.0.{at + 1}.1")

    clients = [threading.Thread(target=client, args=(at,)) for at in range(CLIENTS)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    return answers


def goes_on_where_it_began(balancer, running):
    answers = conversations(running)
    wrong = {number: answer for number, answer in answers.items() if answer != f"done {number}"}
    twice = [number for number, count in running.calls().items() if count > 1]
    print(f"balanced: {balancer.name} with affinity: {len(answers)} conversations, {len(wrong)} of them lost what a call brought")
    if wrong or twice or len(answers) != CONVERSATIONS:
        sys.exit(f"balanced: {wrong}, called twice: {twice}, {CONVERSATIONS - len(answers)} without an end")


def loses_only_what_was_killed(balancer, running):
    outcomes = {}
    numbers = iter(range(REQUESTS))

    def client():
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            outcomes[str(number)] = ask(running.port, str(number))

    clients = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in clients:
        thread.start()
    until("a third of the answers", lambda: len(outcomes) > REQUESTS / 3, 120)
    before_drain = {number for number, outcome in outcomes.items() if outcome}
    drained, killed, _ = running.instances
    drained.send_signal(signal.SIGTERM)
    until("the drained instance's end", lambda: drained.poll() is not None, 60)
    lost_in_drain = {number: outcome for number, outcome in outcomes.items() if outcome}
    until("two thirds of the answers", lambda: len(outcomes) > REQUESTS * 2 / 3, 120)
    killed.kill()
    for thread in clients:
        thread.join()

    calls = running.calls()
    failed = {number: outcome for number, outcome in outcomes.items() if outcome}
    twice = [key for key, count in asked.items() if count > 1] + [n for n, count in calls.items() if count > 1]
    uncounted = [number for number, outcome in outcomes.items() if not outcome and calls[number] != 1]
    print(f"balanced: {balancer.name}: {len(outcomes)} requests, {len(failed)} ended with an error, all of them at the killed instance")
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
