"""Runs the example that exports spans, in front of a scripted endpoint, and looks at what a
collector gets.

    exported.py PROGRAM
"""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "clients"))
import upstream  # noqa: E402

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SPANS, SEEN = [], []


class Collector(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        for resource in body["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                SPANS.extend(scope["spans"])
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")


class Endpoint(upstream.Endpoint):
    def do_POST(self):
        # What is asked about the model first (Ollama's `/api/show`) is no part of the turn.
        if self.path.endswith("/chat/completions"):
            SEEN.append(self.headers.get("traceparent"))
        super().do_POST()


def start(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def main(program):
    environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": start(Collector), "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}
    command = [program, start(Endpoint) + "/v1", "127.0.0.1:0"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    url = process.stdout.readline().strip()
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]
    body = {"model": "damaged@7@1", "messages": [{"role": "user", "content": "Weather?"}], "tools": tools}
    headers = {"content-type": "application/json", "traceparent": f"00-{TRACE}-{PARENT}-01"}
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert json.load(answer)["choices"][0]["finish_reason"] == "tool_calls"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0, "it did not end well"
    by_name = {}
    for span in SPANS:
        by_name.setdefault(span["name"], []).append(span)
    assert sorted(by_name) == ["chat damaged@7@1", "invoke_agent"], sorted(by_name)
    [turn], chats = by_name["invoke_agent"], by_name["chat damaged@7@1"]
    assert (turn["traceId"], turn["parentSpanId"]) == (TRACE, PARENT), turn
    assert [event["name"] for event in turn["events"]] == ["correction"], turn
    assert all(chat["parentSpanId"] == turn["spanId"] for chat in chats), chats
    assert sorted(SEEN) == sorted(f"00-{TRACE}-{chat['spanId']}-01" for chat in chats), SEEN
    attributes = {attribute["key"]: attribute["value"] for attribute in chats[0]["attributes"]}
    assert attributes["gen_ai.request.model"] == {"stringValue": "damaged@7@1"}, attributes
    assert int(attributes["gen_ai.usage.output_tokens"]["intValue"]) == 5, attributes
    assert "Weather?" not in json.dumps(SPANS)
    print(f"{len(SPANS)} spans in one trace: {', '.join(span['name'] for span in SPANS)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
