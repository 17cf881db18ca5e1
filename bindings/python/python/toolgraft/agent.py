"""An agent: a model without tools of its own that answers with the help of some.

`Agent` has a model, tools and a policy. `Agent.run` begins a turn, which can be awaited, or
iterated for its events: the classes of this module, with the names and fields of their JSON form.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from collections.abc import AsyncIterable, Awaitable, Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Literal, Optional, Union

from ._bridge import Function, here, wait
from ._native import Call, Conversation, Loop, Rejected, Servers, StateError, Tool, ToolError, ToolgraftError
from ._native import Run as NativeRun
from ._schema import Parameters, as_type, plain, schema_of, tool_from_function
from .hub import Hub, servers_of

if TYPE_CHECKING:
    from ._words import Dialect, Provenance, RejectedKind, Status

__all__ = [
    "Agent",
    "ApprovalAsked",
    "ArgsDelta",
    "CallEnded",
    "CallRejected",
    "CallRunning",
    "CallStarted",
    "Correcting",
    "Decided",
    "Denied",
    "Display",
    "Event",
    "Finished",
    "Notice",
    "Outcome",
    "Output",
    "Progress",
    "Promoted",
    "Reasoning",
    "Reclassified",
    "RoundFinished",
    "RoundStarted",
    "Run",
    "RunError",
    "Text",
    "tool_from_function",
]


@dataclass(frozen=True)
class RoundStarted:
    """A request goes to the model."""

    type: ClassVar[Literal["round_started"]] = "round_started"
    round: int
    model: Optional[str] = None


@dataclass(frozen=True)
class Progress:
    """Something happened before the model's message began, such as that it is loaded."""

    type: ClassVar[Literal["progress"]] = "progress"
    progress: Mapping[str, Any]


@dataclass(frozen=True)
class Decided:
    """Whether the message is to be a call was decided before it was written."""

    type: ClassVar[Literal["decided"]] = "decided"
    call: bool
    likely: Optional[float] = None


@dataclass(frozen=True)
class Text:
    """Text for the user."""

    type: ClassVar[Literal["text"]] = "text"
    text: str


@dataclass(frozen=True)
class Reasoning:
    """Text of the reasoning."""

    type: ClassVar[Literal["reasoning"]] = "reasoning"
    text: str


@dataclass(frozen=True)
class Reclassified:
    """All text and calls of this round so far belong to `to` after all."""

    type: ClassVar[Literal["reclassified"]] = "reclassified"
    to: Literal["content", "reasoning"]


@dataclass(frozen=True)
class CallStarted:
    """The model begins a call."""

    type: ClassVar[Literal["call_started"]] = "call_started"
    index: int
    server: Optional[str]
    tool: str


@dataclass(frozen=True)
class ArgsDelta:
    """A further piece of a call's arguments as JSON text, as a preview."""

    type: ClassVar[Literal["args_delta"]] = "args_delta"
    index: int
    text: str


@dataclass(frozen=True)
class CallEnded:
    """A call is complete, and the tool's schema accepts its arguments. The call has not run yet."""

    type: ClassVar[Literal["call_ended"]] = "call_ended"
    index: int
    id: str
    call: Call


@dataclass(frozen=True)
class CallRejected:
    """A call will not run."""

    type: ClassVar[Literal["call_rejected"]] = "call_rejected"
    index: int
    rejected: Rejected


@dataclass(frozen=True)
class Display:
    """A call of a tool that only shows its arguments."""

    type: ClassVar[Literal["display"]] = "display"
    id: str
    index: int
    server: Optional[str]
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Promoted:
    """A draft is a call after all; it needs approval."""

    type: ClassVar[Literal["promoted"]] = "promoted"
    index: int
    id: str
    provenance: Provenance


@dataclass(frozen=True)
class RoundFinished:
    """The model's message is over. Without `finish` it was cancelled or broke off."""

    type: ClassVar[Literal["round_finished"]] = "round_finished"
    round: int
    finish: Optional[str]
    usage: Optional[Mapping[str, Any]] = None


@dataclass(frozen=True)
class Correcting:
    """The model will be told what was wrong with its message."""

    type: ClassVar[Literal["correcting"]] = "correcting"
    message: str
    kind: Optional[RejectedKind] = None


@dataclass(frozen=True)
class ApprovalAsked:
    """Somebody must say whether a call may run, for this `reason`."""

    type: ClassVar[Literal["approval_asked"]] = "approval_asked"
    id: str
    server: Optional[str]
    tool: str
    arguments: Mapping[str, Any]
    reason: str
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallRunning:
    """A call runs now."""

    type: ClassVar[Literal["call_running"]] = "call_running"
    id: str
    server: Optional[str]
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """A call is over: how, with which text for the model, and what else came."""

    type: ClassVar[Literal["outcome"]] = "outcome"
    id: str
    status: Status
    text: str
    structured: Any = None
    events: tuple[Mapping[str, Any], ...] = ()
    took: Optional[float] = None


