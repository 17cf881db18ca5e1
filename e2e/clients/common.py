"""What the clients for Python share: the cases, and how they are counted."""

import json
import os
from pathlib import Path

URL = os.environ["TOOLGRAFT_URL"]
CASES = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
SIZES = [1, 7, 0]
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
NOTHING = {"type": "object", "properties": {}}
TOOLS = [("weather", "The weather of a city.", PARAMETERS), ("now", "The time.", NOTHING)]


def each(ways, run):
    """Runs every case with every size of chunks in every way of asking."""
    done = 0
    for name, case in CASES.items():
        for size in SIZES:
            for way in ways:
                model = f"{name}@{size}@{os.getpid()}{way}{id(run)}"
                try:
                    run(way, model, case["expect"])
                except BaseException as error:
                    raise SystemExit(f"{name}, chunks of {size}, {way}: {type(error).__name__}: {error}") from error
                done += 1
    print(f"{done} answers")


def same(found, expected, what):
    if found != expected:
        raise AssertionError(f"{what} is {found!r}, and should be {expected!r}")
