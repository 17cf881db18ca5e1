"""A chat model for LangChain whose `bind_tools` works where the model itself has no tools."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI

from .openai import wrap

__all__ = ["chat_model"]


class _ChatModel(ChatOpenAI):
    """Tells beside a tool's result whether it is an error."""

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)  # pyright: ignore
        said = self._convert_input(input_).to_messages()
        for message, sent in zip(said, payload.get("messages", [])):
            if isinstance(message, ToolMessage) and message.status == "error":
                sent["status"] = "tool_error"
        return payload


def chat_model(model: str, *, toolgraft: dict[str, Any] | None = None, **settings: Any) -> ChatOpenAI:
    """The chat model of this name, with tools.

    `settings` are those of `ChatOpenAI`, such as `base_url`; `toolgraft` has those of
    `toolgraft.openai.wrap`.
    """
    own = toolgraft or {}
    chat = _ChatModel(model=model, **settings)
    if chat.root_client is not None:
        chat.root_client = wrap(chat.root_client, **own)
        chat.client = chat.root_client.chat.completions
    if chat.root_async_client is not None:
        chat.root_async_client = wrap(chat.root_async_client, **own)
        chat.async_client = chat.root_async_client.chat.completions
    return chat