@dataclass(frozen=True)
class Notice:
    """Something that the caller should know although the turn goes on as before."""

    type: ClassVar[Literal["notice"]] = "notice"
    notice: Mapping[str, Any]


@dataclass(frozen=True)
class Output:
    """The answer matches the schema that was asked for."""

    type: ClassVar[Literal["output"]] = "output"
    value: Any
    repairs: tuple[Any, ...]


@dataclass(frozen=True)
class Finished:
    """The turn is over. `problem` says why in words where there is no answer."""

    type: ClassVar[Literal["finished"]] = "finished"
    reason: Mapping[str, Any]
    problem: Optional[str]
    answer: str
    output: Any
    repairs: tuple[Any, ...]
    rounds: int
    calls: int
    usage: Optional[Mapping[str, Any]]
    conversation: Conversation


#: What happens in a turn. Later versions may add to it.
Event = Union[
    RoundStarted,
    Progress,
    Decided,
    Text,
    Reasoning,
    Reclassified,
    CallStarted,
    ArgsDelta,
    CallEnded,
    CallRejected,
    Display,
    Promoted,
    RoundFinished,
    Correcting,
    ApprovalAsked,
    CallRunning,
    Outcome,
    Notice,
    Output,
    Finished,
]
_EVENTS: dict[str, Any] = {kind.type: kind for kind in Event.__args__}  # type: ignore[attr-defined]


def _of(fields: dict[str, Any]) -> Event:
    """An event of its JSON form."""
    kind: Any = _EVENTS[fields.pop("type")]
    if kind is Outcome:
        fields = {"id": fields["id"], **fields["outcome"]}
    known = {field.name for field in dataclasses.fields(kind)}
    given: dict[str, Any] = {name: value for name, value in fields.items() if name in known}
    given.update({name: tuple(given[name]) for name in _TUPLES & given.keys()})
    event: Event = kind(**given)
    return event


_TUPLES = {"changes", "events", "repairs"}


class RunError(ToolgraftError):
    """A turn ended without an answer. `finished` says how, and what there is."""

    def __init__(self, finished: Finished) -> None:
        super().__init__(finished.problem or "the turn gave no answer")
        self.finished = finished


@dataclass(frozen=True)
class Denied:
    """A no to a call, with what the model is told about it."""

    reason: str


#: A piece of a model's answer: text, or a pair of what it is and a text. `finish` says why it ended,
#: in the words of Chat Completions, such as `length`.
Piece = Union[str, "tuple[Literal['text', 'reasoning', 'finish'], str]"]
#: A model that is a program: takes messages in the form of Chat Completions, and gives its answer
#: whole or in pieces.
Model = Callable[["list[dict[str, Any]]"], Union[AsyncIterable[Piece], Awaitable[Union[str, AsyncIterable[Piece]]]]]
_Verdict = Union[bool, Denied]
#: Says whether a call may run.
Approve = Callable[[ApprovalAsked], Union[_Verdict, Awaitable[_Verdict]]]
#: A function, a tool with the function that is called with its arguments, a hub, or a tool that only
#: shows its arguments.
Tools = Union[Callable[..., Any], "tuple[Tool, Callable[..., Any]]", Hub, Tool]


