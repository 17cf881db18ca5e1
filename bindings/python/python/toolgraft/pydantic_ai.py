"""A model for Pydantic AI whose tools and typed outputs work where the model itself has none."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any

from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam
from pydantic_ai.messages import ModelRequest, ToolReturnPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from .openai import wrap

__all__ = ["chat_model"]

_STATUS = {"failed": "tool_error", "retried": "tool_error", "denied": "denied", "interrupted": "cancelled"}


class _ChatModel(OpenAIChatModel):
    """Tells beside a tool's result how its call ended, and not in its text."""

    async def _map_user_message(self, message: ModelRequest) -> AsyncIterable[ChatCompletionMessageParam]:
        returned = {part.tool_call_id: part for part in message.parts if isinstance(part, ToolReturnPart)}
        async for sent in super()._map_user_message(message):
            part = returned.get(sent["tool_call_id"]) if sent["role"] == "tool" else None
            if part is None or part.outcome == "success":
                yield sent
            else:
                status = _STATUS.get(part.outcome, "tool_error")
                told: Any = {**sent, "content": part.model_response_str(wrap_if_error=False), "status": status}
                yield told


def chat_model(
    name: str, client: AsyncOpenAI, *, settings: ModelSettings | None = None, **toolgraft: Any
) -> OpenAIChatModel:
    """The model of this name at the client's endpoint, with tools.

    `settings` are those of Pydantic AI; all others are those of `toolgraft.openai.wrap`.
    """
    profile = OpenAIModelProfile(
        supports_tools=True,
        supports_json_schema_output=True,
        supports_json_object_output=True,
        openai_supports_strict_tool_definition=False,
    )
    provider = OpenAIProvider(openai_client=wrap(client, **toolgraft))
    return _ChatModel(name, provider=provider, profile=profile, settings=settings)
