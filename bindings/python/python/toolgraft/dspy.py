"""A language model for DSPy whose tools and structured answers work where the model has none."""

from __future__ import annotations

from typing import Any

import dspy  # pyright: ignore[reportMissingTypeStubs]

from . import litellm

__all__ = ["lm"]


class _LM(dspy.LM):
    """A model with the prefix `toolgraft/`. DSPy looks up its abilities in LiteLLM's lists, which lack it."""

    @property
    def supports_function_calling(self) -> bool:
        return True

    @property
    def supports_response_schema(self) -> bool:
        return True


def lm(model: str, *, toolgraft: dict[str, Any] | None = None, **settings: Any) -> dspy.LM:
    """The language model of this name, one of LiteLLM's, such as `ollama_chat/qwen3:4b`.

    `settings` are those of `dspy.LM`, such as `api_base`; `toolgraft` has those of `toolgraft.openai.wrap`.
    """
    litellm.register()
    own = {"toolgraft": toolgraft} if toolgraft else {}
    return _LM(f"toolgraft/{model}", engine="litellm", **own, **settings)
