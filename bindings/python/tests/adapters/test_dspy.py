"""`toolgraft.dspy` with the real package, in front of a scripted model."""

# What the package says of its types is too little for more.
# pyright: basic

from __future__ import annotations

import asyncio
import unittest
from typing import Any

import dspy
from pydantic import BaseModel
from scripted import Scripted, call

from toolgraft.dspy import lm


class Weather(BaseModel):
    celsius: int


def forecast(city: str) -> str:
    """The weather of the coming days."""
    return f"{city}: sunny, 20 °C"


class Asking(dspy.Signature):
    """Answers with the help of tools."""

    question: str = dspy.InputField()
    tools: list[dspy.Tool] = dspy.InputField()
    calls: dspy.ToolCalls = dspy.OutputField()


class Telling(dspy.Signature):
    question: str = dspy.InputField()
    weather: Weather = dspy.OutputField()


CALL = call("forecast", '{"city": "Ulm"}')


def context(scripted: Scripted, adapter: Any, **settings: Any) -> Any:
    own: dict[str, Any] = {"api_base": scripted.url, "api_key": "none", "cache": False, "num_retries": 0, **settings}
    return dspy.context(lm=lm("openai/m", **own), adapter=adapter)


class Dspy(unittest.TestCase):
    def asked(self, scripted: Scripted, **settings: Any) -> Any:
        with context(scripted, dspy.ChatAdapter(use_native_function_calling=True), **settings):
            return dspy.Predict(Asking)(question="The weather in Ulm?", tools=[dspy.Tool(forecast)])

    def test_a_call_comes_as_a_call(self) -> None:
        with Scripted(CALL) as scripted:
            (made,) = self.asked(scripted).calls.tool_calls
            self.assertEqual((made.name, made.args), ("forecast", {"city": "Ulm"}))
            self.assertIn("<use_mcp_tool>", scripted.requests[0]["messages"][0]["content"])

    def test_settings(self) -> None:
        with Scripted(CALL) as scripted:
            self.asked(scripted, toolgraft={"dialect": "hermes"})
            self.assertIn("<tool_call>", scripted.requests[0]["messages"][0]["content"])

    def test_structured_output(self) -> None:
        with Scripted('It is:\n```json\n{"weather": {"celsius": "20"}}\n```') as scripted:
            with context(scripted, dspy.JSONAdapter()):
                self.assertEqual(dspy.Predict(Telling)(question="The weather?").weather, Weather(celsius=20))
            self.assertEqual(len(scripted.requests), 1)

    def test_an_answer_that_does_not_match_is_asked_for_again(self) -> None:
        with Scripted('{"weather": "warm"}', '{"weather": {"celsius": 20}}') as scripted:
            with context(scripted, dspy.JSONAdapter()):
                self.assertEqual(dspy.Predict(Telling)(question="The weather?").weather, Weather(celsius=20))
            self.assertIn("/weather: expected object", scripted.requests[1]["messages"][-1]["content"])

    def test_a_stream(self) -> None:
        async def ask(scripted: Scripted) -> Any:
            with context(scripted, dspy.ChatAdapter(use_native_function_calling=True)):
                program: Any = dspy.streamify(dspy.Predict(Asking))
                told = [each async for each in program(question="The weather in Ulm?", tools=[dspy.Tool(forecast)])]
                return told[-1]

        with Scripted(CALL) as scripted:
            (made,) = asyncio.run(ask(scripted)).calls.tool_calls
            self.assertEqual(made.args, {"city": "Ulm"})
            self.assertTrue(scripted.requests[0]["stream"])


if __name__ == "__main__":
    unittest.main()
