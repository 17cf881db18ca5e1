"""What the frameworks share: a question that takes a call and its result, whole and streamed,
in chunks of one character, of seven, and in one piece.

A script gives `check` one function for each of its ways: it asks the model that it is given,
runs the tool `weather(city)` with `weather` below, and returns the answer's text. The first
model name makes one call, the second a damaged one that is corrected before.
"""

import os


URL = os.environ["TOOLGRAFT_URL"]
QUESTION = "What is the weather?"
ASKED = []


def weather(city: str) -> str:
    """The weather of a city."""
    ASKED.append(city)
    return "-3 degrees"


def check(ways):
    done = 0
    for case, city in [("call", 'Oslo "east"'), ("field", "Oslo")]:
        for size in [1, 7, 0]:
            for name, ask in ways.items():
                ASKED.clear()
                what = f"{case}, chunks of {size}, {name}"
                try:
                    text = ask(f"{case}@{size}@{os.getpid()}{name}")
                except Exception as error:
                    raise SystemExit(f"{what}: {type(error).__name__}: {error}") from error
                if "old." not in text or ASKED != [city]:
                    raise SystemExit(f"{what}: the answer is {text!r}, and was asked for {ASKED}")
                done += 1
    print(f"{done} answers")
