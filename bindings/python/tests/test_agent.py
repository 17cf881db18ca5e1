"""An agent with a scripted model, in Python and at an endpoint, with functions and a hub."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import gc
import json
import threading
import unittest
import weakref
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Optional

from scripted import Scripted, call
from test_hub import WithServer

import toolgraft
from toolgraft import Agent, Conversation, Hub, RunError, Tool, ToolError
from toolgraft import agent as events
from toolgraft.agent import ApprovalAsked, Denied, Finished, Outcome

ROOT = Path(__file__).parents[3]
CALL = call("forecast", '{"city": "Ulm"}')


class Script:
    """A model that answers with these texts, in pieces; `asked` are the messages that it got."""

    def __init__(self, *answers: str) -> None:
        self.asked: list[list[dict[str, Any]]] = []
        self._left = list(answers)

    async def __call__(self, messages: list[dict[str, Any]]) -> AsyncIterator[str]:
        self.asked.append(messages)
        answer = self._left.pop(0)
        for at in range(0, len(answer), 7):
            await asyncio.sleep(0)
            yield answer[at : at + 7]


def forecast(city: str, days: int = 1) -> str:
    """The weather of the coming days."""
    return f"{city}: sunny for {days}"


@dataclasses.dataclass
class Weather:
    """An answer."""

    celsius: int


def outcomes(told: list[events.Event]) -> list[tuple[str, str]]:
    return [(event.status, event.text) for event in told if isinstance(event, Outcome)]


class Turns(unittest.IsolatedAsyncioTestCase):
    async def test_a_function_is_called_and_the_model_answers(self) -> None:
        model = Script("Let me look.\n" + call("forecast", '{"city": "Ulm", "days": "3"}'), "It is sunny.")
        finished = await Agent(model, tools=[forecast], system="Be brief.").run("The weather in Ulm?")
        self.assertEqual((finished.answer, finished.rounds, finished.calls), ("It is sunny.", 2, 1))
        self.assertEqual((finished.reason, finished.problem), ({"kind": "answered"}, None))
        system = model.asked[0][0]["content"]
        for text in ("Be brief.", "forecast(city: string, days?: integer)", "The weather of the coming days."):
            self.assertIn(text, system)
        self.assertIn("Ulm: sunny for 3", model.asked[1][-1]["content"])

    async def test_events_come_as_they_happen(self) -> None:
        agent = Agent(Script("Let me look.\n" + CALL, "It is sunny."), tools=[forecast])
        told = [event async for event in agent.run("The weather?")]
        names = list(dict.fromkeys(event.type for event in told))
        expected = ["round_started", "text", "call_started", "args_delta", "call_ended", "round_finished"]
        self.assertEqual(names, [*expected, "call_running", "outcome", "finished"])
        text = "".join(event.text for event in told if isinstance(event, events.Text))
        self.assertEqual(text.split("\n"), ["Let me look.", "It is sunny."])
        (made,) = [event.call for event in told if isinstance(event, events.CallEnded)]
        self.assertEqual((made.tool, made.arguments), ("forecast", {"city": "Ulm"}))
        self.assertEqual(outcomes(told), [("result", "Ulm: sunny for 1")])

    async def test_a_model_behind_an_endpoint(self) -> None:
        with Scripted(CALL, "It is sunny.") as scripted:
            agent = Agent("m", base_url=scripted.url, api_key="k", parameters={"seed": 1}, tools=[forecast])
            self.assertEqual((await agent.run("The weather?")).answer, "It is sunny.")
            self.assertEqual((scripted.requests[0]["model"], scripted.requests[0]["seed"]), ("m", 1))

    async def test_an_endpoint_that_is_not_there(self) -> None:
        agent = Agent("m", base_url="http://127.0.0.1:9/v1")
        with self.assertRaisesRegex(RunError, "127.0.0.1:9") as raised:
            await agent.run("The weather?")
        self.assertEqual(raised.exception.finished.reason["kind"], "model_failed")
        self.assertIsInstance(raised.exception, toolgraft.ToolgraftError)

    async def test_a_conversation_goes_on_and_can_be_kept(self) -> None:
        model = Script("Hello.", "Ulm.", "Fine.")
        agent = Agent(model)
        first = await agent.run("Hi.")
        kept = Conversation.from_dict(json.loads(json.dumps(first.conversation.to_dict())))
        self.assertEqual(kept, first.conversation)
        second = await agent.run("A city?", conversation=kept)
        self.assertEqual([message["role"] for message in model.asked[1]], ["user", "assistant", "user"])
        with self.assertRaises(toolgraft.StateError):
            agent.run(conversation=second.conversation)
        said = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Yes?"}]
        await agent.run([*said, {"role": "user", "content": "And?"}])
        self.assertEqual([message["content"] for message in model.asked[2]], ["Hi.", "Yes?", "And?"])

    async def test_an_answer_after_a_schema(self) -> None:
        schema = {"type": "object", "properties": {"celsius": {"type": "integer"}}, "required": ["celsius"]}
        model = Script('{"celsius": "warm"}', 'It is:\n```json\n{"celsius": "20"}\n```')
        finished = await Agent(model).run("The weather?", output=schema)
        self.assertEqual(finished.output, {"celsius": 20})
        with self.assertRaisesRegex(RunError, "celsius"):
            await Agent(Script('{"celsius": "warm"}', "{}"), output=schema, max_corrections=1).run("The weather?")

    async def test_an_answer_may_be_of_a_type(self) -> None:
        said = 'It is:\n```json\n{"celsius": "20"}\n```'
        agent = Agent(Script('{"celsius": "warm"}', said, "7"), output=Weather)
        self.assertEqual((await agent.run("The weather?")).output, Weather(20))
        self.assertEqual((await agent.run("A number?", output=int)).output, 7)
        told = [event async for event in Agent(Script(said)).run("The weather?", output=Weather)]
        self.assertEqual([event.value for event in told if isinstance(event, events.Output)], [Weather(20)])
        with self.assertRaisesRegex(ToolError, "output: .*object"):
            Agent(Script(), output=object)

    async def test_a_turn_without_a_loop_or_beside_one(self) -> None:
        agent = Agent(Script(CALL, "Sunny.", CALL, "Rain."), tools=[forecast])
        self.assertEqual(agent.run_sync("The weather?").answer, "Sunny.")
        finished = await asyncio.to_thread(agent.run_sync, "The weather?")
        self.assertEqual((finished.answer, finished.calls), ("Rain.", 1))
        with self.assertRaises(RunError):
            Agent(Script("", "", ""), max_corrections=0).run_sync("Hi.")

    async def test_an_answer_may_come_whole_or_say_how_it_ended(self) -> None:
        async def whole(messages: list[dict[str, Any]]) -> str:
            return "Hello."

        async def cut(messages: list[dict[str, Any]]) -> AsyncIterator[Any]:
            yield ("reasoning", "A call?")
            yield CALL.partition("Ulm")[0]
            yield ("finish", "length")

        self.assertEqual((await Agent(whole).run("Hi.")).answer, "Hello.")
        told = [event async for event in Agent(cut, tools=[forecast], max_corrections=0).run("Hi.")]
        self.assertIn(events.Reasoning("A call?"), told)
        self.assertEqual(outcomes(told), [])
        (finished,) = [event for event in told if isinstance(event, events.RoundFinished)]
        self.assertEqual(finished.finish, "length")

    async def test_what_a_model_raises_comes_out(self) -> None:
        async def broken(messages: list[dict[str, Any]]) -> str:
            raise LookupError("no such weights")

        async def wrong(messages: list[dict[str, Any]]) -> Any:
            return 3

        with self.assertRaisesRegex(LookupError, "no such weights"):
            await Agent(broken).run("Hi.")
        with self.assertRaises(TypeError):
            async for _ in Agent(wrong).run("Hi."):
                pass


class Functions(unittest.IsolatedAsyncioTestCase):
    async def asked(self, *tools: Any, answers: tuple[str, ...] = (CALL, "Done."), **settings: Any) -> list[events.Event]:
        return [event async for event in Agent(Script(*answers), tools=tools, **settings).run("Hi.")]

    async def test_a_function_is_async_or_runs_on_a_thread(self) -> None:
        ran: list[threading.Thread] = []
        of: contextvars.ContextVar[str] = contextvars.ContextVar("of")
        of.set("a request")

        async def forecast(city: str) -> str:
            ran.append(threading.current_thread())
            return of.get()

        def blocking(city: str) -> str:
            ran.append(threading.current_thread())
            return of.get()

        for tool in (forecast, (Tool("forecast"), blocking)):
            self.assertEqual(outcomes(await self.asked(tool)), [("result", "a request")])
        self.assertIs(ran[0], threading.current_thread())
        self.assertIsNot(ran[1], threading.current_thread())

    async def test_arguments_come_as_the_functions_types_and_results_go_as_json(self) -> None:
        @dataclasses.dataclass
        class Place:
            city: str
            country: Optional[str] = None

        got: list[Any] = []

        def forecast(place: Place) -> Place:
            got.append(place)
            return Place("Bonn")

        hints = {"place": Place, "return": Place}
        forecast.__annotations__ = hints
        told = await self.asked(forecast, answers=(call("forecast", '{"place": {"city": "Ulm"}}'), "Done."))
        self.assertEqual(got, [Place("Ulm")])
        self.assertEqual(json.loads(outcomes(told)[0][1]), {"city": "Bonn", "country": None})

    async def test_what_a_function_raises_is_told_to_the_model(self) -> None:
        def forecast(city: str) -> str:
            raise ValueError(f"no such city: {city}")

        self.assertEqual(outcomes(await self.asked(forecast)), [("tool_error", "ValueError: no such city: Ulm")])
        told = await self.asked((Tool("forecast"), lambda **_: object()))  # pyright: ignore
        self.assertEqual(outcomes(told)[0][0], "tool_error")

    async def test_a_function_takes_no_longer_than_its_limit(self) -> None:
        cancelled = asyncio.Event()

        async def forecast(city: str) -> str:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            return ""

        told = await self.asked(forecast, call_timeout=0.01)
        self.assertEqual([status for status, _ in outcomes(told)], ["timed_out"])
        await cancelled.wait()

    async def test_calls_of_one_message_may_run_beside_each_other(self) -> None:
        both = asyncio.Barrier(2) if hasattr(asyncio, "Barrier") else None
        if both is None:
            self.skipTest("asyncio has no barrier before Python 3.11")

        async def forecast(city: str) -> str:
            await both.wait()
            return city

        answers = (CALL + "\n" + call("forecast", '{"city": "Bonn"}'), "Done.")
        told = await self.asked(forecast, answers=answers, parallel=True)
        self.assertEqual({text for _, text in outcomes(told)}, {"Ulm", "Bonn"})

    async def test_a_tool_that_only_shows_its_arguments(self) -> None:
        told = await self.asked(Tool("forecast", display_only=True))
        (shown,) = [event for event in told if isinstance(event, events.Display)]
        self.assertEqual(shown.arguments, {"city": "Ulm"})

    async def test_tools_that_cannot_be(self) -> None:
        def starred(*cities: str) -> str:
            return ""

        def unknown(city: threading.Thread) -> str:
            return ""

        for tool, words in ((Tool("forecast"), "pair"), (starred, "cities"), (unknown, "Thread")):
            with self.assertRaisesRegex(toolgraft.ToolError, words):
                Agent(Script(), tools=[tool])
        wrong: Any = 3
        with self.assertRaises(TypeError):
            Agent(Script(), tools=[wrong])
        with self.assertRaises(TypeError):
            Agent("m")
        with self.assertRaises(toolgraft.SettingError):
            Agent("m", base_url="ftp://x")
        with self.assertRaises(TypeError):
            Agent(Script(), allow="weather/*")
        bad: Any = "nothing"
        with self.assertRaises(toolgraft.SettingError):
            Agent(Script(), otherwise=bad)


def the_forecast(question: ApprovalAsked) -> bool:
    return question.tool == "forecast"


def no(question: ApprovalAsked) -> bool:
    return False


def never_on_sundays(question: ApprovalAsked) -> Denied:
    return Denied("Not on Sundays.")


class Approval(WithServer):
    async def outcomes(self, **settings: Any) -> list[tuple[str, str]]:
        answers = (CALL, "Done.")
        async with Hub(self.config()) as hub:
            agent = Agent(Script(*answers), tools=[hub], **settings)
            return outcomes([event async for event in agent.run("The weather?")])

    async def test_a_servers_tool_runs_where_somebody_says_so(self) -> None:
        asked: list[ApprovalAsked] = []

        async def yes(question: ApprovalAsked) -> bool:
            asked.append(question)
            return True

        ran = [("result", 'Ulm: sunny\n{"sky":"sunny"}')]
        self.assertEqual([status for status, _ in await self.outcomes()], ["denied"])
        self.assertEqual(await self.outcomes(allow=["weather/forecast"]), ran)
        self.assertEqual(await self.outcomes(otherwise="allow"), ran)
        self.assertEqual(await self.outcomes(approve=yes), ran)
        self.assertEqual(await self.outcomes(approve=the_forecast), ran)
        (question,) = asked
        self.assertEqual((question.server, question.arguments, question.reason), ("weather", {"city": "Ulm"}, "first_use"))

    async def test_a_no_may_say_why(self) -> None:
        ((status, text),) = await self.outcomes(approve=never_on_sundays)
        self.assertEqual((status, text), ("denied", "Not on Sundays."))
        ((status, _),) = await self.outcomes(approve=no)
        self.assertEqual(status, "denied")

    async def test_a_function_is_asked_about_where_that_is_wanted(self) -> None:
        agent = Agent(Script(CALL, "Done."), tools=[forecast], ask=["forecast"], approve=no)
        told = [event async for event in agent.run("The weather?")]
        self.assertEqual([status for status, _ in outcomes(told)], ["denied"])
        self.assertIn("approval_asked", [event.type for event in told])

    async def test_what_an_approver_raises_comes_out(self) -> None:
        def broken(question: ApprovalAsked) -> bool:
            raise LookupError("nobody is there")

        with self.assertRaisesRegex(LookupError, "nobody is there"):
            await self.outcomes(approve=broken)
        self.assertNotIn("called forecast", self.notes.read_text() if self.notes.exists() else "")


class Cancelling(WithServer):
    async def test_a_task_that_is_cancelled_ends_what_runs(self) -> None:
        began, ended = asyncio.Event(), asyncio.Event()

        async def forecast(city: str) -> str:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return ""

        async def ask() -> Finished:
            return await Agent(Script(CALL, "Done."), tools=[forecast]).run("The weather?")

        task = asyncio.create_task(ask())
        await began.wait()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        await ended.wait()

    async def test_so_is_a_model_that_answers(self) -> None:
        began, ended = asyncio.Event(), asyncio.Event()

        async def slow(messages: list[dict[str, Any]]) -> AsyncIterator[str]:
            try:
                yield "Well, "
                began.set()
                await asyncio.Event().wait()
            finally:
                ended.set()

        run = Agent(slow).run("Hi.")
        async for event in run:
            if isinstance(event, events.Text):
                break
        await run.aclose()
        await ended.wait()
        self.assertEqual([event async for event in run], [])

    async def test_a_run_that_is_dropped_ends(self) -> None:
        began, ended = asyncio.Event(), asyncio.Event()

        async def forecast(city: str) -> str:
            if city == "Ulm":
                # What has not begun is never heard of.
                await began.wait()
                return "sunny"
            try:
                began.set()
                await asyncio.Event().wait()
            finally:
                ended.set()
            return ""

        both = CALL + "\n" + call("forecast", '{"city": "Bonn"}')
        async for event in Agent(Script(both), tools=[forecast], parallel=True).run("The weather?"):
            if isinstance(event, Outcome):
                self.assertEqual(event.text, "sunny")
                break
        gc.collect()
        await ended.wait()

    async def test_an_agent_whose_functions_hold_it_is_collected(self) -> None:
        class Service:
            def __init__(self) -> None:
                self.agent = Agent(Script(CALL, "Done."), tools=[self.forecast], approve=self.approve)
                self.run: Optional[events.Run] = None

            def forecast(self, city: str) -> str:
                return city

            def approve(self, question: ApprovalAsked) -> bool:
                return True

        service = Service()
        service.run = service.agent.run("The weather?")
        self.assertEqual((await service.run).answer, "Done.")
        async for _ in service.run:
            self.fail("a run that is over has no events")
        known = weakref.ref(service)
        del service
        gc.collect()
        self.assertIsNone(known())

    async def test_cancelled_in_order_the_turn_says_how_it_ended(self) -> None:
        async with Hub(self.config()) as hub:
            model = Script(call("slow", "{}"), "Done.")
            run = Agent(model, tools=[hub], otherwise="allow").run("The weather?")
            told: list[events.Event] = []
            async for event in run:
                told.append(event)
                if isinstance(event, events.CallRunning):
                    asyncio.get_running_loop().call_later(0, run.cancel)
            self.assertEqual([status for status, _ in outcomes(told)], ["cancelled"])
            assert isinstance(told[-1], Finished)
            self.assertEqual(told[-1].reason, {"kind": "cancelled"})

    def test_one_agent_serves_one_loop_after_the_other(self) -> None:
        agent = Agent(Script(CALL, "One.", CALL, "Two."), tools=[forecast])

        async def ask() -> str:
            return (await agent.run("The weather?")).answer

        self.assertEqual([asyncio.run(ask()) for _ in range(2)], ["One.", "Two."])

    async def test_many_turns_at_once(self) -> None:
        async def model(messages: list[dict[str, Any]]) -> str:
            return CALL if len(messages) == 2 else "It is sunny."

        agent = Agent(model, tools=[forecast])
        answers = await asyncio.gather(*(agent.run(f"The weather, {n}?") for n in range(50)))
        self.assertEqual({finished.answer for finished in answers}, {"It is sunny."})


class Events(unittest.TestCase):
    def test_every_event_of_the_library_has_a_class_with_its_fields(self) -> None:
        known = json.loads((ROOT / "docs" / "events.schema.json").read_text(encoding="utf-8"))["$defs"]
        variants: dict[str, set[str]] = {}
        for variant in known["AgentEvent"]["oneOf"]:
            fields = dict(variant["properties"])
            if "$ref" in variant:
                fields.update(known[variant["$ref"].rpartition("/")[2]]["properties"])
            name = fields.pop("type")["const"]
            variants[name] = set(fields)
        variants["outcome"] = {"id", *known["Outcome"]["properties"]}
        variants["finished"].add("problem")
        kinds: Any = events.Event.__args__  # type: ignore[attr-defined]
        ours = {kind.type: {field.name for field in dataclasses.fields(kind)} for kind in kinds}
        self.assertEqual(ours, variants)


if __name__ == "__main__":
    unittest.main()
