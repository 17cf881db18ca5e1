"""The module's own side: arguments, exceptions, records, words, threads."""

from __future__ import annotations

import copy
import importlib
import json
import pickle
import re
import threading
import typing
import unittest
from pathlib import Path
from typing import Any

import toolgraft
from toolgraft import Call, Catalog, Parser, Rejected, Text, Tool, ToolResult

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
TOOLS = Catalog([Tool("forecast", server="weather", description="The weather.", input_schema=SCHEMA)])
HERMES = '<tool_call>{"name": "forecast", "arguments": {"city": "Ulm", "days": "3"}}</tool_call>'
ROOT = Path(__file__).parents[3]
NATIVE = Path(toolgraft.__file__).parent
# What `Agent` and `Hub` stand on.
INNER = {"Exchange", "Exchanges", "Loop", "Refused", "Run", "Servers", "Work", "connect"}


class Words(unittest.TestCase):
    def test_the_dialects_of_the_types_are_those_of_the_library(self) -> None:
        self.assertEqual(typing.get_args(toolgraft.Dialect), toolgraft.DIALECTS)

    def test_a_dialect_of_a_file_is_read_and_taught_by_its_name(self) -> None:
        file = '{"name": "moon", "calls": [{"header": "<moon:{name}>", "close": "</moon>"}]}'
        name = toolgraft.load_dialect(file)
        self.assertEqual(name, "moon")
        message = toolgraft.parse('<moon:forecast>{"city": "Ulm"}</moon>', TOOLS, dialects=["auto", name])
        self.assertEqual([call.dialect for call in message.calls], ["moon"])
        self.assertIn("<moon:forecast>", toolgraft.render_prompt(TOOLS, dialect=name))
        with self.assertRaisesRegex(toolgraft.SettingError, r"calls\[0\]\.close"):
            toolgraft.load_dialect(file.replace("</moon>", "}"))

    def test_the_statuses_of_the_types_are_those_of_the_library(self) -> None:
        with self.assertRaises(toolgraft.SettingError) as raised:
            ToolResult(Call("f", {}), "", status="no such")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        for status in typing.get_args(toolgraft.Status):
            self.assertIn(status, str(raised.exception))
            self.assertEqual(ToolResult(Call("f", {}), "", status=status).status, status)

    def test_the_words_of_the_types_are_those_of_the_events_schema(self) -> None:
        schema = json.loads((ROOT / "docs" / "events.schema.json").read_text(encoding="utf-8"))["$defs"]
        for name in ("Dialect", "MarkerKind", "Provenance", "QuotedIn", "RejectedKind", "Status"):
            stated = schema[name]
            # A dialect may also be one of a file, whose name is any text.
            alternatives: list[dict[str, str]] = stated.get("oneOf") or stated.get("anyOf") or []
            words: list[str] = stated.get("enum") or [one["const"] for one in alternatives if "const" in one]
            self.assertEqual(sorted(typing.get_args(getattr(toolgraft, name))), sorted(words), name)

    def test_every_name_of_the_native_half_is_in_its_stub_and_in_the_package(self) -> None:
        native = importlib.import_module("toolgraft._native")
        stub = (NATIVE / "_native.pyi").read_text(encoding="utf-8")
        for name in dir(native):
            if name.startswith("_") and name != "__version__":
                continue
            self.assertRegex(stub, rf"(?m)^(class |def )?{re.escape(name)}\b")
            self.assertEqual(name in toolgraft.__all__, name not in INNER, name)
            kind: Any = getattr(native, name)
            members: dict[str, Any] = dict(getattr(kind, "__dict__", {}))
            if not isinstance(kind, type) or issubclass(kind, Exception):
                continue
            found = re.search(rf"(?ms)^class {name}:\n(.*?)(?=^\S|\Z)", stub)
            assert found is not None
            stated = set(re.findall(r"def (\w+)|^    (\w+):", found[1], re.M))
            names = {one or other for one, other in stated if not (one or other).startswith("__")}
            self.assertEqual(names, {member for member in members if not member.startswith("_")})

    def test_everything_has_a_docstring(self) -> None:
        for name in toolgraft.__all__:
            value = getattr(toolgraft, name)
            if isinstance(value, type) or callable(value) and hasattr(value, "__text_signature__"):
                self.assertTrue(value.__doc__, name)


