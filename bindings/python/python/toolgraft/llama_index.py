"""A model for LlamaIndex that calls functions where the model itself has no tools."""

from __future__ import annotations

from typing import Any

from llama_index.llms.openai_like import OpenAILike  # pyright: ignore[reportMissingTypeStubs]
from openai import AsyncOpenAI, OpenAI
from pydantic import PrivateAttr

from .openai import wrap

__all__ = ["chat_model"]


class _ChatModel(OpenAILike):
    _toolgraft: dict[str, Any] = PrivateAttr(default_factory=dict[str, Any])

    def _get_client(self) -> OpenAI:
        return wrap(super()._get_client(), **self._toolgraft)

    def _get_aclient(self) -> AsyncOpenAI:
        return wrap(super()._get_aclient(), **self._toolgraft)


def chat_model(model: str, *, toolgraft: dict[str, Any] | None = None, **settings: Any) -> OpenAILike:
    """The chat model of this name, with tools.

    `settings` are those of `OpenAILike`, such as `api_base` and `context_window`; `toolgraft` has
    those of `toolgraft.openai.wrap`.
    """
    kind: dict[str, Any] = {"is_chat_model": True, "is_function_calling_model": True, "should_use_structured_outputs": True}
    chat = _ChatModel(model=model, **{**kind, **settings})
    chat._toolgraft = toolgraft or {}  # pyright: ignore[reportPrivateUsage]
    return chat
