"""`toolgraft.llama_index` with the real package, in front of a scripted model."""

# What the package says of its types is too little for more.
# pyright: basic

from __future__ import annotations

import asyncio
import unittest
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from openai import DefaultHttpxClient
from pydantic import BaseModel
from scripted import Scripted, call

from toolgraft.llama_index import chat_model


class Weather(BaseModel):
    """The weather."""

    celsius: int


def forecast(city: str) -> str:
    """The weather of the coming days."""
    return f"{city}: sunny, 20 °C"


TOOL = FunctionTool.from_defaults(forecast)
CALL = call("forecast", '{"city": "Ulm"}')


def model(scripted: Scripted, **settings: Any) -> Any:
    return chat_model("m", api_base=scripted.url, api_key="none", max_retries=0, **settings)


class LlamaIndex(unittest.TestCase):
    def test_a_call_comes_as_a_call(self) -> None:
        with Scripted("Let me look.\n" + CALL) as scripted:
            llm = model(scripted)
            answer = llm.chat_with_tools([TOOL], user_msg="The weather in Ulm?")
            (made,) = llm.get_tool_calls_from_response(answer)
            self.assertEqual((made.tool_name, made.tool_kwargs), ("forecast", {"city": "Ulm"}))
            self.assertEqual(answer.message.content, "Let me look.")

    def test_a_stream(self) -> None:
        with Scripted("Let me look.\n" + CALL) as scripted:
            llm = model(scripted)
            *_, last = llm.stream_chat_with_tools([TOOL], user_msg="The weather in Ulm?")
            (made,) = llm.get_tool_calls_from_response(last)
            self.assertEqual((last.message.content, made.tool_kwargs), ("Let me look.", {"city": "Ulm"}))

    def test_an_agent_streams_and_calls(self) -> None:
        async def run(scripted: Scripted) -> str:
            agent = FunctionAgent(tools=[TOOL], llm=model(scripted), streaming=True)
            return str(await agent.run(user_msg="The weather in Ulm?"))

        with Scripted(CALL, "It is sunny.") as scripted:
            self.assertEqual(asyncio.run(run(scripted)), "It is sunny.")
            self.assertIn("Ulm: sunny, 20 °C", scripted.requests[1]["messages"][-1]["content"])

    def test_structured_output(self) -> None:
        for own in ({}, {"should_use_structured_outputs": False}):
            text = call("Weather", '{"celsius": "20"}') if own else 'It is:\n```json\n{"celsius": "20"}\n```'
            with self.subTest(own), Scripted(text) as scripted:
                answer = model(scripted, **own).structured_predict(Weather, PromptTemplate("The weather?"))
                self.assertEqual(answer, Weather(celsius=20))

    def test_structured_output_of_a_chat(self) -> None:
        with Scripted('{"celsius": 20}') as scripted:
            structured = model(scripted).as_structured_llm(Weather)
            self.assertEqual(structured.chat([ChatMessage("The weather?")]).raw, Weather(celsius=20))

    def test_the_callers_client_sends_and_settings_hold(self) -> None:
        with Scripted("No.") as scripted:
            http = DefaultHttpxClient(proxy=scripted.url.removesuffix("/v1"))
            own: dict[str, Any] = {"http_client": http, "toolgraft": {"dialect": "hermes"}}
            llm = chat_model("m", api_base="http://model.invalid/v1", api_key="none", **own)
            llm.chat_with_tools([TOOL], user_msg="The weather in Ulm?")
            self.assertIn("<tool_call>", scripted.requests[0]["messages"][0]["content"])


if __name__ == "__main__":
    unittest.main()
