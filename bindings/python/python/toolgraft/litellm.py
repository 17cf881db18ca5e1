"""A provider for LiteLLM: any of its models has tools under the prefix `toolgraft/`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import litellm
from litellm import ModelResponse
from litellm.llms.custom_llm import CustomLLM, CustomLLMError
from litellm.types.utils import ModelResponseStream  # pyright: ignore[reportMissingTypeStubs]
from litellm.utils import custom_llm_setup

from ._native import Exchanges, Refused, ToolgraftError

__all__ = ["Handler", "register"]


class Handler(CustomLLM):
    """A custom handler of LiteLLM: the model's name is one of LiteLLM's own, such as
    `ollama_chat/qwen3:4b`, and is asked with texts alone.

    Settings are those of `toolgraft.openai.wrap`. One call has more in `toolgraft={…}`.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._settings = settings
        self._exchanges = Exchanges(**settings)

    def completion(self, *args: Any, **call: Any) -> Any:
        """Asks the model until there is an answer."""
        asking = self._asking(call)
        while (sent := asking.body()) is not None:
            asking.take(litellm.completion(**sent))
        return ModelResponse(**asking.answer())

    async def acompletion(self, *args: Any, **call: Any) -> Any:
        """The same for asyncio."""
        asking = self._asking(call)
        while (sent := asking.body()) is not None:
            asking.take(await litellm.acompletion(**sent))
        return ModelResponse(**asking.answer())

    def streaming(self, *args: Any, **call: Any) -> Iterator[Any]:
        """Text comes at once, and calls once the message is over and they are accepted."""
        asking = self._asking(call, stream=True)
        while (sent := asking.body()) is not None:
            chunks: Any = litellm.completion(**sent)
            for chunk in chunks:
                yield from asking.chunk(chunk)
                if not asking.exchange.is_streaming:
                    break
            yield from asking.end()

    async def astreaming(self, *args: Any, **call: Any) -> AsyncIterator[Any]:  # type: ignore[override]  # pyright: ignore
        """The same for asyncio."""
        asking = self._asking(call, stream=True)
        while (sent := asking.body()) is not None:
            chunks: Any = await litellm.acompletion(**sent)
            async for chunk in chunks:
                for told in asking.chunk(chunk):
                    yield told
                if not asking.exchange.is_streaming:
                    break
            for told in asking.end():
                yield told

    def _asking(self, call: dict[str, Any], stream: bool = False) -> _Asking:
        own: dict[str, Any] = call["optional_params"].get("toolgraft", {})
        try:
            return _Asking(call, Exchanges(**{**self._settings, **own}) if own else self._exchanges, stream)
        except ToolgraftError as error:
            raise CustomLLMError(status_code=400, message=str(error)) from error


def register(provider: str = "toolgraft", **settings: Any) -> None:
    """Makes the models known to LiteLLM under this prefix: `toolgraft/ollama_chat/qwen3:4b`.

    Settings are those of `toolgraft.openai.wrap`; those of an earlier call are replaced.
    """
    others = [item for item in litellm.custom_provider_map if item["provider"] != provider]
    litellm.custom_provider_map = [*others, {"provider": provider, "custom_handler": Handler(**settings)}]
    custom_llm_setup()


class _Asking:
    """What LiteLLM hands over, as requests to the model."""

    def __init__(self, call: dict[str, Any], exchanges: Exchanges, stream: bool) -> None:
        asked = {name: value for name, value in call["optional_params"].items() if name != "toolgraft"}
        body = {"model": call["model"], "messages": call["messages"], **asked, "stream": stream}
        body = {name: value for name, value in body.items() if _has_json(value)}
        with _raised():
            begun = exchanges.begin("/chat/completions", json.dumps(body, default=_plain).encode(), False)
        assert begun is not None, "nothing passes as it is"
        self.exchange = begun
        self._told = b""
        given = {"api_base": call["api_base"], "api_key": call["api_key"], "timeout": call["timeout"]}
        given["extra_headers"] = call["headers"]
        self._how = {name: value for name, value in given.items() if value}
        self._how.update((name, value) for name, value in asked.items() if name not in body)

    def body(self) -> dict[str, Any] | None:
        """What to ask now; `None` once there is an answer."""
        with _raised():
            sent = self.exchange.request()
        if sent is None:
            return None
        body = {**json.loads(sent), **self._how}
        body.pop("stream_options", None)
        return body

    def take(self, answer: Any) -> None:
        """Takes a whole answer of the model."""
        with _raised():
            self._told = self.exchange.push(json.dumps(_plain(answer), default=str)) + self.exchange.end()

    def answer(self) -> dict[str, Any]:
        """The client's answer, once nothing is to be asked any more."""
        answer: dict[str, Any] = json.loads(self._told)
        return answer

    def chunk(self, chunk: Any) -> Iterator[ModelResponseStream]:
        """Takes a chunk of the model's stream, and gives chunks for the client."""
        return _made(self.exchange.push(json.dumps(_plain(chunk), default=str)))

    def end(self) -> Iterator[ModelResponseStream]:
        """The model's stream is over."""
        return _made(self.exchange.end())


@contextmanager
def _raised() -> Generator[None, None, None]:
    try:
        yield
    except Refused as error:
        status, message, _ = error.args
        raise CustomLLMError(status_code=status, message=message) from error


def _plain(value: Any) -> Any:
    return value.model_dump()


def _has_json(value: Any) -> bool:
    try:
        json.dumps(value, default=_plain)
    except (AttributeError, TypeError, ValueError):
        return False
    return True


def _made(told: bytes) -> Iterator[ModelResponseStream]:
    for line in told.decode().split("\n"):
        if line.startswith("data: {"):
            chunk = json.loads(line[6:])
            if error := chunk.get("error"):
                raise CustomLLMError(status_code=502, message=error["message"])
            yield ModelResponseStream(**chunk)
