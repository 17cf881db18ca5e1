"""A request with tools to a model without: its messages and tools in, texts to send and pieces of the answer out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from ._native import Catalog, Exchanges, SettingError, StateError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._native import _Told, _Tools, _TurnSettings  # pyright: ignore[reportPrivateUsage]

_End = Literal["tool_calls", "length", "content_filter", "stop", "error"]


class Turn:
    """A model without tool calling, used as if it had it: requests with tools in, text and calls out.

    `messages` are those of a request to Chat Completions. `request` returns the messages for the model, without tools;
    `push`, `push_reasoning` and `finish` take its answer. A mistake of the model is corrected by a further `request`.
    At the end there are `calls` or a `content`.

    The settings are those of `render_prompt` except `system` and `description_chars`; `output` is a JSON Schema that
    the answer has to match, and `max_corrections` the largest number of consecutive requests that only correct a
    mistake.
    """

    def __init__(
        self,
        tools: _Tools,
        messages: Iterable[dict[str, Any]],
        *,
        output: dict[str, Any] | bool | None = None,
        max_corrections: int | None = None,
        **settings: Unpack[_TurnSettings],
    ) -> None:
        if "system" in settings:
            raise SettingError("the system text is not a setting: put it first in `messages`")
        tool_choice, max_calls = settings.pop("tool_choice", None), settings.pop("max_calls", None)
        if max_calls not in (None, 1):
            raise SettingError("a turn has any number of calls, or at most one: `max_calls` is 1 or `None`")
        catalog = tools if isinstance(tools, Catalog) else Catalog(tools)
        is_word = tool_choice in (None, "auto", "none", "required")
        body: dict[str, Any] = {
            "model": settings.get("model") or "model",
            "stream": True,
            "messages": list(messages),
            "tools": [_function(tool.to_dict()) for tool in catalog.tools],
            "tool_choice": tool_choice if is_word else {"function": {"name": tool_choice}},
            "parallel_tool_calls": False if max_calls else None,
        }
        if output is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": output}}
        exchanges = _exchanges(json.dumps({**settings, "max_corrections": max_corrections}))
        self._exchange = exchanges.turn(json.dumps(body, ensure_ascii=False))
        self._calls: list[tuple[str, str, dict[str, Any]]] = []
        self._end: _End | None = None

    def request(self) -> list[dict[str, Any]] | None:
        """The messages to send now, in the form of Chat Completions, once. `None` if there is nothing to send: the turn
        is over, or an answer is awaited."""
        body = self._exchange.request()
        messages: list[dict[str, Any]] | None = None if body is None else json.loads(body)["messages"]
        return messages

    def push(self, chunk: str, /) -> _Told:
        """Takes the next chunk of the answer's text, and returns the pieces for the client: pairs of `text` or
        `reasoning` and the text."""
        return self._take({"content": chunk})

    def push_reasoning(self, chunk: str, /) -> _Told:
        """Takes the next chunk of a separate reasoning field, and returns the pieces for the client."""
        return self._take({"reasoning_content": chunk})

    def finish(self, reason: str = "stop") -> _Told:
        """Finishes the answer with the endpoint's finish reason."""
        return self._take({}, reason) + self._told(self._exchange.end())

    def _take(self, delta: dict[str, str], reason: str | None = None) -> _Told:
        if not self.is_streaming:
            raise StateError("no answer is expected: send `request` first, unless the turn is over")
        for text in (*delta.values(), reason or ""):
            if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"expected a str, found {text!r}")
        chunk = {"choices": [{"delta": delta, "finish_reason": reason}]}
        return self._told(self._exchange.push(json.dumps(chunk, ensure_ascii=False)))

    def _told(self, events: bytes) -> _Told:
        """Takes events for a client of Chat Completions."""
        told: _Told = []
        for line in events.decode().split("\n"):
            chunk: dict[str, Any] = json.loads(line[6:]) if line.startswith("data: {") else {}
            self._end = "error" if "error" in chunk else self._end
            choices: list[dict[str, Any]] = chunk.get("choices", [])
            for choice in choices:
                delta: dict[str, Any] = choice["delta"]
                self._end = choice["finish_reason"] or self._end
                if text := delta.get("content") or delta.get("refusal"):
                    told.append(("text", text))
                if text := delta.get("reasoning_content"):
                    told.append(("reasoning", text))
                calls: list[dict[str, Any]] = delta.get("tool_calls", [])
                for call in calls:
                    function: dict[str, str] = call["function"]
                    self._calls.append((call["id"], function["name"], json.loads(function["arguments"])))
        return told

    @property
    def is_streaming(self) -> bool:
        """True while more of the model's answer is wanted. After that the stream can be closed."""
        return self._exchange.is_streaming

    @property
    def calls(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Calls for the client to run: identifier, tool, arguments."""
        return list(self._calls)

    @property
    def content(self) -> str:
        """The text of the answer so far."""
        return self._exchange.content

    @property
    def reasoning(self) -> str:
        """The model's reasoning so far."""
        return self._exchange.reasoning

    @property
    def finish_reason(self) -> _End | None:
        """The finish reason of Chat Completions, or `error` if there is no answer; `None` before the end."""
        return self._end

    @property
    def problem(self) -> str | None:
        """Message for the user if the answer failed or is not what the client requested; otherwise `None`."""
        return self._exchange.problem

    def __repr__(self) -> str:
        return f"<toolgraft.Turn, {'over' if self._end else 'open'}>"


@lru_cache(maxsize=16)
def _exchanges(settings: str) -> Exchanges:
    """What turns with the same settings share."""
    return Exchanges(**json.loads(settings))


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool in MCP's form as a function of a request."""
    function = {
        "name": tool["name"],
        "description": tool.get("description", tool.get("title")),
        "parameters": tool.get("inputSchema"),
        "annotations": tool.get("annotations"),
    }
    return {"type": "function", "function": function}
