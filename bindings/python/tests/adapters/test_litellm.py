"""`toolgraft.litellm` with the real package, in front of a scripted model."""

# What the package says of its types is too little for more.
# pyright: basic

from __future__ import annotations

import asyncio
import json
import unittest
from typing import Any

import litellm
from litellm.exceptions import BadRequestError
from pydantic import BaseModel
from scripted import Scripted, call

from toolgraft.litellm import register

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "forecast", "parameters": PARAMETERS}}
CALL = call("forecast", '{"city": "Ulm"}')
ASKED: list[dict[str, Any]] = [{"role": "user", "content": "The weather in Ulm?"}]


class Weather(BaseModel):
    celsius: int


def how(scripted: Scripted, **more: Any) -> dict[str, Any]:
    more = {"messages": ASKED, **more}
    return {"model": "toolgraft/openai/m", "api_base": scripted.url, "api_key": "none", "max_retries": 0, **more}


def together(chunks: list[Any]) -> tuple[str, list[tuple[str, Any]], str]:
    """Text, calls and the end of a stream."""
    choices = [chunk.choices[0] for chunk in chunks]
    text = "".join(choice.delta.content or "" for choice in choices)
    calls = [each.function for choice in choices for each in choice.delta.tool_calls or []]
    ends = [choice.finish_reason for choice in choices if choice.finish_reason]
    return text, [(each.name, json.loads(each.arguments)) for each in calls], ends[-1]


class LiteLlm(unittest.TestCase):
    def setUp(self) -> None:
        register()

    def test_a_call_comes_as_a_call_and_its_result_goes_out_as_text(self) -> None:
        with Scripted("Let me look.\n" + CALL, "It is sunny.") as scripted:
            answer: Any = litellm.completion(**how(scripted, tools=[TOOL], temperature=0.5))
            (choice,) = answer.choices
            self.assertEqual((choice.finish_reason, choice.message.content), ("tool_calls", "Let me look."))
            (made,) = choice.message.tool_calls
            self.assertEqual((made.function.name, json.loads(made.function.arguments)), ("forecast", {"city": "Ulm"}))
            self.assertEqual(scripted.requests[0]["temperature"], 0.5)
            result = {"role": "tool", "tool_call_id": made.id, "content": "Sunny, 20 °C."}
            messages = [*ASKED, choice.message.model_dump(), result]
            answer = litellm.completion(**how(scripted, messages=messages, tools=[TOOL]))
            self.assertEqual(answer.choices[0].message.content, "It is sunny.")
            self.assertIn("Sunny, 20 °C.", scripted.requests[1]["messages"][-1]["content"])

    def test_a_mistake_is_corrected_and_usage_is_that_of_the_last_request(self) -> None:
        with Scripted(call("forecast", "{}"), CALL) as scripted:
            answer: Any = litellm.completion(**how(scripted, tools=[TOOL]))
            self.assertEqual((answer.choices[0].finish_reason, answer.usage.total_tokens), ("tool_calls", 15))

    def test_a_stream(self) -> None:
        with Scripted("Look:\n" + call("forecast", "{}"), CALL) as scripted:
            chunks: Any = litellm.completion(**how(scripted, tools=[TOOL], stream=True))
            told = together(list(chunks))
            self.assertEqual(told, ("Look:", [("forecast", {"city": "Ulm"})], "tool_calls"))

    def test_asyncio(self) -> None:
        async def ask(scripted: Scripted) -> None:
            answer: Any = await litellm.acompletion(**how(scripted, tools=[TOOL]))
            self.assertEqual(answer.choices[0].finish_reason, "tool_calls")
            stream: Any = await litellm.acompletion(**how(scripted, tools=[TOOL], stream=True))
            told = together([chunk async for chunk in stream])
            self.assertEqual(told, ("Look:", [("forecast", {"city": "Ulm"})], "tool_calls"))

        with Scripted(CALL, "Look:\n" + CALL) as scripted:
            asyncio.run(ask(scripted))

    def test_structured_output(self) -> None:
        schema = {"name": "Weather", "schema": Weather.model_json_schema()}
        for form in (Weather, {"type": "json_schema", "json_schema": schema}):
            with Scripted("Warm.", 'It is:\n```json\n{"celsius": "20"}\n```') as scripted:
                answer: Any = litellm.completion(**how(scripted, response_format=form))
                self.assertEqual(json.loads(answer.choices[0].message.content), {"celsius": 20})

    def test_settings_hold_for_all_calls_or_for_one(self) -> None:
        with Scripted("Ja.", "Ja.") as scripted:
            register("teaching", dialect="hermes")
            litellm.completion(**how(scripted, tools=[TOOL], model="teaching/openai/m"))
            litellm.completion(**how(scripted, tools=[TOOL], toolgraft={"dialect": "hermes"}))
            systems = {request["messages"][0]["content"] for request in scripted.requests}
            self.assertEqual(len(systems), 1)
            self.assertIn("<tool_call>", systems.pop())

    def test_what_goes_wrong_is_an_exception_of_litellm(self) -> None:
        said = [{"role": "nobody", "content": "Hi."}]
        with Scripted() as scripted, self.assertRaises(BadRequestError) as raised:
            litellm.completion(**how(scripted, messages=said, tools=[TOOL]))
        self.assertIn("messages[0].role", str(raised.exception))
        with Scripted() as scripted, self.assertRaises(BadRequestError):
            litellm.completion(**how(scripted, tools=[TOOL]))


if __name__ == "__main__":
    unittest.main()
