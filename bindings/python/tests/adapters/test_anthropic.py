"""`toolgraft.openai.wrap` with the package `anthropic`, in front of a scripted model of Chat Completions."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import unittest
from typing import Any

import anthropic
from scripted import Scripted, call

from toolgraft.openai import wrap

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CALL = call("forecast", '{"city": "Ulm"}')


class Messages(unittest.TestCase):
    def test_a_call_and_its_result_whole_and_streamed(self) -> None:
        tool: Any = {"name": "forecast", "input_schema": PARAMETERS}
        asked: Any = [{"role": "user", "content": "The weather?"}]
        with Scripted("Look.\n" + CALL, "It is sunny.", "Hi.") as model:
            base = model.url.removesuffix("/v1")
            asking = wrap(anthropic.Anthropic(api_key="none", base_url=base, max_retries=0))
            answer = asking.messages.create(model="m", max_tokens=100, messages=asked, tools=[tool])
            _, made = answer.content
            assert made.type == "tool_use"
            self.assertEqual((answer.stop_reason, made.name, made.input["city"]), ("tool_use", "forecast", "Ulm"))
            result: Any = {"type": "tool_result", "tool_use_id": made.id, "content": "Sunny."}
            said: Any = [*asked, {"role": "assistant", "content": answer.content}, {"role": "user", "content": [result]}]
            with asking.messages.stream(model="m", max_tokens=100, messages=said, tools=[tool]) as stream:
                self.assertEqual(stream.get_final_text(), "It is sunny.")
            self.assertEqual(asking.messages.create(messages=asked, model="m", max_tokens=100).content[0].type, "text")
            with self.assertRaisesRegex(anthropic.BadRequestError, "max_tokens"):
                asking.messages.create(messages=asked, model="m", max_tokens=0, tools=[tool])

    def test_asyncio_and_a_separator_of_lines_in_a_text(self) -> None:
        async def ask(model: Scripted) -> str:
            base = model.url.removesuffix("/v1")
            async with wrap(anthropic.AsyncAnthropic(auth_token="none", base_url=base)) as asking:
                said: Any = [{"role": "user", "content": "Hi."}]
                async with asking.messages.stream(model="m", max_tokens=9, messages=said) as stream:
                    return await stream.get_final_text()

        with Scripted("Hello\u2028you.") as model:
            self.assertEqual(asyncio.run(ask(model)), "Hello\u2028you.")

    def test_the_package_openai_is_not_needed(self) -> None:
        program = "import sys; sys.modules['openai'] = None; from toolgraft.openai import wrap"
        subprocess.run([sys.executable, "-c", program], check=True)


if __name__ == "__main__":
    unittest.main()
