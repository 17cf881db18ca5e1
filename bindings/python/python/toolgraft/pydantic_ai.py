"""A model for Pydantic AI whose tools and typed outputs work where the model itself has none."""

from __future__ import annotations

from typing import Any

from openai import AsyncOpenAI
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from .openai import wrap

__all__ = ["chat_model"]


def chat_model(
    name: str, client: AsyncOpenAI, *, settings: ModelSettings | None = None, **toolgraft: Any
) -> OpenAIChatModel:
    """The model of this name behind the client's endpoint, with tools.

    `settings` are those of Pydantic AI; all others are those of `toolgraft.Turn`.
    """
    profile = OpenAIModelProfile(
        supports_tools=True,
        supports_json_schema_output=True,
        supports_json_object_output=True,
        openai_supports_strict_tool_definition=False,
    )
    provider = OpenAIProvider(openai_client=wrap(client, **toolgraft))
    return OpenAIChatModel(name, provider=provider, profile=profile, settings=settings)
