"""Every parser fixture, whole and in pieces, as the library itself reads it."""

from __future__ import annotations

import json
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import toolgraft

FILE = Path(__file__).parents[3] / "fixtures" / "conformance.jsonl"


def whole(text: str) -> Iterator[str]:
    yield text


def characters(text: str) -> Iterator[str]:
    yield from text


def sixteen(text: str) -> Iterator[str]:
    """Pieces of sixteen bytes, or as many as whole characters leave."""
    piece, size = "", 0
    for character in text:
        width = len(character.encode())
        if size + width > 16:
            yield piece
            piece, size = "", 0
        piece, size = piece + character, size + width
    if piece:
        yield piece


def parser(config: dict[str, Any]) -> tuple[toolgraft.Parser, str, str]:
    """The parser of a fixture, its reasoning field, and why its message ended."""
    settings = dict(config)
    reasoning = settings.pop("reasoning_field", "")
    reason = settings.pop("finish_reason", "stop")
    tools = settings.pop("tools", None)
    if "dialect" in settings:
        settings["dialects"] = settings.pop("dialect")
    settings.update(settings.pop("limits", {}))
    return toolgraft.Parser(tools, validate=False, **settings), reasoning, reason


def found(message: toolgraft.Message) -> dict[str, Any]:
    """What a message says, in the file's form."""
    rejected: list[dict[str, Any]] = []
    for one in message.rejected:
        rejected.append({"kind": one.kind, "raw": one.raw, "message": one.message})
    keys = ("server", "tool", "arguments", "dialect", "repairs", "provenance")
    calls = [{key: call.to_dict()[key] for key in keys} for call in message.calls]
    promoted = [
        entry.index
        for entry in message.entries
        for call in (entry.call or (entry.rejected and entry.rejected.call),)
        if call and call.provenance == "promoted"
    ]
    return {
        "content": message.content,
        "reasoning": message.reasoning,
        "calls": calls,
        "rejected": rejected,
        "promoted": promoted,
        "deltas": [entry.deltas for entry in message.entries],
        "answer_in_reasoning": message.answer_in_reasoning,
    }


def shown(value: Any) -> str:
    """Told apart as JSON does it: 1 is neither 1.0 nor true."""
    return json.dumps(value, sort_keys=True)


def tiles(events: list[toolgraft.Event], length: int) -> bool:
    """Whether the events' bytes follow each other without a gap, from 0 to this length."""
    at = 0
    for event in events:
        if event.span.start != at:
            return False
        at = event.span.end
    return at == length


class Conformance(unittest.TestCase):
    def replay(self, pieces: Callable[[str], Iterator[str]]) -> None:
        lines = FILE.read_text(encoding="utf-8").rstrip("\n").split("\n")
        self.assertGreater(len(lines), 1000)
        for line in lines:
            fixture = json.loads(line)
            with self.subTest(fixture["name"]):
                reader, reasoning, reason = parser(fixture["config"] or {})
                events: list[toolgraft.Event] = []
                for piece in pieces(reasoning):
                    events += reader.push_reasoning(piece)
                for piece in pieces(fixture["text"]):
                    events += reader.push(piece)
                events += reader.finish(reason)
                self.assertEqual(shown(found(reader.message)), shown(fixture["found"]))
                length = len((reasoning + fixture["text"]).encode())
                self.assertTrue(tiles(events, length))
                whole = reader.parse(fixture["text"], reasoning=reasoning, reason=reason)
                self.assertEqual(whole, reader.message)

    def test_whole(self) -> None:
        self.replay(whole)

    def test_by_character(self) -> None:
        self.replay(characters)

    def test_in_pieces_of_sixteen_bytes(self) -> None:
        self.replay(sixteen)


if __name__ == "__main__":
    unittest.main()
