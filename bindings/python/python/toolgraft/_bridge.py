"""Between asyncio and the threads of the native half, which has the other half of this."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Callable, Optional

if TYPE_CHECKING:
    from ._native import Work

#: Takes an exception or `None`, and a value; from any thread.
Done = Callable[[Optional[BaseException], Any], None]
Function = Callable[..., Coroutine[Any, Any, Any]]
#: Takes a coroutine function's name, its arguments and what is told its end; gives what cancels it.
On = Callable[[str, "tuple[Any, ...]", Done], Callable[[], None]]


async def wait(begin: Callable[[Done], Work]) -> Any:
    """What comes of work of the native half, which ends where this is cancelled."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(error: Optional[BaseException], value: Any) -> None:
        if not future.done():
            future.set_result(value) if error is None else future.set_exception(error)

    def done(error: Optional[BaseException], value: Any) -> None:
        _soon(loop, settle, error, value)

    work = begin(done)
    try:
        return await future
    finally:
        work.cancel()


def here(functions: Mapping[str, Function], prepare: Callable[[], object]) -> On:
    """Runs these coroutine functions on the loop of this task, with its context variables, as they are
    after `prepare` in a copy."""
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    context.run(prepare)

    def start(function: str, arguments: tuple[Any, ...], done: Done) -> Callable[[], None]:
        job = _Job(loop, functions[function], arguments, done)
        loop.call_soon_threadsafe(job.begin, context=context)
        return job.cancel

    return start


class _Job:
    """A coroutine that the native half awaits."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, function: Function, arguments: tuple[Any, ...], done: Done
    ) -> None:
        self._loop, self._function, self._arguments, self._done = loop, function, arguments, done
        self._task: Optional[asyncio.Task[Any]] = None
        self._is_wanted = True

    def begin(self) -> None:
        if self._is_wanted:
            self._task = self._loop.create_task(self._function(*self._arguments))
            self._task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[Any]) -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        self._done(error, None if error else task.result())

    def cancel(self) -> None:
        """From any thread, and after the end too."""
        if self._task is None or not self._task.done():
            _soon(self._loop, self._end)

    def _end(self) -> None:
        self._is_wanted = False
        if self._task is not None:
            self._task.cancel()


def _soon(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *arguments: Any) -> None:
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:
        # The loop is closed: nothing runs on it, and nobody waits.
        return