class Agent:
    """A model with tools. One agent serves many conversations.

    `model` is the name of a model at `base_url`, or a function (`Model`); then `family` can name
    the model whose ways it has. `tools` are functions, hubs that are connected, and pairs of a `Tool`
    and a function. A function that is not `async` runs on a thread.

    Functions run without a question, unless `ask` or `deny` speaks of them. A call of a server's tool
    runs where `allow` speaks of it; else `otherwise` decides, by default `ask_once` where there is
    `approve`, and `deny` where there is not. Patterns are `server/tool`, with `*`.

    `output` is what every answer has to be: a JSON Schema, or a type that has one, such as a dataclass or
    a model of Pydantic, of which `Finished.output` is then a value. Times are in seconds. All other
    settings are those of the library's guide to the agent, and of `render_prompt`.
    """

    def __init__(
        self,
        model: Union[str, Model],
        *,
        base_url: Optional[str] = None,
        api_key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        parameters: Optional[Mapping[str, Any]] = None,
        family: Optional[str] = None,
        tools: Iterable[Tools] = (),
        approve: Optional[Approve] = None,
        allow: Iterable[str] = (),
        ask: Iterable[str] = (),
        deny: Iterable[str] = (),
        otherwise: Optional[Literal["deny", "ask", "ask_once", "allow"]] = None,
        untrusted: Iterable[str] = (),
        output: Any = None,
        parallel: bool = False,
        temperature: Optional[float] = None,
        max_tokens: Optional[int] = None,
        context: Optional[int] = None,
        max_rounds: Optional[int] = None,
        max_corrections: Optional[int] = None,
        call_timeout: Optional[float] = 600.0,
        tools_mode: Literal["auto", "native", "prompt"] = "prompt",
        system: Optional[str] = None,
        dialect: Optional[Dialect] = None,
        lang: Optional[Literal["en", "zh"]] = None,
        style: Optional[Literal["full", "compact"]] = None,
        listing: Optional[Literal["schema", "signature", "brief", "index"]] = None,
        tool_choice: Optional[str] = None,
        max_calls: Optional[int] = None,
        description_chars: Optional[int] = None,
        result_bytes: Optional[int] = None,
    ) -> None:
        if isinstance(model, str):
            if base_url is None:
                raise TypeError("the model's name needs the `base_url` of its endpoint")
            endpoint = (base_url, model, api_key, list((headers or {}).items()), dict(parameters or {}))
            functions: dict[str, Function] = {}
        else:
            if base_url is not None:
                raise TypeError("a model that is a function has no `base_url`")
            endpoint, functions = None, {"model": _asks(model)}
        name = family or (model if isinstance(model, str) else None)
        described, hubs = _sorted(tools, functions)
        settings: dict[str, Any] = {
            "allow": _patterns(allow),
            "ask": _patterns(ask),
            "deny": _patterns(deny),
            "otherwise": otherwise or ("ask_once" if approve else "deny"),
            "untrusted": _patterns(untrusted),
            "call_timeout": call_timeout,
            "tools_mode": tools_mode,
            **_given(temperature=temperature, max_tokens=max_tokens, context=context),
            **_given(max_rounds=max_rounds, max_corrections=max_corrections),
        }
        prompt = _given(
            model=name,
            system=system,
            dialect=dialect,
            lang=lang,
            style=style,
            listing=listing,
            tool_choice=tool_choice,
            max_calls=max_calls,
            description_chars=description_chars,
            result_bytes=result_bytes,
        )
        if approve is not None:
            functions["approve"] = _approves(approve)
        schema, self._kind = _form(output)
        self._loop = Loop(endpoint, name, described, hubs, approve is not None, schema, parallel, prompt, settings)
        self._functions = functions

    def run(
        self,
        said: Union[str, Iterable[Mapping[str, Any]], None] = None,
        *,
        conversation: Optional[Conversation] = None,
        output: Any = None,
    ) -> Run:
        """Begins a turn: a text, after a `conversation` or as the first, or messages in the form of
        Chat Completions. To be called on an event loop, which functions and callbacks then run on."""
        messages: Union[str, list[dict[str, Any]], None]
        if not (said is None or isinstance(said, str)):
            messages = [dict(message) for message in said]
        else:
            messages = said
        schema, kind = _form(output) if output is not None else (None, self._kind)
        failures: list[Exception] = []
        on = here(self._functions, lambda: _FAILURES.set(failures))
        return Run(self._loop.run(on, messages, conversation, schema), failures, kind)

    def run_sync(
        self,
        said: Union[str, Iterable[Mapping[str, Any]], None] = None,
        *,
        conversation: Optional[Conversation] = None,
        output: Any = None,
    ) -> Finished:
        """As `run`, but waits for the end: in a script, and in a notebook or wherever else a loop runs, on a
        thread with a loop of its own."""

        async def finish() -> Finished:
            return await self.run(said, conversation=conversation, output=output)

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(finish())
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(copy_context().run, asyncio.run, finish()).result()


