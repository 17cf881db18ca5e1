"""Clients of OpenAI for Python whose `tools=` works with a model that has none.

`wrap` takes a client, `OpenAI` or `AsyncOpenAI`, and gives one of the same kind, with everything
that it can do: a request to Chat Completions with tools or a schema goes out as text, and
calls that the model writes come back as calls. All else passes as it is.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Iterator
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Callable, TypeVar, Union

from openai import AsyncOpenAI, DefaultHttpxClient, OpenAI

from ._exchange import Exchange, NoAnswer, needs_tools
from ._native import ToolgraftError

if TYPE_CHECKING:
    import httpx2 as httpx


def _library(of: object) -> Any:
    """The httpx that a class or an object is of: `openai` sends with `httpx` up to its version 2, with `httpx2`
    since, takes clients of both, and both may be there."""
    kind = of if isinstance(of, type) else of.__class__
    roots = (each.__module__.partition(".")[0] for each in kind.__mro__)
    return import_module(next(root for root in roots if root.startswith("httpx")))


if not TYPE_CHECKING:
    httpx = _library(DefaultHttpxClient)

__all__ = ["AsyncTransport", "Transport", "wrap", "wrap_httpx"]

_Client = TypeVar("_Client", OpenAI, AsyncOpenAI)
_Httpx = TypeVar("_Httpx")


def wrap(client: _Client, **settings: Any) -> _Client:
    """A client like this one whose `tools=` and `response_format=` work with any model.

    Settings are those of `toolgraft.Turn`: `dialect`, `lang`, `max_corrections`, and so on. The
    client's connections are shared, its proxies, hooks and authentication hold.
    """
    inner: Any = client._client  # pyright: ignore[reportPrivateUsage]
    return client.copy(http_client=wrap_httpx(inner, **settings))


def wrap_httpx(client: _Httpx, **settings: Any) -> _Httpx:
    """The same for a client of httpx, `Client` or `AsyncClient`, for any library that takes one."""
    library = _library(client)
    wrapped: _Httpx = _wrapping(library, isinstance(client, library.AsyncClient))(client, settings)
    return wrapped


@lru_cache(maxsize=None)
def _wrapping(library: Any, is_async: bool) -> Any:
    """The class of wrapped clients of this httpx."""
    base, mixin = (library.AsyncClient, _AsyncWrapped) if is_async else (library.Client, _Wrapped)
    return type(base.__name__, (mixin, base), {"__slots__": ("inner", "settings")})


@lru_cache(maxsize=None)
def _streaming(library: Any, is_async: bool) -> Any:
    """The class of this httpx's bodies that are made while they are read."""
    base, mixin = (library.AsyncByteStream, _AsyncBody) if is_async else (library.SyncByteStream, _Body)
    return type(base.__name__, (mixin, base), {})


class _Shared:
    """A client that is another one, all its state included, in everything but how it sends."""

    inner: Any
    settings: dict[str, Any]

    def __init__(self, inner: Any, settings: dict[str, Any]) -> None:
        self.__dict__ = inner.__dict__
        self.inner, self.settings = inner, settings

    def build_request(self, *args: Any, **keywords: Any) -> Any:
        return self.inner.build_request(*args, **keywords)


class _Wrapped(_Shared):
    def send(self, request: Any, *, stream: bool = False, **how: Any) -> Any:
        body = _body(request.read()) if _is_chat(request) else None
        if body is None:
            return self.inner.send(request, stream=stream, **how)
        response = _answer(lambda request: self.inner.send(request, stream=True, **how), request, body, self.settings)
        if not stream:
            response.read()
        return response


class _AsyncWrapped(_Shared):
    async def send(self, request: Any, *, stream: bool = False, **how: Any) -> Any:
        body = _body(await request.aread()) if _is_chat(request) else None
        if body is None:
            return await self.inner.send(request, stream=stream, **how)
        sends: _AsyncSend = lambda request: self.inner.send(request, stream=True, **how)  # noqa: E731
        response = await _answer_async(sends, request, body, self.settings)
        if not stream:
            await response.aread()
        return response


class _Body:
    def __init__(self, parts: Generator[bytes, None, None]) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[bytes]:
        return self._parts

    def close(self) -> None:
        self._parts.close()


class _AsyncBody:
    def __init__(self, parts: AsyncGenerator[bytes, None]) -> None:
        self._parts = parts

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._parts

    async def aclose(self) -> None:
        await self._parts.aclose()


class Transport(httpx.BaseTransport):
    """A transport of httpx that does what `wrap` says, for what takes no client."""

    def __init__(self, inner: httpx.BaseTransport | None = None, **settings: Any) -> None:
        self._inner = inner or httpx.HTTPTransport()
        self._settings = settings

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, as it is or as text."""
        body = _body(request.read()) if _is_chat(request) else None
        if body is None:
            return self._inner.handle_request(request)
        response: httpx.Response = _answer(self._inner.handle_request, request, body, self._settings)
        return response

    def close(self) -> None:
        """Closes the inner transport."""
        self._inner.close()


class AsyncTransport(httpx.AsyncBaseTransport):
    """As `Transport`, for asyncio."""

    def __init__(self, inner: httpx.AsyncBaseTransport | None = None, **settings: Any) -> None:
        self._inner = inner or httpx.AsyncHTTPTransport()
        self._settings = settings

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, as it is or as text."""
        body = _body(await request.aread()) if _is_chat(request) else None
        if body is None:
            return await self._inner.handle_async_request(request)
        response: httpx.Response = await _answer_async(self._inner.handle_async_request, request, body, self._settings)
        return response

    async def aclose(self) -> None:
        """Closes the inner transport."""
        await self._inner.aclose()


