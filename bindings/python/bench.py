"""Megabytes in a second through `Parser.push`, in chunks of 16 bytes and of other sizes.

    python bench.py [SECONDS]
"""

import sys
import time

import toolgraft

PROSE = "The quick brown fox jumps over the lazy dog, and nobody knows why it does so. " * 30
CALL = (
    '<tool_call>{"name": "write_file", "arguments": {"path": "src/main.rs", "content": "'
    + "fn main() { println!(); }\\n" * 60
    + '"}}</tool_call>'
)
TEXTS = {"prose": PROSE * 20, "calls": CALL * 20, "prose and calls": (PROSE + "\n" + CALL + "\n") * 10}


def rate(text: str, size: int, seconds: float) -> float:
    """The best of many passes: others may use the machine, too."""
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    parser = toolgraft.Parser()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        push = parser.push
        for chunk in chunks:
            push(chunk)
        parser.finish()
        best = min(best, time.perf_counter() - start)
        parser.reset()
    return len(text.encode()) / best / 1e6


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    for name, text in TEXTS.items():
        rates = ", ".join(f"{size} bytes {rate(text, size, seconds):.0f}" for size in (16, 64, 4096))
        print(f"{name}: MB/s at {rates}")


if __name__ == "__main__":
    main()
