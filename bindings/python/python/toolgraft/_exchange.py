"""A request to Chat Completions with tools, as one that a model without tools can answer.

Sans-IO: in come the body of a client's request and the answers of the endpoint, out go bodies to
send and what the client is told. Whoever drives it does the requests.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, Optional

from ._native import Catalog, ToolError, Turn

#: What a body says about tools and the form of the answer, which an endpoint without tools refuses.
_OURS = ("tools", "tool_choice", "parallel_tool_calls", "response_format", "functions", "function_call")
_Told = Sequence[tuple[str, str]]


def _object(value: Any) -> dict[str, Any]:
    """A member that is an object or missing."""
    return value or {}


def _objects(value: Any) -> list[dict[str, Any]]:
    """A member that is a list of objects or missing."""
    return value or []


def needs_tools(body: dict[str, Any]) -> bool:
    """Whether a body asks for anything that a model without tools has not, or tells of it."""
    if body.get("tools") or _object(body.get("response_format")).get("type") in ("json_schema", "json_object"):
        return True
    return any(message.get("role") == "tool" or message.get("tool_calls") for message in _objects(body.get("messages")))


def _output(form: dict[str, Any]) -> Optional[dict[str, Any]]:
    if form.get("type") == "json_schema":
        schema: dict[str, Any] = form.get("json_schema", {}).get("schema") or {"type": "object"}
        return schema
    return {"type": "object"} if form.get("type") == "json_object" else None


def _name(tool: dict[str, Any]) -> Any:
    return _object(tool.get("function")).get("name", tool.get("name"))


def _choice(choice: Any, tools: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """A choice as a word or the name of a tool, and the tools that it allows."""
    form: dict[str, Any] = {"type": choice} if choice is None or isinstance(choice, str) else choice
    if form.get("type") == "allowed_tools":
        form = form.get("allowed_tools", form)
        names = [_name(tool) for tool in _objects(form.get("tools"))]
        unknown = [name for name in names if name not in map(_name, tools)]
        if unknown:
            raise ToolError(f"the choice allows {unknown[0]!r}, and no tool has that name")
        return _choice(form.get("mode"), [tool for tool in tools if _name(tool) in names])
    if name := _name(form):
        return str(name), tools
    word = form.get("type")
    return ("required" if word == "any" else word if word in ("none", "required") else "auto"), tools


class NoAnswer(Exception):
    """A model gave no answer; the message says why."""


class Exchange:
    """One request of a client on its way."""

    def __init__(self, body: dict[str, Any], settings: dict[str, Any]) -> None:
        choice, tools = _choice(body.get("tool_choice"), _objects(body.get("tools")))
        settings = {"model": body.get("model"), "tool_choice": choice, **settings}
        if body.get("parallel_tool_calls") is False:
            settings.setdefault("max_calls", 1)
        output = _output(_object(body.get("response_format")))
        self._turn = Turn(Catalog(tools), body["messages"], output=output, **settings)
        self._body = {key: value for key, value in body.items() if key not in _OURS and key != "n"}
        self._head: dict[str, Any] = {}
        self._usage: dict[str, int] = {}
        self._reason: str = "stop"

    def body(self) -> Optional[dict[str, Any]]:
        """What to send now; `None` once there is an answer."""
        messages = self._turn.request()
        self._reason = "stop"
        return None if messages is None else {**self._body, "messages": messages}

    # An answer that comes whole.

    def take(self, answer: dict[str, Any]) -> None:
        """Takes an answer of the endpoint."""
        self._note(answer)
        for choice in _objects(answer.get("choices"))[:1]:
            self._feed(_object(choice.get("message")))
            self._reason = choice.get("finish_reason") or "stop"
        self._end()

    def answer(self) -> dict[str, Any]:
        """The client's answer, once no more is to be sent; raises `NoAnswer`."""
        self._check()
        calls = [_call(tool, arguments) for _, tool, arguments in self._turn.calls]
        message: dict[str, Any] = {"role": "assistant", "content": self._turn.content or None}
        if not calls and message["content"] is None:
            message["content"] = ""
        if self._turn.reasoning:
            message["reasoning_content"] = self._turn.reasoning
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": self._turn.finish_reason, "logprobs": None}
        answer = {**self._head, "object": "chat.completion", "choices": [choice]}
        return {**answer, "usage": self._usage} if self._usage else answer

    # An answer that comes in pieces.

    @property
    def is_streaming(self) -> bool:
        """Whether more of the endpoint's answer is wanted."""
        return self._turn.is_streaming

    def line(self, line: str) -> Iterator[dict[str, Any]]:
        """Takes a line of the endpoint's stream, and gives chunks for the client."""
        data = line[5:].strip() if line.startswith("data:") else ""
        if data and data != "[DONE]":
            yield from self.chunk(json.loads(data))

    def chunk(self, chunk: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Takes a chunk of the endpoint's stream, and gives chunks for the client."""
        self._note(chunk)
        for choice in _objects(chunk.get("choices")):
            for kind, text in self._feed(_object(choice.get("delta"))):
                yield self._made({"content" if kind == "text" else "reasoning_content": text})
            self._reason = choice.get("finish_reason") or self._reason

    def end_of_stream(self) -> Iterator[dict[str, Any]]:
        """The endpoint's stream is over."""
        for kind, text in self._end():
            yield self._made({"content" if kind == "text" else "reasoning_content": text})

    def last(self) -> Iterator[dict[str, Any]]:
        """The chunks at the end of the client's stream; raises `NoAnswer`."""
        self._check()
        for index, (_, tool, arguments) in enumerate(self._turn.calls):
            yield self._made({"tool_calls": [{"index": index, **_call(tool, arguments)}]})
        yield self._made({}, self._turn.finish_reason)
        if self._usage:
            yield {**self._made({}), "choices": [], "usage": self._usage}

    def _made(self, delta: dict[str, Any], reason: Optional[str] = None) -> dict[str, Any]:
        head = {"id": f"chatcmpl-{id(self):x}", "created": int(time.time()), "model": self._body.get("model")}
        choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}
        return {**head, **self._head, "object": "chat.completion.chunk", "choices": [choice]}

    def _check(self) -> None:
        if self._turn.finish_reason == "error":
            raise NoAnswer(self._turn.problem)

    def _feed(self, message: dict[str, Any]) -> _Told:
        return self._turn.push_message(message) if self._turn.is_streaming else []

    def _end(self) -> _Told:
        return self._turn.finish(self._reason) if self._turn.is_streaming else []

    def _note(self, answer: dict[str, Any]) -> None:
        """Keeps what the endpoint says of itself, and adds up what its answers cost."""
        self._head = {key: answer[key] for key in ("id", "created", "model") if key in answer} or self._head
        for key, value in _object(answer.get("usage")).items():
            if isinstance(value, int):
                self._usage[key] = self._usage.get(key, 0) + value


def _call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"id": f"call_{uuid.uuid4().hex[:24]}", "type": "function", "function": function}
