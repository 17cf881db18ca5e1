"""A scripted endpoint: a model's name is CASE@CHUNK@NONCE; see cases.json. With @TOOL behind it
that is what the tool `weather` is called.

The round is told by how many messages of the assistant the request holds; one that tells a
result of a client's tool gets the case's answer. CHUNK is the number of characters of a chunk, 0
for all in one.
"""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# What every tool of the clients gives, and what each asks.
RESULT = "-3 degrees"
QUESTION = "What is the weather?"
CALL = '<use_mcp_tool>\n<tool_name>weather</tool_name>\n<arguments>\n{"city": "Oslo"}\n</arguments>\n</use_mcp_tool>'
# Beside the cases that every client runs: one that a schema corrects, one that says what it sees, and one
# that says whether a request with a result still holds the question and the tools.
OWN = {
    "runner": {"rounds": [{"content": CALL, "reason": "stop"}], "answer": {"content": "All is here.", "reason": "stop"}},
    "schema": {"rounds": [{"content": "About 3.", "reason": "stop"}, {"content": '{"degrees": "3"}', "reason": "stop"}]},
    "echo": {"rounds": [{"reason": "stop"}]},
}
CASES = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
SEEN = set()
LOCK = threading.Lock()


def pieces(text, size):
    size = size or max(len(text), 1)
    return [text[at:at + size] for at in range(0, len(text), size)]


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def whole(self, status, body, kind="application/json", headers=()):
        data = body.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.whole(200, json.dumps({"object": "list", "data": [{"id": "text@0@0", "object": "model"}]}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/embeddings"):
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            vectors = [{"index": at, "embedding": [0.5, 1.0]} for at in range(len(texts))]
            return self.whole(200, json.dumps({"data": vectors, "usage": {"prompt_tokens": 1}}))
        if "messages" not in body:
            # What Ollama says beside this interface is not here.
            return self.whole(404, "{}")
        name, size, _, *tool = body["model"].split("@")
        assert "tools" not in body, "the tools are for the prompt"
        case, messages = {**CASES, **OWN}[name], body["messages"]
        number = sum(message["role"] == "assistant" for message in messages)
        part = case["rounds"][min(number, len(case["rounds"]) - 1)]
        if RESULT in json.dumps(messages):
            part = case["answer"]
            if name == "runner" and not all(words in json.dumps(messages) for words in (QUESTION, "The weather of a city.")):
                part = {"content": "The question or the tools are lost.", "reason": "stop"}
        with LOCK:
            first = body["model"] not in SEEN
            SEEN.add(body["model"])
        if "flaky" in part and first:
            headers = [("retry-after", "0")]
            return self.whole(part["flaky"], '{"error": {"message": "slow down"}}', headers=headers)
        if "body" in part:
            return self.whole(part.get("status", 200), part["body"], part.get("type", "application/json"))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for text in pieces(part.get("reasoning", ""), int(size)):
            self.delta({"reasoning_content": text})
        if name == "echo":
            part = {**part, "content": json.dumps(messages[-1]["content"])}
        content = part["content"].replace(">weather<", f">{tool[0]}<") if tool else part["content"]
        texts = pieces(content, int(size))
        for at, text in enumerate(texts):
            if at in (0, len(texts) // 2):
                time.sleep(part.get("pause", 0))
            self.delta({"content": text})
        if part.get("end") == "break":
            self.close_connection = True
            return None
        self.delta({}, part["reason"])
        self.event({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
        self.chunk("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")
        return None

    def delta(self, delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        self.event({"id": "u1", "object": "chat.completion.chunk", "created": 1, "model": "upstream", "choices": [choice]})

    def event(self, value):
        self.chunk(f"data: {json.dumps(value)}\n\n")

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        # Whoever asked wants no more of it.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def start():
    server = Server(("127.0.0.1", 0), Endpoint)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"


if __name__ == "__main__":
    print(start(), flush=True)
    while True:
        time.sleep(60)
