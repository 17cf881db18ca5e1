"""The words that settings take and records hold, as types."""

from typing import Literal

Dialect = Literal[
    "use_mcp_tool",
    "tool_tag",
    "type_marker",
    "hermes",
    "tool_calls",
    "tool_request",
    "python_tag",
    "function_tag",
    "invoke",
    "kimi",
    "deepseek",
    "glm",
    "harmony",
    "command",
    "solar",
    "kimi_k3",
    "gemma",
    "python",
    "json",
    "react",
]
Provenance = Literal[
    "plain",
    "fenced_first",
    "after_prose",
    "before_prose",
    "hedged",
    "in_a_line",
    "fenced_after_prose",
    "in_element",
    "mended",
    "echoed",
    "instead_of_read",
    "promoted",
]
RejectedKind = Literal[
    "in_reasoning",
    "invented",
    "quoted",
    "after_damage",
    "limit",
    "truncated",
    "malformed",
    "unknown_tool",
    "invalid_arguments",
    "near_call",
]
QuotedIn = Literal[
    "fence",
    "code_span",
    "quotation",
    "block_quote",
    "indented_code",
    "comment",
    "block",
    "sign",
    "own_words",
]
MarkerKind = Literal[
    "think_open", "think_close", "fence", "call_line", "answer_line", "wrapper", "token", "turn"
]
Status = Literal["result", "tool_error", "denied", "timed_out", "cancelled", "displayed"]
