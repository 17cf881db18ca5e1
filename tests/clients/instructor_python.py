"""instructor: a value of a type, by a tool, and as it grows."""

import os

import instructor
import openai
from pydantic import BaseModel

from frameworks import QUESTION, URL

CLIENT = instructor.from_openai(openai.OpenAI(base_url=URL, api_key="none", max_retries=0), mode=instructor.Mode.TOOLS)


class weather(BaseModel):
    """The weather of a city."""

    city: str


done = 0
for case, city in [("call", 'Oslo "east"'), ("field", "Oslo"), ("damaged", "Oslo")]:
    for size in [1, 7, 0]:
        arguments = {"model": f"{case}@{size}@{os.getpid()}", "messages": [{"role": "user", "content": QUESTION}], "max_retries": 1}
        found = CLIENT.chat.completions.create(**arguments, response_model=weather)
        # The tool of what grows has a name of its own.
        arguments["model"] += "@Partialweather"
        grown = list(CLIENT.chat.completions.create_partial(**arguments, response_model=weather))[-1]
        if (found.city, grown.city) != (city, city):
            raise SystemExit(f"{case}, chunks of {size}: {found!r}, {grown!r}")
        done += 2
print(f"{done} answers")
