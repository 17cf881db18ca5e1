"""`toolgraft.openai` with the real package, in front of a scripted model."""

from __future__ import annotations

import asyncio
import json
import unittest
from typing import Any

import openai
from openai.types.chat import ChatCompletionToolParam
from scripted import Scripted, call

from toolgraft import SettingError
from toolgraft.openai import Transport, wrap

TOOL: ChatCompletionToolParam = {
    "type": "function",
    "function": {
        "name": "forecast",
        "description": "The weather of the coming days.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
CALL = call("forecast", '{"city": "Ulm", "days": "3"}')
ASKED: list[Any] = [{"role": "user", "content": "The weather in Ulm?"}]


def client(model: Scripted, **settings: Any) -> openai.OpenAI:
    return wrap(openai.OpenAI(api_key="none", base_url=model.url, max_retries=0), **settings)


class Whole(unittest.TestCase):
    def test_a_call_comes_as_a_call_and_its_result_goes_out_as_text(self) -> None:
        with Scripted("Let me look.\n" + CALL + "\nAnd so on.", "Sunny.") as model:
            messages = list(ASKED)
            answer = client(model).chat.completions.create(model="m", messages=messages, tools=[TOOL])
            choice = answer.choices[0]
            self.assertEqual((choice.finish_reason, choice.message.content), ("tool_calls", "Let me look."))
            (made,) = choice.message.tool_calls or []
            assert made.type == "function"
            self.assertEqual(made.function.name, "forecast")
            self.assertEqual(json.loads(made.function.arguments), {"city": "Ulm", "days": 3})
            messages.append(choice.message)
            messages.append({"role": "tool", "tool_call_id": made.id, "content": "Sunny, 20 °C."})
            answer = client(model).chat.completions.create(model="m", messages=messages, tools=[TOOL])
            self.assertEqual(answer.choices[0].message.content, "Sunny.")
            sent = model.requests[1]["messages"]
            self.assertEqual([message["role"] for message in sent], ["system", "user", "assistant", "user"])
            self.assertIn("<use_mcp_tool>", sent[2]["content"])
            self.assertIn("Sunny, 20 °C.", sent[3]["content"])

    def test_a_mistake_is_corrected_and_usage_is_that_of_the_last_request(self) -> None:
        with Scripted(call("forecast", '{"days": 3}'), CALL) as model:
            answer = client(model).chat.completions.create(model="m", messages=ASKED, tools=[TOOL])
            self.assertEqual(answer.choices[0].finish_reason, "tool_calls")
            self.assertEqual(len(model.requests), 2)
            self.assertIn("city", model.requests[1]["messages"][-1]["content"])
            assert answer.usage is not None
            self.assertEqual(answer.usage.total_tokens, 15)

    def test_a_required_call_is_asked_for_again(self) -> None:
        with Scripted("I will not.", CALL) as model:
            chat = client(model).chat.completions
            answer = chat.create(model="m", messages=ASKED, tools=[TOOL], tool_choice="required")
            self.assertEqual((answer.choices[0].finish_reason, len(model.requests)), ("tool_calls", 2))

    def test_a_call_that_is_not_corrected_reaches_the_client(self) -> None:
        wrong = call("forecast", '{"town": "Ulm"}')
        with Scripted(*[wrong] * 4) as model:
            answer = client(model, max_corrections=1).chat.completions.create(model="m", messages=ASKED, tools=[TOOL])
            (made,) = answer.choices[0].message.tool_calls or []
            assert made.type == "function"
            self.assertEqual((json.loads(made.function.arguments), len(model.requests)), ({"town": "Ulm"}, 2))

    def test_where_there_is_no_answer_the_reason_arrives_as_an_error(self) -> None:
        for stream in (False, True):
            with self.subTest(stream=stream), Scripted(*["I will not."] * 4) as model:
                chat = client(model, max_corrections=1).chat.completions
                with self.assertRaises(openai.APIError) as raised:
                    create: Any = chat.create
                    list(create(model="m", messages=ASKED, tools=[TOOL], tool_choice="required", stream=stream))
                self.assertIn("required", str(raised.exception))

    def test_a_choice_among_tools_lists_those_alone(self) -> None:
        other: Any = {"type": "function", "function": {"name": "alarm", "parameters": {"type": "object"}}}

        def choose(name: str) -> Any:
            allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": name}}]}
            return {"type": "allowed_tools", "allowed_tools": allowed}

        with Scripted(CALL) as model:
            chat = client(model).chat.completions
            chat.create(model="m", messages=ASKED, tools=[TOOL, other], tool_choice=choose("forecast"))
            self.assertNotIn("alarm", json.dumps(model.requests[0]))
            with self.assertRaisesRegex(openai.BadRequestError, "'nothing'"):
                chat.create(model="m", messages=ASKED, tools=[TOOL, other], tool_choice=choose("nothing"))

    def test_no_call_where_the_choice_is_none(self) -> None:
        with Scripted("Sunny.") as model:
            chat = client(model).chat.completions
            answer = chat.create(model="m", messages=ASKED, tools=[TOOL], tool_choice="none")
            self.assertEqual(answer.choices[0].message.content, "Sunny.")
            self.assertNotIn("forecast", json.dumps(model.requests[0]))

    def test_an_answer_after_a_schema(self) -> None:
        schema = {"type": "object", "properties": {"celsius": {"type": "integer"}}, "required": ["celsius"]}
        form: Any = {"type": "json_schema", "json_schema": {"name": "weather", "schema": schema}}
        with Scripted('```json\n{"celsius": "warm"}\n```', 'Here:\n```json\n{"celsius": 20}\n```') as model:
            chat = client(model).chat.completions
            answer = chat.create(model="m", messages=ASKED, response_format=form)
            self.assertEqual(json.loads(answer.choices[0].message.content or ""), {"celsius": 20})

    def test_a_request_without_tools_passes(self) -> None:
        with Scripted(CALL) as model:
            answer = client(model).chat.completions.create(model="m", messages=ASKED)
            self.assertEqual(answer.choices[0].message.content, CALL)
            self.assertEqual(model.requests[0]["messages"], ASKED)

    def test_a_history_with_calls_goes_out_as_text_without_tools_too(self) -> None:
        made = {"id": "a", "type": "function", "function": {"name": "forecast", "arguments": '{"city": "Ulm"}'}}
        result = {"role": "tool", "tool_call_id": "a", "content": "Sunny.", "status": "tool_error"}
        messages: Any = [*ASKED, {"role": "assistant", "tool_calls": [made]}, result]
        with Scripted("It is sunny.") as model:
            answer = client(model).chat.completions.create(model="m", messages=messages)
            self.assertEqual(answer.choices[0].message.content, "It is sunny.")
            self.assertIn("Sunny.", model.requests[0]["messages"][-1]["content"])

    def test_what_cannot_be_sent_is_a_bad_request(self) -> None:
        said: Any = [{"role": "nobody", "content": "Hi."}]
        with Scripted() as model, self.assertRaises(openai.BadRequestError) as raised:
            client(model).chat.completions.create(model="m", messages=said, tools=[TOOL])
        self.assertEqual(raised.exception.param, "messages[0].role")

    def test_a_part_that_nobody_reads_is_a_line_of_text(self) -> None:
        said: Any = [{"role": "user", "content": [{"type": "mystery", "name": "riddle.txt"}]}]
        with Scripted("I know nothing.") as model:
            client(model).chat.completions.create(model="m", messages=said, tools=[TOOL])
            self.assertEqual(model.requests[0]["messages"][-1]["content"], "[mystery: riddle.txt]")

    def test_the_endpoints_own_error_arrives(self) -> None:
        with Scripted() as model, self.assertRaises(openai.BadRequestError):
            client(model).chat.completions.create(model="m", messages=ASKED, tools=[TOOL])


    def test_what_a_setting_does_not_take_is_said_at_once(self) -> None:
        inner = openai.OpenAI(api_key="none", base_url="http://model.invalid/v1")
        with self.assertRaises(SettingError):
            wrap(inner, dialect="no such")
        for wrong in ({"no_such": 1}, {"tool_choice": "none"}, {"max_corrections": -1}):
            with self.assertRaisesRegex(TypeError, next(iter(wrong))):
                wrap(inner, **wrong)

    def test_tools_of_a_service_are_left_out_and_named(self) -> None:
        hosted: Any = {"type": "web_search_preview"}
        with Scripted(CALL) as model:
            chat = client(model).chat.completions.with_raw_response
            answer = chat.create(model="m", messages=ASKED, tools=[TOOL, hosted])
            self.assertEqual(answer.headers["x-toolgraft-left-out"], "web_search_preview")
            self.assertEqual(answer.parse().choices[0].finish_reason, "tool_calls")


class Responses(unittest.TestCase):
    def test_a_call_and_its_result_whole_and_streamed(self) -> None:
        tool: Any = {"type": "function", **TOOL["function"]}
        for stream in (False, True):
            with self.subTest(stream=stream), Scripted("Look.\n" + CALL, "It is sunny.", "Hi.") as model:
                responses = client(model).responses
                asked: Any = [{"role": "user", "content": "The weather?"}]
                answer: Any = responses.create(model="m", input=asked, tools=[tool], stream=stream)
                if stream:
                    (answer,) = [event.response for event in answer if event.type == "response.completed"]
                (made,) = [item for item in answer.output if item.type == "function_call"]
                self.assertEqual((made.name, json.loads(made.arguments)["city"]), ("forecast", "Ulm"))
                result: Any = {"type": "function_call_output", "call_id": made.call_id, "output": "Sunny."}
                said: Any = [*asked, *answer.output, result]
                answer = responses.create(model="m", input=said, tools=[tool])
                self.assertEqual(answer.output_text, "It is sunny.")
                self.assertIn("Sunny.", model.requests[1]["messages"][-1]["content"])
                self.assertEqual(responses.create(model="m", input="Hello.").output_text, "Hi.")


class OwnHttp(unittest.TestCase):
    """What the caller's client of httpx does is done for each request that goes out."""

    def test_its_hooks_are_called_and_its_proxy_is_asked(self) -> None:
        for stream in (False, True):
            with self.subTest(stream=stream), Scripted(call("forecast", '{"days": 3}'), CALL) as model:
                met: list[str] = []
                http = openai.DefaultHttpxClient(
                    proxy=model.url.removesuffix("/v1"),
                    event_hooks={
                        "request": [lambda request: met.append(str(request.url))],  # pyright: ignore
                        "response": [lambda response: met.append(str(response.status_code))],  # pyright: ignore
                    },
                )
                asking = wrap(openai.OpenAI(api_key="none", base_url="http://model.invalid/v1", http_client=http))
                answer: Any = asking.chat.completions.create(model="m", messages=ASKED, tools=[TOOL], stream=stream)
                last = list(answer)[-1] if stream else answer
                self.assertEqual(last.choices[0].finish_reason, "tool_calls")
                self.assertEqual(met, ["http://model.invalid/v1/chat/completions", "200"] * 2)

    def test_so_it_is_with_asyncio(self) -> None:
        async def ask(model: Scripted) -> list[str]:
            met: list[str] = []

            async def meet(request: Any) -> None:
                met.append(request.headers["x-own"])

            proxy = model.url.removesuffix("/v1")
            http = openai.DefaultAsyncHttpxClient(proxy=proxy, headers={"x-own": "1"}, event_hooks={"request": [meet]})
            inner = openai.AsyncOpenAI(api_key="none", base_url="http://model.invalid/v1", http_client=http)
            async with wrap(inner) as client:
                await client.chat.completions.create(model="m", messages=ASKED, tools=[TOOL])
                self.assertFalse(inner.is_closed())
            self.assertTrue(inner.is_closed())
            return met

        with Scripted(call("forecast", '{"days": 3}'), CALL) as model:
            self.assertEqual(asyncio.run(ask(model)), ["1", "1"])

    def test_the_endpoints_headers_arrive(self) -> None:
        with Scripted(call("forecast", '{"days": 3}'), CALL) as model:
            answer = client(model).chat.completions.create(model="m", messages=ASKED, tools=[TOOL])
            self.assertEqual(answer._request_id, "req_2")  # pyright: ignore[reportPrivateUsage]

    def test_a_client_of_either_httpx_is_wrapped(self) -> None:
        import httpx

        with Scripted(CALL) as model, httpx.Client() as http:
            http_client: Any = http
            asking = wrap(openai.OpenAI(api_key="none", base_url=model.url, http_client=http_client))
            answer = asking.chat.completions.create(model="m", messages=ASKED, tools=[TOOL])
            self.assertEqual(answer.choices[0].finish_reason, "tool_calls")

    def test_what_takes_a_transport_alone(self) -> None:
        with Scripted(CALL, "It is sunny.") as model:
            http = openai.DefaultHttpxClient(transport=Transport())
            asking = openai.OpenAI(api_key="none", base_url=model.url, http_client=http)
            answer = asking.chat.completions.create(model="m", messages=ASKED, tools=[TOOL])
            self.assertEqual(answer.choices[0].finish_reason, "tool_calls")


class Streamed(unittest.TestCase):
    def test_text_comes_at_once_and_calls_at_the_end(self) -> None:
        with Scripted("Let me look.\n" + CALL) as model:
            chunks = list(client(model).chat.completions.create(model="m", messages=ASKED, tools=[TOOL], stream=True))
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
            self.assertEqual(text, "Let me look.")
            calls = [each for chunk in chunks for each in chunk.choices[0].delta.tool_calls or []]
            self.assertEqual([each.function.name for each in calls if each.function], ["forecast"])
            self.assertEqual(chunks[-1].choices[0].finish_reason, "tool_calls")

    def test_the_helper_for_streams(self) -> None:
        with Scripted("No need to.") as model:
            with client(model).chat.completions.stream(model="m", messages=ASKED, tools=[TOOL]) as stream:
                final = stream.get_final_completion()
            self.assertEqual(final.choices[0].message.content, "No need to.")

    def test_a_mistake_is_corrected_in_a_stream(self) -> None:
        with Scripted("Look:\n" + call("forecast", '{"days": 3}'), CALL) as model:
            chunks = list(client(model).chat.completions.create(model="m", messages=ASKED, tools=[TOOL], stream=True))
            self.assertEqual(chunks[-1].choices[0].finish_reason, "tool_calls")
            self.assertEqual("".join(chunk.choices[0].delta.content or "" for chunk in chunks), "Look:")

    def test_asyncio(self) -> None:
        async def ask(model: Scripted, stream: bool) -> str | None:
            async with wrap(openai.AsyncOpenAI(api_key="none", base_url=model.url)) as client:
                create = client.chat.completions.create
                if not stream:
                    answer = await create(model="m", messages=ASKED, tools=[TOOL])
                    return answer.choices[0].finish_reason
                chunks = await create(model="m", messages=ASKED, tools=[TOOL], stream=True)
                return [chunk.choices[0].finish_reason async for chunk in chunks][-1]

        for stream in (False, True):
            with Scripted(CALL) as model:
                self.assertEqual(asyncio.run(ask(model, stream)), "tool_calls")


if __name__ == "__main__":
    unittest.main()
