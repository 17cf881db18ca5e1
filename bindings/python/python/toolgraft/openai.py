"""Clients of OpenAI and Anthropic for Python whose `tools=` works with a model that has none.

`wrap` takes a client, such as `OpenAI` or `AsyncAnthropic`, and gives one of the same kind, with everything that it
can do. Its endpoint is one of Chat Completions. A request to Chat Completions with tools or a schema, and each one to
Responses or Messages, goes out as text, and calls that the model writes come back as calls. All else passes as it is.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Iterator
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Callable, TypeVar, Union

from ._native import Exchange, Exchanges, Refused

if TYPE_CHECKING:
    import httpx2 as httpx


def _library(of: object) -> Any:
    """The httpx that a class or an object is of: `openai` sends with `httpx` up to its version 2, with `httpx2`
    since, takes clients of both, and both may be there."""
    kind = of if isinstance(of, type) else of.__class__
    roots = (each.__module__.partition(".")[0] for each in kind.__mro__)
    return import_module(next(root for root in roots if root.startswith("httpx")))


if not TYPE_CHECKING:
    try:
        httpx = _library(import_module("openai").DefaultHttpxClient)
    except ImportError:
        httpx = import_module("httpx2" if find_spec("httpx2") else "httpx")

__all__ = ["AsyncTransport", "Transport", "wrap", "wrap_httpx"]

_Client = TypeVar("_Client")
_Httpx = TypeVar("_Httpx")


def wrap(client: _Client, **settings: Any) -> _Client:
    """A client like this one whose `tools=` and `response_format=` work with any model.

    Settings are `model` (whose family the prompt is for), `dialect`, `lang`, `style`, `listing`, `result_bytes` and
    `max_corrections`. The client's connections are shared, its proxies, hooks and authentication hold.
    """
    given: Any = client
    wrapped: _Client = given.copy(http_client=wrap_httpx(given._client, **settings))
    return wrapped


def wrap_httpx(client: _Httpx, **settings: Any) -> _Httpx:
    """The same for a client of httpx, `Client` or `AsyncClient`, for any library that takes one."""
    library = _library(client)
    wrapped: _Httpx = _wrapping(library, isinstance(client, library.AsyncClient))(client, Exchanges(**settings))
    return wrapped


@lru_cache(maxsize=None)
def _wrapping(library: Any, is_async: bool) -> Any:
    """The class of wrapped clients of this httpx."""
    base, mixin = (library.AsyncClient, _AsyncWrapped) if is_async else (library.Client, _Wrapped)
    return type(base.__name__, (mixin, base), {"__slots__": ("inner", "exchanges")})


@lru_cache(maxsize=None)
def _streaming(library: Any, is_async: bool) -> Any:
    """The class of this httpx's bodies that are made while they are read."""
    base, mixin = (library.AsyncByteStream, _AsyncBody) if is_async else (library.SyncByteStream, _Body)
    return type(base.__name__, (mixin, base), {})


class _Shared:
    """A client that is another one, all its state included, in everything but how it sends."""

    inner: Any
    exchanges: Exchanges

    def __init__(self, inner: Any, exchanges: Exchanges) -> None:
        self.__dict__ = inner.__dict__
        self.inner, self.exchanges = inner, exchanges

    def build_request(self, *args: Any, **keywords: Any) -> Any:
        return self.inner.build_request(*args, **keywords)


class _Wrapped(_Shared):
    def send(self, request: Any, *, stream: bool = False, **how: Any) -> Any:
        response = _answer(lambda request: self.inner.send(request, stream=True, **how), request, self.exchanges)
        if not stream:
            response.read()
        return response


class _AsyncWrapped(_Shared):
    async def send(self, request: Any, *, stream: bool = False, **how: Any) -> Any:
        sends: _AsyncSend = lambda request: self.inner.send(request, stream=True, **how)  # noqa: E731
        response = await _answer_async(sends, request, self.exchanges)
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
        self._exchanges = Exchanges(**settings)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, as it is or as text."""
        response: httpx.Response = _answer(self._inner.handle_request, request, self._exchanges)
        return response

    def close(self) -> None:
        """Closes the inner transport."""
        self._inner.close()


class AsyncTransport(httpx.AsyncBaseTransport):
    """As `Transport`, for asyncio."""

    def __init__(self, inner: httpx.AsyncBaseTransport | None = None, **settings: Any) -> None:
        self._inner = inner or httpx.AsyncHTTPTransport()
        self._exchanges = Exchanges(**settings)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, as it is or as text."""
        response: httpx.Response = await _answer_async(self._inner.handle_async_request, request, self._exchanges)
        return response

    async def aclose(self) -> None:
        """Closes the inner transport."""
        await self._inner.aclose()


# Requests and responses are those of either httpx.
_Send = Callable[[Any], Any]
_AsyncSend = Callable[[Any], Awaitable[Any]]


