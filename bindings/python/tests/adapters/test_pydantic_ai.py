"""`toolgraft.pydantic_ai` with the real package, in front of a scripted model."""

from __future__ import annotations

import asyncio
import unittest

from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, NativeOutput, ToolOutput
from pydantic_ai.models.openai import OpenAIChatModel
from scripted import Scripted, call

from toolgraft.pydantic_ai import chat_model


class Weather(BaseModel):
    celsius: int


def model(scripted: Scripted) -> OpenAIChatModel:
    return chat_model("m", AsyncOpenAI(api_key="none", base_url=scripted.url, max_retries=0))


class PydanticAi(unittest.TestCase):
    def test_a_tool_runs(self) -> None:
        with Scripted(call("forecast", '{"city": "Ulm"}'), "It is sunny.") as scripted:
            agent = Agent(model(scripted), instructions="Be brief.")

            @agent.tool_plain
            def forecast(city: str) -> str:  # pyright: ignore[reportUnusedFunction]
                """The weather."""
                return f"{city}: sunny, 20 °C"

            self.assertEqual(asyncio.run(agent.run("The weather in Ulm?")).output, "It is sunny.")
            self.assertIn("Be brief.", scripted.requests[0]["messages"][0]["content"])
            self.assertIn("Ulm: sunny, 20 °C", scripted.requests[1]["messages"][-1]["content"])

    def test_a_tool_runs_in_a_stream(self) -> None:
        async def run(scripted: Scripted) -> str:
            agent = Agent(model(scripted))

            @agent.tool_plain
            def forecast(city: str) -> str:  # pyright: ignore[reportUnusedFunction]
                """The weather."""
                return "sunny"

            async with agent.run_stream("The weather in Ulm?") as result:
                return await result.get_output()

        with Scripted(call("forecast", '{"city": "Ulm"}'), "It is sunny.") as scripted:
            self.assertEqual(asyncio.run(run(scripted)), "It is sunny.")

    def test_a_tool_that_fails_is_told_as_an_error(self) -> None:
        with Scripted(call("forecast", '{"city": "Ulm"}'), "No idea.") as scripted:
            agent = Agent(model(scripted))

            @agent.tool_plain
            def forecast(city: str) -> str:  # pyright: ignore[reportUnusedFunction]
                """The weather."""
                raise ModelRetry("no such city")

            asyncio.run(agent.run("The weather in Ulm?"))
            told = scripted.requests[1]["messages"][-1]["content"]
            self.assertRegex(told, 'status="error" [^>]*>\nno such city')

    def test_typed_output_by_a_tool(self) -> None:
        with Scripted(call("final", '{"celsius": "20"}')) as scripted:
            agent = Agent(model(scripted), output_type=ToolOutput(Weather, name="final"))
            self.assertEqual(asyncio.run(agent.run("The weather?")).output, Weather(celsius=20))

    def test_typed_output_by_a_schema(self) -> None:
        with Scripted('It is:\n```json\n{"celsius": 20}\n```') as scripted:
            agent = Agent(model(scripted), output_type=NativeOutput(Weather))
            self.assertEqual(asyncio.run(agent.run("The weather?")).output, Weather(celsius=20))


if __name__ == "__main__":
    unittest.main()
