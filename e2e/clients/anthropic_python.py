"""anthropic for Python: whole, and the helper that puts a stream together."""

import anthropic
from anthropic import beta_tool

from common import TOOLS, URL, each, same

client = anthropic.Anthropic(base_url=URL.removesuffix("/v1"), api_key="none", max_retries=2)
tools = [{"name": name, "description": text, "input_schema": parameters} for name, text, parameters in TOOLS]
REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


def ask(way, model, messages):
    arguments = {
        "model": model, "messages": messages, "tools": tools, "max_tokens": 4000, "system": "Be brief.",
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }
    if way == "whole":
        return client.messages.create(**arguments)
    with client.messages.stream(**arguments) as stream:
        for _ in stream:
            pass
        return stream.get_final_message()


def text(message):
    return "".join(block.text for block in message.content if block.type == "text")


def run(way, model, expect):
    messages = [{"role": "user", "content": "What is the weather?"}]
    if "error" in expect:
        try:
            ask(way, model, messages)
        except anthropic.AnthropicError as error:
            same(expect["error"] in str(error), True, f"whether {error} says what happened")
            return
        raise AssertionError("no error came")
    message = ask(way, model, messages)
    same(text(message), expect["content"], "the content")
    if "reasoning" in expect:
        same([block.thinking for block in message.content if block.type == "thinking"], [expect["reasoning"]], "the reasoning")
    calls = [block for block in message.content if block.type == "tool_use"]
    same([[call.name, call.input] for call in calls], expect["calls"], "the calls")
    same(message.stop_reason, REASONS[expect["finish"]], "the reason")
    same(message.usage.output_tokens > 0, True, "whether the cost is told")
    if "then" in expect:
        messages.append({"role": "assistant", "content": message.content})
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": "-3 degrees"} for call in calls]
        messages.append({"role": "user", "content": [*results, {"type": "text", "text": "And?"}]})
        message = ask(way, model, messages)
        same((text(message), message.stop_reason), (expect["then"], "end_turn"), "the answer to the results")


@beta_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return "-3 degrees"


def by_itself(stream):
    """The tool runner, which first asks the service to keep the conversation and then sends only what is new."""
    messages = [{"role": "user", "content": "What is the weather?"}]
    model = f"runner@0@{stream}"
    runner = client.beta.messages.tool_runner(
        model=model, max_tokens=4000, tools=[weather], messages=messages, stream=stream)
    answers = [step.get_final_message() if stream else step for step in runner]
    same([answer.stop_reason for answer in answers], ["tool_use", "end_turn"], "the ends of the runner's answers")
    same(text(answers[-1]), "All is here.", "the runner's answer")


by_itself(False)
by_itself(True)
same(client.messages.count_tokens(model="text@0@0", messages=[{"role": "user", "content": "Hi"}], tools=tools).input_tokens > 100, True, "the count")
each(["whole", "stream"], run)
