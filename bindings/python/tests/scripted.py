"""A scripted model at a real HTTP endpoint without tools."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Scripted:
    """An endpoint that answers with these texts, one after the other; `requests` are the bodies
    that it got. It refuses a body that names tools, as endpoints do whose model has none."""

    def __init__(self, *answers: str) -> None:
        self.requests: list[dict[str, Any]] = []
        left = list(answers)
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None: ...

            def do_POST(self) -> None:
                body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
                requests.append(body)
                said = [message.keys() - {"role", "content"} for message in body["messages"]]
                if body.keys() & {"tools", "tool_choice", "response_format"} or any(said) or not left:
                    return self.send(400, json.dumps({"error": {"message": "does not support tools"}}))
                text = left.pop(0)
                head = {"id": "chatcmpl-1", "created": 1, "model": body["model"]}
                if not body.get("stream"):
                    message = {"role": "assistant", "content": text}
                    choice = {"index": 0, "message": message, "finish_reason": "stop"}
                    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
                    return self.send(200, json.dumps({**head, "choices": [choice], "usage": usage}))
                pieces: list[dict[str, Any]] = [{"content": text[at : at + 7]} for at in range(0, len(text), 7)]
                choices: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in pieces]
                choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
                heads = {**head, "object": "chat.completion.chunk"}
                events = [json.dumps({**heads, "choices": [each]}, ensure_ascii=False) for each in choices]
                self.send(200, "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]), "text/event-stream")

            def send(self, status: int, text: str, kind: str = "application/json") -> None:
                content = text.encode()
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("x-request-id", f"req_{len(requests)}")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Scripted:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The address for clients."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"


def call(tool: str, arguments: str) -> str:
    """A call as the prompt teaches it, without a server."""
    return f"<use_mcp_tool>\n<tool_name>{tool}</tool_name>\n<arguments>\n{arguments}\n</arguments>\n</use_mcp_tool>"
