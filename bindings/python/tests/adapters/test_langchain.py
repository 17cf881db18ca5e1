"""`toolgraft.langchain` with the real package, in front of a scripted model."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from openai import DefaultHttpxClient
from pydantic import BaseModel
from scripted import Scripted, call

from toolgraft.langchain import chat_model


class Weather(BaseModel):
    """The weather."""

    celsius: int


@tool
def forecast(city: str) -> str:
    """The weather of the coming days."""
    return f"{city}: sunny, 20 °C"


CALL = call("forecast", '{"city": "Ulm"}')


def model(scripted: Scripted) -> Any:
    return chat_model("m", base_url=scripted.url, api_key="none", max_retries=0)


class LangChain(unittest.TestCase):
    def test_a_bound_tool_is_called_and_its_result_read(self) -> None:
        with Scripted("Let me look.\n" + CALL, "It is sunny.") as scripted:
            bound = model(scripted).bind_tools([forecast])
            asked: list[Any] = [HumanMessage("The weather in Ulm?")]
            answer = bound.invoke(asked)
            assert isinstance(answer, AIMessage)
            (made,) = answer.tool_calls
            self.assertEqual((answer.text, made["name"], made["args"]), ("Let me look.", "forecast", {"city": "Ulm"}))
            result: Any = forecast.invoke(made)
            assert isinstance(result, ToolMessage)
            self.assertEqual(bound.invoke([*asked, answer, result]).text, "It is sunny.")
            self.assertIn("Ulm: sunny, 20 °C", scripted.requests[1]["messages"][-1]["content"])

    def test_a_tool_that_fails_is_told_as_an_error(self) -> None:
        with Scripted(CALL, "No idea.") as scripted:
            bound = model(scripted).bind_tools([forecast])
            answer = bound.invoke("The weather in Ulm?")
            assert isinstance(answer, AIMessage)
            failed = ToolMessage("no such city", tool_call_id=answer.tool_calls[0]["id"], status="error")
            bound.invoke([HumanMessage("The weather in Ulm?"), answer, failed])
            told = scripted.requests[1]["messages"][-1]["content"]
            self.assertRegex(told, 'status="error" [^>]*>\nno such city')

    def test_the_callers_client_sends(self) -> None:
        with Scripted(CALL) as scripted:
            http = DefaultHttpxClient(proxy=scripted.url.removesuffix("/v1"))
            chat: Any = chat_model("m", base_url="http://model.invalid/v1", api_key="none", http_client=http)
            answer = chat.bind_tools([forecast]).invoke("The weather in Ulm?")
            assert isinstance(answer, AIMessage)
            self.assertEqual(answer.tool_calls[0]["name"], "forecast")

    def test_a_stream(self) -> None:
        with Scripted("Let me look.\n" + CALL) as scripted:
            whole: AIMessageChunk | None = None
            for chunk in model(scripted).bind_tools([forecast]).stream("The weather in Ulm?"):
                assert isinstance(chunk, AIMessageChunk)
                whole = chunk if whole is None else whole + chunk
            assert whole is not None
            self.assertEqual((whole.text, whole.tool_calls[0]["args"]), ("Let me look.", {"city": "Ulm"}))

    def test_asyncio(self) -> None:
        with Scripted(CALL) as scripted:
            bound = model(scripted).bind_tools([forecast], tool_choice="any")
            answer = asyncio.run(bound.ainvoke("The weather in Ulm?"))
            assert isinstance(answer, AIMessage)
            self.assertEqual(answer.tool_calls[0]["name"], "forecast")

    def test_structured_output(self) -> None:
        for method, text in (
            ("json_schema", '```json\n{"celsius": 20}\n```'),
            ("json_mode", '{"celsius": 20}'),
            ("function_calling", call("Weather", '{"celsius": "20"}')),
        ):
            with self.subTest(method), Scripted(text) as scripted:
                structured = model(scripted).with_structured_output(Weather, method=method)
                self.assertEqual(structured.invoke("The weather?"), Weather(celsius=20))


if __name__ == "__main__":
    unittest.main()
