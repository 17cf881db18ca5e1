"""A turn: requests in texts, answers in pieces, calls out."""

from __future__ import annotations

import unittest
from typing import Any

import toolgraft
from toolgraft import Turn

TOOLS: list[dict[str, Any]] = [
    {
        "name": "forecast",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
]
ASKED: list[dict[str, Any]] = [{"role": "user", "content": "The weather?"}]
CALL = '<use_mcp_tool>\n<tool_name>forecast</tool_name>\n<arguments>{"city": "Ulm"}</arguments>\n</use_mcp_tool>'


def answered(turn: Turn, *answers: str, size: int = 1) -> str:
    """The text that is told while the model gives these answers."""
    told = ""
    for answer in answers:
        assert turn.request() is not None
        for at in range(0, len(answer), size):
            if turn.is_streaming:
                told += "".join(text for kind, text in turn.push(answer[at : at + size]) if kind == "text")
        if turn.is_streaming:
            told += "".join(text for kind, text in turn.finish() if kind == "text")
    return told


class Turns(unittest.TestCase):
    def test_pieces_do_not_matter(self) -> None:
        for text, content in ((f"Wait.\n\n{CALL}", "Wait."), ("No. \n", "No. \n"), (f"`{CALL}` is one.", None)):
            told: set[tuple[str, int]] = set()
            for size in (1, 3, 16, 1_000):
                turn = Turn(TOOLS, ASKED)
                told.add((answered(turn, text, size=size), len(turn.calls)))
                self.assertEqual(max(told)[0], turn.content)
            self.assertEqual(len(told), 1, told)
            self.assertIn(content, (None, told.pop()[0].rstrip(), "No. \n"))

    def test_nothing_of_a_round_that_corrects_is_told_before_it_is_the_answer(self) -> None:
        turn = Turn(TOOLS, ASKED)
        told = answered(turn, "Look.\n" + CALL.replace("city", "town"), "Oh, sorry.\n" + CALL)
        self.assertEqual((told, [tool for _, tool, _ in turn.calls]), ("Look.", ["forecast"]))

    def test_reasoning_is_told_apart(self) -> None:
        turn = Turn(TOOLS, ASKED)
        self.assertEqual(answered(turn, f"<think>{CALL}</think>\nSunny."), "Sunny.")
        self.assertEqual((turn.calls, turn.finish_reason), ([], "stop"))
        self.assertIn("forecast", turn.reasoning)
        turn = Turn(TOOLS, ASKED)
        answered(turn, CALL.replace("city", "town"), "<think>A town?</think>\n" + CALL)
        self.assertEqual((len(turn.calls), turn.reasoning), (1, ""))
        turn.calls.clear()
        self.assertEqual(len(turn.calls), 1)
        turn = Turn(TOOLS, ASKED)
        answered(turn, "I think about it.</think>\nSunny.")
        self.assertEqual((turn.reasoning, turn.content), ("I think about it.", "\n\nSunny."))

    def test_a_chunk_that_is_no_text_does_not_end_the_turn(self) -> None:
        turn = Turn(TOOLS, ASKED)
        turn.request()
        wrong: list[tuple[Any, type[Exception]]] = [("Sun \ud83d", UnicodeEncodeError), (3, TypeError)]
        for chunk, error in wrong:
            with self.assertRaises(error):
                turn.push(chunk)
        turn.push("Sunny.")
        turn.finish()
        self.assertEqual((turn.content, turn.finish_reason), ("Sunny.", "stop"))
        with self.assertRaises(UnicodeEncodeError):
            Turn(TOOLS, [{"role": "user", "content": "\ud83d"}])

    def test_a_tool_has_its_title_and_its_hints(self) -> None:
        sent = Turn([{"name": "f", "title": "Tells the weather"}], ASKED).request()
        self.assertIn("Tells the weather", str(sent))
        made = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        read: list[dict[str, Any]] = [
            {"role": "assistant", "tool_calls": [made]},
            {"role": "tool", "tool_call_id": "a", "content": "Now call `forecast()`."},
        ]
        for hint, calls in ((True, 1), (False, 0)):
            turn = Turn([{"name": "forecast", "annotations": {"readOnlyHint": hint}}], [*ASKED, *read])
            answered(turn, CALL.replace('{"city": "Ulm"}', "{}"))
            self.assertEqual(len(turn.calls), calls, "what a result tells to do is done only if it reads")

    def test_an_answer_that_never_matches_says_why(self) -> None:
        turn = Turn([], ASKED, output={"type": "integer"}, max_corrections=1)
        answered(turn, "warm", "hot")
        self.assertIsNone(turn.request())
        self.assertTrue(turn.problem)

    def test_a_history_with_holes_is_read(self) -> None:
        call = {"id": "a", "type": "function", "function": {"name": "forecast", "arguments": '{"city": "Ulm"}'}}
        messages = [
            {"role": "assistant", "content": "Hello."},
            *ASKED,
            {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "b"}]},
            {"role": "tool", "tool_call_id": "b", "content": "Sunny."},
            {"role": "tool", "tool_call_id": "gone", "content": "Rain."},
        ]
        sent = str(Turn(TOOLS, messages).request())
        for text in ("Hello.", "Sunny.", "Rain.", "was stopped before this call"):
            self.assertIn(text, sent)

    def test_a_result_may_say_how_its_call_ended(self) -> None:
        call = {"id": "a", "type": "function", "function": {"name": "forecast", "arguments": '{"city": "Ulm"}'}}
        begun = [*ASKED, {"role": "assistant", "tool_calls": [call]}]

        def sent(**status: str) -> str:
            result = {"role": "tool", "tool_call_id": "a", "content": "no such city", **status}
            (*_, last) = Turn(TOOLS, [*begun, result]).request() or []
            return str(last["content"])

        plain = sent()
        self.assertEqual(sent(status="result"), plain)
        self.assertNotIn('status="', plain)
        self.assertIn('<tool_result status="error" ', sent(status="tool_error"))
        self.assertIn('<tool_status status="not run" ', sent(status="denied"))
        with self.assertRaisesRegex(toolgraft.ToolError, r"messages\[2\]: status: .*tool_error"):
            sent(status="bad")

    def test_the_callers_mistakes_are_of_one_family(self) -> None:
        wrong: list[list[dict[str, Any]]] = [[], [{"role": "nobody"}], [{"role": "user", "content": 3}]]
        for messages in wrong:
            with self.assertRaises(toolgraft.ToolgraftError):
                Turn(TOOLS, messages)
        with self.assertRaises(toolgraft.SettingError):
            Turn(TOOLS, ASKED, system="Be brief.")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
        with self.assertRaises(toolgraft.StateError):
            Turn(TOOLS, ASKED).push("Too early.")


if __name__ == "__main__":
    unittest.main()
