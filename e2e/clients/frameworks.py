"""What the frameworks share: every case of cases.json, in chunks of one character, of seven, and
in one piece, whole and streamed.

A script gives `check` one function for each of its ways: it asks the model that it is given, runs
the tools `weather(city)` and `now()` below, and returns the text of the last answer. A framework
must show the right text behind the right calls, or an error of its own that says what happened.
Where an answer is cut off by its limit it may do either. It never runs half a call, and no answer
takes a minute.
"""

import json
import os
import signal
from pathlib import Path

URL = os.environ["TOOLGRAFT_URL"]
CASES = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
QUESTION = "What is the weather?"
ASKED = []
# Once more, where the endpoint says "later".
RETRIES = 1


def weather(city: str) -> str:
    """The weather of a city."""
    ASKED.append(["weather", {"city": city}])
    return "-3 degrees"


def now() -> str:
    """The time."""
    ASKED.append(["now", {}])
    return "-3 degrees"


def run_tool(name, arguments):
    return {"weather": weather, "now": now}[name](**arguments)


def hung(*_):
    raise TimeoutError("it hangs")


def said(error):
    """What an error and those behind it say."""
    texts = []
    while error is not None:
        texts.append(f"{type(error).__name__}: {error}")
        error = error.__cause__ or error.__context__
    return " / ".join(texts)


def wrong(expect, text, failed):
    """What is wrong with a text, or with an error in its place."""
    calls = expect.get("calls", [])
    # Some run both calls of a message at once.
    if sorted(ASKED, key=str) != sorted(calls, key=str):
        return f"it ran {ASKED}, and should have run {calls}"
    if "error" in expect:
        return None if failed and expect["error"] in failed else "it does not say what happened"
    if failed:
        return None if expect["finish"] == "length" else "it failed"
    return None if text == expect.get("then", expect["content"]) else "that is another text"


def check(ways):
    signal.signal(signal.SIGALRM, hung)
    done = 0
    for case, script in CASES.items():
        for size in [1, 7, 0] if "content" in script["rounds"][0] else [0]:
            for name, ask in ways.items():
                ASKED.clear()
                text, failed = None, None
                signal.alarm(60)
                try:
                    text = ask(f"{case}@{size}@{os.getpid()}{name.replace(' ', '')}")
                except Exception as error:
                    failed = said(error)
                finally:
                    signal.alarm(0)
                found = wrong(script["expect"], text, failed)
                if found or (failed and "it hangs" in failed):
                    raise SystemExit(f"{case}, chunks of {size}, {name}: {found}: {failed or repr(text)}")
                done += 1
    print(f"{done} answers")