# Requests and responses are those of either httpx.
_Send = Callable[[Any], Any]
_AsyncSend = Callable[[Any], Awaitable[Any]]


def _answer(send: _Send, request: Any, body: dict[str, Any], settings: dict[str, Any]) -> Any:
    """Asks the model until there is an answer to the request."""
    try:
        exchange = Exchange(body, settings)
        response = send(_with(request, exchange.body()))
        if response.status_code != 200:
            return response
        if body.get("stream"):
            parts = _parts(send, request, exchange, response)
            return _streamed(request, response, _streaming(_library(request), False)(parts))
        while True:
            response.read()
            exchange.take(response.json())
            again = exchange.body()
            if again is None:
                return _whole(request, response, exchange.answer())
            response.close()
            response = send(_with(request, again))
            if response.status_code != 200:
                return response
    except (NoAnswer, ToolgraftError) as error:
        return _refused(request, error)


def _parts(
    send: _Send, request: Any, exchange: Exchange, response: Any
) -> Generator[bytes, None, None]:
    while True:
        try:
            if response.status_code != 200:
                response.read()
                yield _failed(response)
                return
            for line in response.iter_lines():
                yield from map(_event, exchange.line(line))
                if not exchange.is_streaming:
                    break
        finally:
            response.close()
        yield from map(_event, exchange.end_of_stream())
        again = exchange.body()
        if again is None:
            break
        response = send(_with(request, again))
    yield from _end(exchange)


async def _answer_async(
    send: _AsyncSend, request: Any, body: dict[str, Any], settings: dict[str, Any]
) -> Any:
    try:
        exchange = Exchange(body, settings)
        response = await send(_with(request, exchange.body()))
        if response.status_code != 200:
            return response
        if body.get("stream"):
            parts = _parts_async(send, request, exchange, response)
            return _streamed(request, response, _streaming(_library(request), True)(parts))
        while True:
            await response.aread()
            exchange.take(response.json())
            again = exchange.body()
            if again is None:
                return _whole(request, response, exchange.answer())
            await response.aclose()
            response = await send(_with(request, again))
            if response.status_code != 200:
                return response
    except (NoAnswer, ToolgraftError) as error:
        return _refused(request, error)


async def _parts_async(
    send: _AsyncSend, request: Any, exchange: Exchange, response: Any
) -> AsyncGenerator[bytes, None]:
    while True:
        try:
            if response.status_code != 200:
                await response.aread()
                yield _failed(response)
                return
            async for line in response.aiter_lines():
                for chunk in exchange.line(line):
                    yield _event(chunk)
                if not exchange.is_streaming:
                    break
        finally:
            await response.aclose()
        for chunk in exchange.end_of_stream():
            yield _event(chunk)
        again = exchange.body()
        if again is None:
            break
        response = await send(_with(request, again))
    for event in _end(exchange):
        yield event


def _is_chat(request: Any) -> bool:
    return bool(request.method == "POST" and request.url.path.endswith("/chat/completions"))


def _body(content: bytes) -> Union[dict[str, Any], None]:
    """A request's body, where it asks for what a model without tools has not."""
    body: dict[str, Any] = json.loads(content)
    return body if needs_tools(body) else None


def _with(request: Any, body: dict[str, Any] | None) -> Any:
    headers = [(name, value) for name, value in request.headers.multi_items() if name != "content-length"]
    content = json.dumps(body, ensure_ascii=False).encode()
    made = _library(request).Request
    return made(request.method, request.url, headers=headers, content=content, extensions=request.extensions)


def _event(chunk: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def _failed(response: Any) -> bytes:
    """An error within a stream, as clients know it."""
    return _event({"error": {"message": response.text, "code": response.status_code}})


def _end(exchange: Exchange) -> Iterator[bytes]:
    """The end of the client's stream."""
    try:
        yield from map(_event, exchange.last())
    except NoAnswer as error:
        yield _event({"error": {"message": str(error), "code": 502}})
    yield b"data: [DONE]\n\n"


#: Headers of a response that speak of its bytes, which are others now.
_OF_THE_BYTES = ("content-length", "content-encoding", "content-type", "transfer-encoding")


def _headers(response: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _OF_THE_BYTES]


def _whole(request: Any, response: Any, answer: dict[str, Any]) -> Any:
    return _library(request).Response(200, headers=_headers(response), json=answer, request=request)


def _streamed(request: Any, response: Any, stream: Any) -> Any:
    headers = [*_headers(response), ("content-type", "text/event-stream")]
    return _library(request).Response(200, headers=headers, stream=stream, request=request)


def _refused(request: Any, error: Exception) -> Any:
    """What is wrong with a request or an answer is told as an endpoint would, so that nobody tries it again."""
    status, kind = (502, "server_error") if isinstance(error, NoAnswer) else (400, "invalid_request_error")
    wrong = {"error": {"message": str(error), "type": kind}}
    return _library(request).Response(status, headers={"x-should-retry": "false"}, json=wrong, request=request)
