"""instructor: a value of a type, by a tool that has to be called, and as it grows.

Where the model makes no such call the framework must fail with what happened.
"""

import os

import instructor
import openai
from pydantic import BaseModel

from frameworks import CASES, QUESTION, RETRIES, URL, said

CLIENT = instructor.from_openai(openai.OpenAI(base_url=URL, api_key="none", max_retries=RETRIES), mode=instructor.Mode.TOOLS)


class weather(BaseModel):
    """The weather of a city."""

    city: str


def whole(model):
    return CLIENT.chat.completions.create(**asked(model), response_model=weather)


def grown(model):
    # The tool of what grows has a name of its own.
    return list(CLIENT.chat.completions.create_partial(**asked(f"{model}@Partialweather"), response_model=weather))[-1]


def asked(model):
    return {"model": model, "messages": [{"role": "user", "content": QUESTION}], "max_retries": 1}


done = 0
for case, script in CASES.items():
    calls = script["expect"].get("calls", [])
    city = next((arguments["city"] for name, arguments in calls if name == "weather"), None)
    for size in [1, 7, 0] if "content" in script["rounds"][0] else [0]:
        for way in (whole, grown):
            found, failed = None, None
            try:
                found = way(f"{case}@{size}@{os.getpid()}{way.__name__}").city
            except Exception as error:
                failed = said(error)
            if found != city or (not failed and not city) or script["expect"].get("error", "") not in (failed or ""):
                raise SystemExit(f"{case}, chunks of {size}, {way.__name__}: {found!r}, {failed}")
            done += 1
print(f"{done} answers")