class Events(unittest.TestCase):
    def test_what_is_plain_text_is_the_chunk_itself(self) -> None:
        parser = Parser()
        parser.push("Some ")
        chunk = "plain words"
        (event,) = parser.push(chunk)
        assert isinstance(event, Text)
        self.assertIs(event.text, chunk)

    def test_a_long_chunk_gives_the_events_of_a_short_one(self) -> None:
        long = "word " * 20_000 + "\n" + HERMES + "\n"
        whole, pieces = Parser(TOOLS), Parser(TOOLS)
        events = whole.push(long) + whole.finish()
        kinds = [event.type for event in events]
        self.assertEqual(kinds.count("call_end"), 1)
        for at in range(0, len(long), 1000):
            pieces.push(long[at : at + 1000])
        pieces.finish()
        self.assertEqual(whole.message, pieces.message)

    def test_events_are_json_under_the_library_s_names(self) -> None:
        parser = Parser(TOOLS)
        events = [event.to_dict() for event in parser.push(HERMES) + parser.finish()]
        json.dumps(events)
        end = next(event for event in events if event["type"] == "call_end")
        self.assertEqual(list(end), ["type", "index", "call", "rejected", "raw", "restated", "span"])
        self.assertEqual(end["call"]["arguments"], {"city": "Ulm", "days": "3"})
        self.assertEqual(set(end["span"]), {"start", "end"})

    def test_records_are_frozen_and_equal_by_what_they_hold(self) -> None:
        first, second = toolgraft.parse(HERMES, TOOLS), toolgraft.parse(HERMES, TOOLS)
        self.assertEqual(first, second)
        self.assertNotEqual(first, toolgraft.parse("Hello.", TOOLS))
        self.assertNotEqual(first, "Hello.")
        with self.assertRaises(AttributeError):
            first.content = "x"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
        self.assertIn("forecast", repr(first))

    def test_every_value_can_be_pickled_and_copied(self) -> None:
        text = HERMES + "\n" + HERMES.replace("city", "town")
        parser = Parser(TOOLS, keep_not_calls=True)
        told = [*parser.push("Look.\n" + text), *parser.finish("stop")]
        message = parser.parse(text)
        result = ToolResult(message.calls[0], "Sunny.", structured={"celsius": 20})
        for value in (*told, message, *message.entries, *message.rejected, result, *TOOLS.tools):
            self.assertEqual(pickle.loads(pickle.dumps(value)), value)
            self.assertEqual(copy.copy(value), value)
            self.assertEqual(copy.deepcopy(value), value)
            self.assertEqual(type(value).from_dict(json.loads(json.dumps(value.to_dict()))), value)
        with self.assertRaisesRegex(toolgraft.ToolError, "tool: "):
            Call.from_dict({"arguments": {}})
        self.assertEqual(pickle.loads(pickle.dumps(message)).entries, message.entries)
        self.assertIsNot(copy.deepcopy(result.structured), result.structured)
        self.assertEqual(copy.deepcopy(TOOLS).tools, TOOLS.tools)

    def test_reasoning_of_a_field_of_its_own_comes_first(self) -> None:
        parser = Parser()
        parser.push_reasoning("Hm. ")
        parser.push("Yes.")
        parser.finish()
        self.assertEqual((parser.message.reasoning, parser.message.content), ("Hm. ", "Yes."))
        self.assertEqual(parser.parse("Yes.", reasoning="Hm. "), parser.message)

    def test_a_near_call_is_the_last_event(self) -> None:
        parser = Parser(TOOLS)
        parser.push(HERMES.replace("<tool_call>", "<tol_call>"))
        last = parser.finish()[-1]
        assert isinstance(last, toolgraft.CallEnd) and last.rejected
        self.assertEqual(last.rejected.kind, "near_call")
        self.assertEqual(parser.message.rejected[0], last.rejected)

    def test_a_cut_call_is_none(self) -> None:
        message = toolgraft.parse(HERMES[:-30], TOOLS, finish_reason="length")
        self.assertEqual([one.kind for one in message.rejected], ["truncated"])

    def test_a_stop_string_may_be_told_at_the_end(self) -> None:
        parser = Parser(TOOLS)
        parser.push(HERMES[: -len("</tool_call>")])
        parser.finish("stop", stop=["</tool_call>"])
        self.assertEqual(len(parser.message.calls), 1)

    def test_not_calls_are_kept_for_who_asks(self) -> None:
        text, tools = "f(b)\nso\nf(a=2), you see\nf(", [Tool("f")]
        silent, asked = Parser(tools), Parser(tools, keep_not_calls=True)
        for parser in (silent, asked):
            parser.push(text)
            parser.finish()
        self.assertEqual(silent.not_calls, [])
        told = [(one.dialect, one.span.start, one.span.end, one.reason) for one in asked.not_calls]
        self.assertIn(("python", 8, 16, "text_after"), told)

    def test_settings_are_those_of_the_library(self) -> None:
        draft = "<think>I ask. " + HERMES + "</think>"
        self.assertEqual(toolgraft.parse(draft).rejected[0].kind, "in_reasoning")
        promoted = toolgraft.parse(draft, reasoning_calls="last_resort")
        self.assertEqual(promoted.calls[0].provenance, "promoted")
        self.assertEqual(toolgraft.parse(HERMES, dialects=["json", "react"]).calls, ())
        self.assertEqual(toolgraft.parse(HERMES * 3, calls=1).rejected[0].kind, "limit")
        self.assertEqual(toolgraft.parse("x</think>y", model="deepseek-r1:14b").reasoning, "x")


