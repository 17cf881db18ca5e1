"""openai for Python: whole, streamed, and the helper that puts a stream together."""

import json

import openai

from common import TOOLS, URL, each, same

client = openai.OpenAI(base_url=URL, api_key="none", max_retries=2)
tools = [
    {"type": "function", "function": {"name": name, "description": text, "parameters": parameters, "strict": name == "weather"}}
    for name, text, parameters in TOOLS
]


def ask(way, model, messages):
    """Content, reasoning, message and reason of an answer."""
    arguments = {"model": model, "messages": messages, "tools": tools}
    if way == "whole":
        choice = client.chat.completions.create(**arguments).choices[0]
        return choice.message, getattr(choice.message, "reasoning_content", None), choice.finish_reason
    if way == "helper":
        with client.chat.completions.stream(**arguments) as stream:
            for _ in stream:
                pass
            choice = stream.get_final_completion().choices[0]
        return choice.message, None, choice.finish_reason
    content, reasoning, calls, reason, usage = "", "", {}, None, None
    for chunk in client.chat.completions.create(**arguments, stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        if not chunk.choices:
            continue
        delta = chunk.choices[0].delta
        content += delta.content or ""
        reasoning += getattr(delta, "reasoning_content", None) or ""
        for piece in delta.tool_calls or []:
            call = calls.setdefault(piece.index, {"id": piece.id, "type": "function", "function": {"name": piece.function.name, "arguments": ""}})
            call["function"]["arguments"] += piece.function.arguments or ""
        reason = chunk.choices[0].finish_reason or reason
    if usage is None or usage.total_tokens == 0:
        raise AssertionError("no usage came")
    message = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = list(calls.values())
    return openai.types.chat.ChatCompletionMessage.model_validate(message), reasoning, reason


def run(way, model, expect):
    messages = [{"role": "user", "content": "What is the weather?"}]
    if "error" in expect:
        try:
            ask(way, model, messages)
        except openai.OpenAIError as error:
            same(expect["error"] in str(error), True, f"whether {error} says what happened")
            return
        raise AssertionError("no error came")
    try:
        message, reasoning, reason = ask(way, model, messages)
    except openai.LengthFinishReasonError:
        # The helper's own way to say so, where a tool is strict.
        same(("helper", "length"), (way, expect["finish"]), "the reason")
        return
    same(message.content or "", expect["content"], "the content")
    if "reasoning" in expect and reasoning is not None:
        same(reasoning, expect["reasoning"], "the reasoning")
    calls = [[call.function.name, json.loads(call.function.arguments)] for call in message.tool_calls or []]
    same(calls, expect["calls"], "the calls")
    same(reason, expect["finish"], "the reason")
    if "then" in expect:
        messages.append(message.to_dict())
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "-3 degrees"})
        message, _, reason = ask(way, model, messages)
        same((message.content, reason), (expect["then"], "stop"), "the answer to the results")


each(["whole", "stream", "helper"], run)
