"""A provider for LiteLLM: any of its models has tools under the prefix `toolgraft/`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Callable, TypeVar

import litellm
from litellm import ModelResponse
from litellm.llms.custom_llm import CustomLLM, CustomLLMError
from litellm.types.utils import ModelResponseStream  # pyright: ignore[reportMissingTypeStubs]
from litellm.utils import custom_llm_setup

from ._exchange import Exchange, NoAnswer
from ._native import ToolgraftError

__all__ = ["Handler", "register"]


class Handler(CustomLLM):
    """A custom handler of LiteLLM: the model's name is one of LiteLLM's own, such as
    `ollama_chat/qwen3:4b`, and is asked with texts alone.

    Settings are those of `toolgraft.Turn`. One call has more in `toolgraft={…}`.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._settings = settings

    def completion(self, *args: Any, **call: Any) -> Any:
        """Asks the model until there is an answer."""
        asking = _Asking(call, self._settings)
        while (sent := asking.body()) is not None:
            asking.exchange.take(_plain(litellm.completion(**sent)))
        return ModelResponse(**_answered(asking.exchange.answer))

    async def acompletion(self, *args: Any, **call: Any) -> Any:
        """The same for asyncio."""
        asking = _Asking(call, self._settings)
        while (sent := asking.body()) is not None:
            asking.exchange.take(_plain(await litellm.acompletion(**sent)))
        return ModelResponse(**_answered(asking.exchange.answer))

    def streaming(self, *args: Any, **call: Any) -> Iterator[Any]:
        """Text comes at once, and calls once the message is over and they are accepted."""
        asking = _Asking(call, self._settings)
        exchange = asking.exchange
        while (sent := asking.body()) is not None:
            chunks: Any = litellm.completion(stream=True, **sent)
            for chunk in chunks:
                yield from map(_made, exchange.chunk(_plain(chunk)))
                if not exchange.is_streaming:
                    break
            yield from map(_made, exchange.end_of_stream())
        yield from map(_made, _answered(lambda: list(exchange.last())))

    async def astreaming(self, *args: Any, **call: Any) -> AsyncIterator[Any]:  # type: ignore[override]  # pyright: ignore
        """The same for asyncio."""
        asking = _Asking(call, self._settings)
        exchange = asking.exchange
        while (sent := asking.body()) is not None:
            chunks: Any = await litellm.acompletion(stream=True, **sent)
            async for chunk in chunks:
                for told in exchange.chunk(_plain(chunk)):
                    yield _made(told)
                if not exchange.is_streaming:
                    break
            for told in exchange.end_of_stream():
                yield _made(told)
        for told in _answered(lambda: list(exchange.last())):
            yield _made(told)


def register(provider: str = "toolgraft", **settings: Any) -> None:
    """Makes the models known to LiteLLM under this prefix: `toolgraft/ollama_chat/qwen3:4b`.

    Settings are those of `toolgraft.Turn`; those of an earlier call are replaced.
    """
    others = [item for item in litellm.custom_provider_map if item["provider"] != provider]
    litellm.custom_provider_map = [*others, {"provider": provider, "custom_handler": Handler(**settings)}]
    custom_llm_setup()


_End = TypeVar("_End")
_NOT_SENT = ("stream", "stream_options", "toolgraft")


class _Asking:
    """What LiteLLM hands over, as requests to the model."""

    def __init__(self, call: dict[str, Any], settings: dict[str, Any]) -> None:
        asked = {name: value for name, value in call["optional_params"].items() if name not in _NOT_SENT}
        own = {"model": call["model"].rpartition("/")[2], **settings, **call["optional_params"].get("toolgraft", {})}
        try:
            self.exchange = Exchange({"model": call["model"], "messages": call["messages"], **asked}, own)
        except ToolgraftError as error:
            raise CustomLLMError(status_code=400, message=str(error)) from error
        given = {"api_base": call["api_base"], "api_key": call["api_key"], "timeout": call["timeout"]}
        given["extra_headers"] = call["headers"]
        self._how = {name: value for name, value in given.items() if value}

    def body(self) -> dict[str, Any] | None:
        """What to ask now; `None` once there is an answer."""
        sent = self.exchange.body()
        return None if sent is None else {**sent, **self._how}


def _answered(end: Callable[[], _End]) -> _End:
    try:
        return end()
    except NoAnswer as error:
        raise CustomLLMError(status_code=502, message=str(error)) from error


def _plain(answer: Any) -> dict[str, Any]:
    plain: dict[str, Any] = answer.model_dump()
    return plain


def _made(chunk: dict[str, Any]) -> ModelResponseStream:
    return ModelResponseStream(**chunk)
