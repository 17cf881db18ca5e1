"""Tool calling for language models that have none.

The prompt that teaches a syntax of calls, an incremental parser that finds the calls in a
model's text, and checks of their arguments against the tools' schemas.
"""

from typing import Union

from ._native import (
    DIALECTS,
    ArgsDelta,
    Call,
    CallEnd,
    CallStart,
    Catalog,
    Conversation,
    Entry,
    HubError,
    Marker,
    Message,
    Moved,
    NotACall,
    Parser,
    PromptError,
    Reason,
    Reasoning,
    Rejected,
    Revised,
    SettingError,
    Span,
    StateError,
    Text,
    Tool,
    ToolError,
    ToolgraftError,
    ToolResult,
    __version__,
    load_dialect,
    neutralise,
    parse,
    render_prompt,
    results_message,
    validate,
)
from ._turn import Turn
from ._words import Dialect, MarkerKind, Provenance, QuotedIn, RejectedKind, Status
from .agent import Agent, RunError, tool_from_function
from .hub import Hub

#: What `Parser.push` and `Parser.finish` give. Later versions may add to it.
Event = Union[
    Text,
    Reasoning,
    CallStart,
    ArgsDelta,
    CallEnd,
    Marker,
    Revised,
    Moved,
]

__all__ = [
    "DIALECTS",
    "Agent",
    "ArgsDelta",
    "Call",
    "CallEnd",
    "CallStart",
    "Catalog",
    "Conversation",
    "Dialect",
    "Entry",
    "Event",
    "Hub",
    "HubError",
    "Marker",
    "MarkerKind",
    "Message",
    "Moved",
    "NotACall",
    "Parser",
    "PromptError",
    "Provenance",
    "QuotedIn",
    "Reason",
    "Reasoning",
    "Rejected",
    "Revised",
    "RejectedKind",
    "RunError",
    "SettingError",
    "Span",
    "StateError",
    "Status",
    "Text",
    "Tool",
    "ToolError",
    "ToolResult",
    "ToolgraftError",
    "Turn",
    "__version__",
    "load_dialect",
    "neutralise",
    "parse",
    "render_prompt",
    "results_message",
    "tool_from_function",
    "validate",
]
