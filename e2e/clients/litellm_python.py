"""litellm: whole, streamed, and as a client of Anthropic's interface."""

import json
import os

# Prices are of no use here, and would be fetched.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm  # noqa: E402

from frameworks import QUESTION, RETRIES, URL, check, run_tool  # noqa: E402

litellm.telemetry = False
litellm.suppress_debug_info = True
TOOLS = [{"type": "function", "function": function} for function in (
    {"name": "weather", "description": "The weather of a city.", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
    {"name": "now", "description": "The time.", "parameters": {"type": "object", "properties": {}}},
)]


def way(provider, streams):
    base = URL if provider == "openai" else URL.removesuffix("/v1")

    def ask(name, messages):
        arguments = {"model": f"{provider}/{name}", "api_base": base, "api_key": "none", "messages": messages, "tools": TOOLS, "num_retries": RETRIES}
        if not streams:
            return litellm.completion(**arguments).choices[0].message
        chunks = list(litellm.completion(**arguments, stream=True))
        return litellm.stream_chunk_builder(chunks, messages=messages).choices[0].message

    def run(name):
        messages = [{"role": "user", "content": QUESTION}]
        message = ask(name, messages)
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls or []:
            result = run_tool(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return ask(name, messages).content if message.tool_calls else message.content

    return run


if __name__ == "__main__":
    check({f"{provider} {'streamed' if streams else 'whole'}": way(provider, streams) for provider in ("openai", "anthropic") for streams in (False, True)})
