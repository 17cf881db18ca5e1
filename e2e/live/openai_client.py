"""openai for Python against `toolgraft serve` with the real model behind it; started by serve.rs."""

import json
import os

import openai
from pydantic import BaseModel, Field

MODEL = "smollm2-135m-instruct"
CITIES = ["Oslo", "Lima"]
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": CITIES}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": PARAMETERS, "strict": True}}


class Place(BaseModel):
    city: str = Field(max_length=30)
    is_big: bool


client = openai.OpenAI(base_url=os.environ["TOOLGRAFT_URL"], api_key="none", max_retries=0, timeout=200)
asked = {"model": MODEL, "messages": [{"role": "user", "content": "How cold is it in Oslo?"}], "max_tokens": 400}


def check(calls):
    assert calls, "no call came"
    for call in calls:
        arguments = json.loads(call.function.arguments)
        assert call.function.name == "weather" and list(arguments) == ["city"] and arguments["city"] in CITIES, call


check(client.chat.completions.create(**asked, tools=[TOOL], tool_choice="required").choices[0].message.tool_calls)
with client.chat.completions.stream(**asked, tools=[TOOL], tool_choice="required") as stream:
    for _ in stream:
        pass
    check(stream.get_final_completion().choices[0].message.tool_calls)
parsed = client.chat.completions.parse(**asked, response_format=Place).choices[0].message.parsed
assert isinstance(parsed, Place), parsed
text = "".join(
    chunk.choices[0].delta.content or ""
    for chunk in client.chat.completions.create(**asked | {"max_tokens": 8}, stream=True)
    if chunk.choices
)
assert text, "no text came"
print("4 answers")