class Run:
    """One turn: awaited it gives `Finished`, or raises `RunError` where there is no answer; iterated it
    gives the events, of which `Finished` is the last.

    Nothing goes on while no event is waited for. Whoever is cancelled while waiting, or drops the
    run, ends the turn with all that runs for it. What a model or an approver of the caller raises
    comes out here.
    """

    def __init__(self, run: NativeRun, failures: list[Exception], kind: Any = None) -> None:
        self._run: Optional[NativeRun] = run
        self._failures = failures
        self._kind = kind

    def __aiter__(self) -> Run:
        return self

    async def __anext__(self) -> Event:
        if self._run is None:
            raise StopAsyncIteration
        try:
            fields = await wait(self._run.next)
        except asyncio.CancelledError:
            await self.aclose()
            raise
        if self._failures:
            await self.aclose()
            raise self._failures.pop()
        if fields is None:
            self._run = None
            raise StopAsyncIteration
        event = _of(fields)
        if self._kind is not None and isinstance(event, Output):
            event = dataclasses.replace(event, value=as_type(self._kind, event.value))
        if self._kind is not None and isinstance(event, Finished) and event.output is not None:
            event = dataclasses.replace(event, output=as_type(self._kind, event.output))
        return event

    def __await__(self) -> Generator[Any, None, Finished]:
        return self._finish().__await__()

    async def _finish(self) -> Finished:
        async for event in self:
            if isinstance(event, Finished):
                if event.problem is not None:
                    raise RunError(event)
                return event
        raise StateError("the turn is over: its `Finished` was taken before")

    def cancel(self) -> None:
        """Ends the turn in order: calls that run are answered as cancelled, and `Finished` still comes."""
        if self._run is not None:
            self._run.cancel()

    async def aclose(self) -> None:
        """Ends the turn and all that runs for it, without further events."""
        run, self._run = self._run, None
        if run is not None:
            await asyncio.shield(wait(run.close))

    async def __aenter__(self) -> Run:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


#: What was raised within a turn by what the caller has given, but for tools.
_FAILURES: ContextVar[list[Exception]] = ContextVar("toolgraft_failures")


def _form(output: Any) -> tuple[Union[dict[str, Any], bool, None], Any]:
    """The schema of an answer, and its type where one is given."""
    given: Union[Mapping[str, Any], bool, None] = output
    if output is None or isinstance(output, bool):
        return output, None
    return (dict(given), None) if isinstance(given, Mapping) else (schema_of(output), output)


def _given(**settings: Any) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def _patterns(patterns: Iterable[str]) -> list[str]:
    if isinstance(patterns, str):
        raise TypeError(f"expected a list of patterns, not the text {patterns!r}")
    return list(patterns)


def _asks(model: Model) -> Function:
    """Hands the pieces of a model's answer over as they come."""

    async def ask(messages: list[dict[str, Any]], emit: Callable[[str, str], None]) -> None:
        def hand(piece: Any) -> None:
            kind, text = ("text", piece) if isinstance(piece, str) else piece
            emit(kind, text)

        try:
            answer: Any = model(messages)
            if inspect.isawaitable(answer):
                answer = await answer
            if not hasattr(answer, "__aiter__"):
                return hand(answer)
            async for piece in answer:
                hand(piece)
        except Exception as error:
            _FAILURES.get().append(error)
            raise

    return ask


def _approves(approve: Approve) -> Function:
    async def asked(question: dict[str, Any]) -> tuple[bool, Optional[str]]:
        try:
            event = _of({"type": "approval_asked", **question})
            assert isinstance(event, ApprovalAsked)
            verdict = approve(event)
            if inspect.isawaitable(verdict):
                verdict = await verdict
            return (False, verdict.reason) if isinstance(verdict, Denied) else (verdict is True, None)
        except Exception as error:
            _FAILURES.get().append(error)
            raise

    return asked


def _sorted(tools: Iterable[Tools], functions: dict[str, Function]) -> tuple[list[Tool], list[Servers]]:
    """Tools, whose functions are put to the others, and hubs."""
    described: list[Tool] = []
    hubs: list[Servers] = []

    def offer(tool: Tool, function: Callable[..., Any], convert: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        described.append(tool)
        functions[f"tool/{tool.name}"] = _runner(function, convert)

    for tool in tools:
        if isinstance(tool, Hub):
            hubs.append(servers_of(tool))
        elif isinstance(tool, Tool):
            if not tool.display_only:
                raise ToolError(f"{tool.name}: a tool comes as a pair with the function that it calls")
            described.append(tool)
        elif isinstance(tool, tuple):
            pair: Any = tool  # pyright: ignore
            offer(pair[0], pair[1], dict)
        elif callable(tool):
            offer(tool_from_function(tool), tool, Parameters(tool).convert)
        else:
            raise TypeError(f"a tool is a function, a pair of a Tool and a function, or a Hub, not {tool!r}")
    return described, hubs


def _runner(function: Callable[..., Any], convert: Callable[[dict[str, Any]], dict[str, Any]]) -> Function:
    code = function if inspect.isroutine(function) else type(function).__call__

    async def run(arguments: dict[str, Any]) -> Any:
        converted = convert(arguments)
        if inspect.iscoroutinefunction(code):
            said = await function(**converted)
        else:
            said = await asyncio.to_thread(function, **converted)
            said = await said if inspect.isawaitable(said) else said
        return "" if said is None else plain(said)

    return run
