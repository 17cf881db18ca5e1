"""openai for Python, its Responses: whole, streamed, and the helper that puts a stream together."""

import json

import openai

from common import TOOLS, URL, each, same

client = openai.OpenAI(base_url=URL, api_key="none", max_retries=2)
tools = [{"type": "function", "name": name, "description": text, "parameters": parameters, "strict": name == "weather"} for name, text, parameters in TOOLS]


class Incomplete(Exception):
    pass


def ask(way, model, items):
    arguments = {"model": model, "input": items, "tools": tools, "instructions": "Be brief."}
    if way == "whole":
        return client.responses.create(**arguments)
    if way == "helper":
        with client.responses.stream(**arguments) as stream:
            kinds = [event.type for event in stream]
            if kinds[-1] == "response.incomplete":
                raise Incomplete
            return stream.get_final_response()
    text, arguments_of, last = "", {}, None
    for event in client.responses.create(**arguments, stream=True):
        if event.type == "response.output_text.delta":
            text += event.delta
        if event.type == "response.function_call_arguments.delta":
            arguments_of[event.output_index] = arguments_of.get(event.output_index, "") + event.delta
        last = event
    response = last.response
    same(response.output_text, text, "the text of the events")
    calls = {at: item.arguments for at, item in enumerate(response.output) if item.type == "function_call"}
    same(calls, arguments_of, "the arguments of the events")
    return response


def run(way, model, expect):
    items = [{"role": "user", "content": "What is the weather?"}]
    if "error" in expect:
        try:
            ask(way, model, items)
        except openai.OpenAIError as error:
            same(expect["error"] in str(error), True, f"whether {error} says what happened")
            return
        raise AssertionError("no error came")
    try:
        response = ask(way, model, items)
    except Incomplete:
        # The helper has no final answer then.
        same(expect["finish"], "length", "the reason")
        return
    same(response.output_text, expect["content"], "the content")
    if "reasoning" in expect:
        thoughts = [part.text for item in response.output if item.type == "reasoning" for part in item.content]
        same(thoughts, [expect["reasoning"]], "the reasoning")
    calls = [item for item in response.output if item.type == "function_call"]
    same([[call.name, json.loads(call.arguments)] for call in calls], expect["calls"], "the calls")
    same(response.status, "incomplete" if expect["finish"] == "length" else "completed", "the status")
    same(response.usage.total_tokens > 0, True, "whether the cost is told")
    if "then" in expect:
        items += [item.to_dict() for item in response.output]
        items += [{"type": "function_call_output", "call_id": call.call_id, "output": "-3 degrees"} for call in calls]
        response = ask(way, model, items)
        same((response.output_text, response.status), (expect["then"], "completed"), "the answer to the results")


try:
    client.responses.create(model="text@0@0", input="Hi", previous_response_id="resp_1")
except openai.BadRequestError as error:
    same(error.param, "previous_response_id", "the field that is refused")
else:
    raise SystemExit("an answer to what was not kept")
each(["whole", "stream", "helper"], run)
