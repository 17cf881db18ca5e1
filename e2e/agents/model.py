"""A scripted model without tools, behind an endpoint that says of itself what llama.cpp says.

It does what its script says, one step for each request of the session's main thread. Requests
beside that (a title, a summary of the history, a sub-agent's) are told apart by what they hold. Like
the real one the endpoint refuses a prompt that is longer than its context.
"""

import json
import re
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "clients"))
import upstream  # noqa: E402

MAIN, SUB = "MAIN-TASK", "SUB-TASK"
# How programs ask for a summary of what has gone before.
SUMMARY = re.compile(r"detailed summary|CONTEXT CHECKPOINT|state_snapshot|anchored summary|handoff summary"
                     r"|[Ss]ummarize (the|our|this) conversation|compact(ed|ion)? summary", re.S)
WORD = re.compile(r"word-[0-9a-f]{8}")


def call(tool, arguments):
    """A call as the model writes it."""
    return (f"<use_mcp_tool>\n<tool_name>{tool}</tool_name>\n<arguments>\n"
            f"{json.dumps(arguments, ensure_ascii=False)}\n</arguments>\n</use_mcp_tool>")


def damaged(tool):
    """One that nobody can mend."""
    return f"<use_mcp_tool>\n<tool_name>{tool}</tool_name>\n<arguments>\n{{\"x\": }}\n</arguments>\n</use_mcp_tool>"


def answer(text):
    """The words that were read."""
    return "I have read " + " and ".join(dict.fromkeys(WORD.findall(text))) + "."


def text_of(message):
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


class Real:
    """A model behind an endpoint that runs already; what it was asked is not kept."""

    steps = sub_steps = ()

    def __init__(self, url, name, context):
        self.url, self.name, self.context, self.asked = url, name, context, []

    def start(self):
        return self.url

    def stop(self):
        pass


class Model:
    """What a session's model says, and what it was asked."""

    name = "scripted"

    def __init__(self, steps, sub_steps=(), context=32_768, has_tools=True):
        self.steps, self.sub_steps, self.context = list(steps), list(sub_steps), context
        self.has_tools = has_tools
        self.asked = []  # (kind, tokens, body)
        self.lock = threading.Lock()
        self.server = None

    def kind(self, texts):
        whole, last = "\n".join(texts), texts[-1]
        if SUMMARY.search(last):
            return "summary"
        if not self.has_tools:
            return "main"
        if "<use_mcp_tool>" not in texts[0] or "managed memory extraction" in texts[0]:
            return "beside"
        # A sub-agent's task stands in what it is asked, the main one's in all that follows.
        if SUB in whole and MAIN not in whole:
            return "sub"
        return "main"

    def says(self, body):
        """The next text, and why it ends; None where the prompt is too long."""
        texts = [text_of(message) for message in body["messages"]]
        with self.lock:
            kind, tokens = self.kind(texts), sum(map(len, texts)) // 4
            self.asked.append((kind, tokens, body))
            if tokens > self.context:
                return None
            if kind == "summary":
                return f"<summary>{MAIN} goes on: read the remaining files.</summary>", "stop", tokens
            if kind == "beside":
                return "Fine.", "stop", tokens
            steps = self.steps if kind == "main" else self.sub_steps
            step = steps.pop(0) if len(steps) > 1 else steps[0]
        said = step("\n".join(texts)) if callable(step) else step
        text, reason = said if isinstance(said, tuple) else (said, "stop")
        return text, reason, tokens

    def of_kind(self, kind):
        return [(tokens, body) for this, tokens, body in self.asked if this == kind]

    def longest(self):
        """Tokens of the longest prompt that was not refused."""
        return max((tokens for _, tokens, _ in self.asked if tokens <= self.context), default=0)

    def start(self):
        """Listens; the base URL."""
        model = self

        class Endpoint(upstream.Endpoint):
            def do_GET(self):
                model.get(self)

            def do_POST(self):
                model.post(self)

        self.server = upstream.Server(("127.0.0.1", 0), Endpoint)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def get(self, request):
        if request.path == "/props":
            caps = {"supports_tools": False, "supports_tool_calls": False}
            settings = {"n_ctx": self.context}
            return request.whole(200, json.dumps({"build_info": "b9999-0", "default_generation_settings": settings,
                                                  "chat_template": "", "chat_template_caps": caps}))
        if request.path.endswith("/models"):
            return request.whole(200, json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}))
        return request.whole(404, "{}")

    def post(self, request):
        body = json.loads(request.rfile.read(int(request.headers["content-length"])))
        if "messages" not in body:
            return request.whole(404, "{}")
        said = self.says(body)
        if said is None:
            error = {"code": 400, "type": "exceed_context_size_error", "n_ctx": self.context,
                     "message": "the request exceeds the available context size, try increasing it"}
            return request.whole(400, json.dumps({"error": error}))
        text, reason, tokens = said
        usage = {"prompt_tokens": tokens, "completion_tokens": len(text) // 4, "total_tokens": tokens + len(text) // 4}
        if not body.get("stream"):
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return request.whole(200, json.dumps({"id": "u1", "object": "chat.completion", "created": 1,
                                                  "model": "scripted", "choices": [choice], "usage": usage}))
        request.send_response(200)
        request.send_header("content-type", "text/event-stream")
        request.send_header("transfer-encoding", "chunked")
        request.end_headers()
        for piece in upstream.pieces(text, 7 if len(text) < 4_000 else 997):
            request.delta({"content": piece})
        request.delta({}, reason)
        request.event({"choices": [], "usage": usage})
        request.chunk("data: [DONE]\n\n")
        request.wfile.write(b"0\r\n\r\n")
        return None