class State(unittest.TestCase):
    def test_a_message_ends_once(self) -> None:
        parser = Parser()
        with self.assertRaises(toolgraft.StateError):
            parser.message
        parser.push("One.")
        parser.finish()
        self.assertIs(parser.message, parser.message)
        for use in (lambda: parser.push("x"), lambda: parser.push_reasoning("x"), parser.finish):
            self.assertRaises(toolgraft.StateError, use)
        parser.reset()
        parser.push("Two.")
        parser.finish()
        self.assertEqual(parser.message.content, "Two.")

    def test_nothing_is_kept_unless_it_is_wanted(self) -> None:
        parser = Parser(collect=False)
        parser.push("One.")
        parser.finish()
        with self.assertRaises(toolgraft.StateError):
            parser.message

    def test_a_fork_has_the_settings_and_nothing_else(self) -> None:
        parser = Parser(TOOLS, dialects="json")
        parser.push("One.")
        fork = parser.fork()
        fork.push(HERMES)
        fork.finish()
        self.assertEqual((fork.message.calls, fork.message.content), ((), HERMES))

    def test_a_fork_keeps_what_is_no_call_where_its_parser_does(self) -> None:
        text = "Some <tool_call> that is none."
        for keeps in (True, False):
            fork = Parser(TOOLS, keep_not_calls=keeps).fork().fork()
            fork.push(text)
            fork.finish()
            self.assertEqual(bool(fork.not_calls), keeps)

    def test_threads_share_a_parser_for_whole_texts(self) -> None:
        parser = Parser(TOOLS)
        messages: list[toolgraft.Message] = []
        text = "word " * 10_000 + "\n" + HERMES

        def work() -> None:
            messages.extend(parser.parse(text) for _ in range(5))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(messages), 20)
        self.assertTrue(all(message == messages[0] for message in messages))


