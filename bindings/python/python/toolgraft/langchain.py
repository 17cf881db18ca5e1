"""A chat model for LangChain whose `bind_tools` works where the model itself has no tools."""

from __future__ import annotations

from typing import Any

from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

from .openai import AsyncTransport, Transport

__all__ = ["chat_model"]


def chat_model(model: str, *, toolgraft: dict[str, Any] | None = None, **settings: Any) -> ChatOpenAI:
    """The chat model of this name, with tools.

    `settings` are those of `ChatOpenAI`, such as `base_url`; `toolgraft` has those of
    `toolgraft.Turn`.
    """
    own = toolgraft or {}
    return ChatOpenAI(
        model=model,
        http_client=DefaultHttpxClient(transport=Transport(**own)),
        http_async_client=DefaultAsyncHttpxClient(transport=AsyncTransport(**own)),
        **settings,
    )