#: Ends of the paths whose requests are answered here, with the path of Chat Completions beside them.
_ROUTES = {
    "/chat/completions": "/chat/completions",
    "/v1/responses": "/v1/chat/completions",
    "/v1/messages": "/v1/chat/completions",
}


def _route(request: Any) -> Union[str, None]:
    """The route of a request that may be answered here."""
    return next((end for end in _ROUTES if request.method == "POST" and request.url.path.endswith(end)), None)


def _answer(send: _Send, request: Any, exchanges: Exchanges) -> Any:
    """Asks the model until there is an answer to the request."""
    route = _route(request)
    try:
        exchange = exchanges.begin(route, request.read(), True) if route else None
        sent = exchange.request() if exchange else None
        if exchange is None or sent is None:
            return send(request)
        response = send(_with(request, sent))
        if response.status_code == 200 and exchange.is_stream:
            parts = _parts(send, request, exchange, response)
            return _streamed(request, response, exchange, _streaming(_library(request), False)(parts))
        while response.status_code == 200:
            response.read()
            answer = exchange.push(response.text) + exchange.end()
            if (sent := exchange.request()) is None:
                return _whole(request, response, exchange, answer)
            response.close()
            response = send(_with(request, sent))
        return response
    except Refused as error:
        return _refused(request, error)


def _parts(send: _Send, request: Any, exchange: Exchange, response: Any) -> Generator[bytes, None, None]:
    while True:
        try:
            if response.status_code != 200:
                response.read()
                yield exchange.fail(response.status_code, response.text)
                return
            for chunk in response.iter_bytes():
                yield exchange.feed(chunk)
                if not exchange.is_streaming:
                    break
        finally:
            response.close()
        yield exchange.end()
        if (sent := exchange.request()) is None:
            return
        response = send(_with(request, sent))


async def _answer_async(send: _AsyncSend, request: Any, exchanges: Exchanges) -> Any:
    route = _route(request)
    try:
        exchange = exchanges.begin(route, await request.aread(), True) if route else None
        sent = exchange.request() if exchange else None
        if exchange is None or sent is None:
            return await send(request)
        response = await send(_with(request, sent))
        if response.status_code == 200 and exchange.is_stream:
            parts = _parts_async(send, request, exchange, response)
            return _streamed(request, response, exchange, _streaming(_library(request), True)(parts))
        while response.status_code == 200:
            await response.aread()
            answer = exchange.push(response.text) + exchange.end()
            if (sent := exchange.request()) is None:
                return _whole(request, response, exchange, answer)
            await response.aclose()
            response = await send(_with(request, sent))
        return response
    except Refused as error:
        return _refused(request, error)


async def _parts_async(
    send: _AsyncSend, request: Any, exchange: Exchange, response: Any
) -> AsyncGenerator[bytes, None]:
    while True:
        try:
            if response.status_code != 200:
                await response.aread()
                yield exchange.fail(response.status_code, response.text)
                return
            async for chunk in response.aiter_bytes():
                yield exchange.feed(chunk)
                if not exchange.is_streaming:
                    break
        finally:
            await response.aclose()
        yield exchange.end()
        if (sent := exchange.request()) is None:
            return
        response = await send(_with(request, sent))


def _with(request: Any, body: bytes) -> Any:
    """The request with this body, to Chat Completions."""
    headers = [(name, value) for name, value in request.headers.multi_items() if name != "content-length"]
    if "authorization" not in request.headers and (key := request.headers.get("x-api-key")):
        headers.append(("authorization", f"Bearer {key}"))
    route = _route(request) or ""
    url = request.url.copy_with(path=request.url.path.removesuffix(route) + _ROUTES[route])
    made = _library(request).Request
    return made(request.method, url, headers=headers, content=body, extensions=request.extensions)


#: Headers of a response that speak of its bytes, which are others now.
_OF_THE_BYTES = ("content-length", "content-encoding", "content-type", "transfer-encoding")


def _headers(response: Any, exchange: Exchange, kind: str) -> list[tuple[str, str]]:
    kept = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _OF_THE_BYTES]
    left_out = [("x-toolgraft-left-out", exchange.left_out)] if exchange.left_out else []
    return [*kept, *left_out, ("content-type", kind)]


def _whole(request: Any, response: Any, exchange: Exchange, answer: bytes) -> Any:
    headers = _headers(response, exchange, "application/json")
    return _library(request).Response(200, headers=headers, content=answer, request=request)


def _streamed(request: Any, response: Any, exchange: Exchange, stream: Any) -> Any:
    headers = _headers(response, exchange, "text/event-stream")
    return _library(request).Response(200, headers=headers, stream=stream, request=request)


def _refused(request: Any, error: Refused) -> Any:
    """What is wrong with a request or an answer is told as an endpoint would, so that nobody tries it again."""
    status, _, body = error.args
    headers = {"x-should-retry": "false", "content-type": "application/json"}
    return _library(request).Response(status, headers=headers, content=body.encode(), request=request)