class Mistakes(unittest.TestCase):
    def test_every_exception_is_of_one_family(self) -> None:
        cases: list[tuple[type[Exception], Any]] = [
            (toolgraft.SettingError, lambda: Parser(dialects="no such")),  # type: ignore[arg-type]  # pyright: ignore
            (toolgraft.SettingError, lambda: Parser(reasoning="no such")),  # type: ignore[arg-type]  # pyright: ignore
            (toolgraft.ToolError, lambda: Catalog([{}])),
            (toolgraft.ToolError, lambda: Call("f", {"a": object()})),
            (toolgraft.ToolError, lambda: Call("f", {"a": float("nan")})),
            (toolgraft.ToolError, lambda: Call("f", {"a": 1 << 64})),
            (toolgraft.ToolError, lambda: toolgraft.results_message(TOOLS, [ToolResult(Call("f", []), "x")])),
            (toolgraft.PromptError, lambda: toolgraft.render_prompt(TOOLS, tool_choice="no_such_tool")),
            (toolgraft.PromptError, lambda: toolgraft.render_prompt([], tool_choice="required")),
            (toolgraft.SettingError, lambda: toolgraft.render_prompt(TOOLS, listing="index")),  # type: ignore[arg-type]  # pyright: ignore
        ]
        for kind, mistake in cases:
            with self.subTest(kind.__name__):
                self.assertTrue(issubclass(kind, toolgraft.ToolgraftError))
                self.assertRaises(kind, mistake)

    def test_what_python_itself_calls_wrong_is_its_own(self) -> None:
        self.assertRaises(TypeError, lambda: Parser(no_such=1))  # type: ignore[call-arg]  # pyright: ignore
        self.assertRaises(TypeError, lambda: Parser(stop="abc"))
        self.assertRaises(TypeError, lambda: Parser().push(b"x"))  # type: ignore[arg-type]  # pyright: ignore
        self.assertRaises(UnicodeEncodeError, lambda: Parser().push("\ud800"))

    def test_a_value_that_holds_itself_ends(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        self.assertRaises(toolgraft.ToolError, lambda: Call("f", {"a": loop}))


class Tools(unittest.TestCase):
    def test_a_tool_is_read_in_three_forms(self) -> None:
        function = {"name": "forecast", "description": "The weather.", "parameters": SCHEMA}
        openai = Tool.from_dict({"type": "function", "function": function})
        mcp = Tool.from_dict({"name": "forecast", "description": "The weather.", "inputSchema": SCHEMA})
        self.assertEqual(openai, mcp)
        self.assertEqual(mcp, Tool("forecast", description="The weather.", input_schema=SCHEMA))
        self.assertEqual(Tool.from_dict(mcp.to_dict()), mcp)
        self.assertEqual(mcp.input_schema, SCHEMA)
        self.assertEqual([tool.name for tool in TOOLS.tools], ["forecast"])
        self.assertEqual(len(TOOLS), 1)

    def test_declarations_of_gemini_are_read_whole(self) -> None:
        parameters = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}
        first, second = Catalog([{"function_declarations": [{"name": "a", "parameters": parameters}, {"name": "b"}]}]).tools
        self.assertEqual((first.name, second.name), ("a", "b"))
        self.assertEqual(first.input_schema, {"type": "object", "properties": {"city": {"type": "string"}}})

    def test_numbers_arrive_as_they_are(self) -> None:
        arguments: dict[str, Any] = {"a": [1, -1, 1.0, 2.5, (1 << 64) - 1, -(1 << 63), True, None, "ü"], "b": {}}
        call = Call("f", arguments)
        self.assertEqual(json.dumps(call.arguments), json.dumps(arguments))

    def test_a_schema_that_cannot_be_used_is_named(self) -> None:
        self.assertEqual(TOOLS.problems(), [])
        wrong: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "no such type"}}}
        with self.assertRaisesRegex(toolgraft.ToolError, "tool 'f' is not usable.*properties/city/type"):
            Tool("f", input_schema=wrong)
        for tools in ({"name": "f", "inputSchema": wrong}, {"type": "function", "function": {"name": "f", "parameters": wrong}}):
            with self.assertRaisesRegex(toolgraft.ToolError, "'f'"):
                Catalog([tools])

    def test_arguments_are_mended_or_refused(self) -> None:
        mended = toolgraft.validate(Call("forecast", {"city": "Ulm", "days": "3"}), TOOLS)
        assert isinstance(mended, Call)
        self.assertEqual((mended.arguments["days"], mended.repairs), (3, ("coerced:/days",)))
        refused = toolgraft.validate(Call("forecast", {"days": "x"}), TOOLS)
        assert isinstance(refused, Rejected)
        text = toolgraft.results_message(TOOLS, [refused], request="The weather?")
        self.assertIn("city", text)

    def test_a_message_is_checked_unless_it_is_not_wanted(self) -> None:
        self.assertEqual(toolgraft.parse(HERMES, TOOLS).calls[0].arguments["days"], 3)
        self.assertEqual(toolgraft.parse(HERMES, TOOLS, validate=False).calls[0].arguments["days"], "3")

    def test_the_calls_of_the_first_fence_want_arguments_that_are_accepted(self) -> None:
        fenced = "```json\n%s\n```\nThat is it."
        good, bad = (fenced % json.dumps({"name": "forecast", "arguments": arguments}) for arguments in ({"city": "Ulm"}, {}))
        self.assertEqual(toolgraft.parse(good, TOOLS, fenced_calls="last_resort").calls[0].provenance, "fenced_first")
        self.assertEqual(toolgraft.parse(bad, TOOLS, fenced_calls="last_resort").rejected[0].kind, "quoted")

    def test_what_holds_no_marker_comes_back_as_it_is(self) -> None:
        text = "".join(["Nothing ", "here."])
        self.assertIs(toolgraft.neutralise(text), text)
        self.assertNotEqual(toolgraft.neutralise("<forecast>", TOOLS), "<forecast>")

    def test_a_prompt_is_that_of_its_settings(self) -> None:
        full = toolgraft.render_prompt(TOOLS, system="Be kind.", lang="zh", listing="schema")
        self.assertTrue(full.startswith("Be kind."))
        self.assertIn('"city"', full)
        self.assertEqual(toolgraft.render_prompt([], system="Be kind."), "Be kind.")
        compact = toolgraft.render_prompt(TOOLS, style="compact")
        self.assertLess(len(compact), len(toolgraft.render_prompt(TOOLS)))


if __name__ == "__main__":
    unittest.main()
