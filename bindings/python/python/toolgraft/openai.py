"""Clients of OpenAI for Python whose `tools=` works with a model that has none.

`wrap` takes a client, `OpenAI` or `AsyncOpenAI`, and gives one of the same kind, with everything
that it can do: a request to Chat Completions with tools or a schema goes out as text, and
calls that the model writes come back as calls. All else passes as it is.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, Union

from openai import AsyncOpenAI, DefaultHttpxClient, OpenAI

from ._exchange import Exchange, needs_tools
from ._native import ToolgraftError

if TYPE_CHECKING:
    import httpx2 as httpx
else:
    # What `openai` itself sends with: `httpx` up to its version 2, `httpx2` since, and both may be there.
    _names = (kind.__module__.partition(".")[0] for kind in DefaultHttpxClient.__mro__)
    httpx = import_module(next(name for name in _names if name.startswith("httpx")))

__all__ = ["AsyncTransport", "Transport", "wrap"]

_Client = TypeVar("_Client", OpenAI, AsyncOpenAI)


def wrap(client: _Client, **settings: Any) -> _Client:
    """A client like this one whose `tools=` and `response_format=` work with any model.

    Settings are those of `toolgraft.Turn`: `dialect`, `lang`, `max_corrections`, and so on. The
    client's connections are shared.
    """
    inner: Any = client._client  # pyright: ignore[reportPrivateUsage]
    if isinstance(client, AsyncOpenAI):
        return client.copy(http_client=httpx.AsyncClient(transport=AsyncTransport(inner._transport, **settings)))
    return client.copy(http_client=httpx.Client(transport=Transport(inner._transport, **settings)))


class _Body(httpx.SyncByteStream):
    def __init__(self, parts: Generator[bytes, None, None]) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[bytes]:
        return self._parts

    def close(self) -> None:
        self._parts.close()


class _AsyncBody(httpx.AsyncByteStream):
    def __init__(self, parts: AsyncGenerator[bytes, None]) -> None:
        self._parts = parts

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._parts

    async def aclose(self) -> None:
        await self._parts.aclose()


class Transport(httpx.BaseTransport):
    """A transport of httpx that does what `wrap` says, for clients that take one."""

    def __init__(self, inner: httpx.BaseTransport | None = None, **settings: Any) -> None:
        self._inner = inner or httpx.HTTPTransport()
        self._settings = settings

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, as it is or as text."""
        body = _body(request, request.read())
        if body is None:
            return self._inner.handle_request(request)
        try:
            exchange = Exchange(body, self._settings)
            response = self._inner.handle_request(_with(request, exchange.body()))
            if response.status_code != 200:
                return response
            if body.get("stream"):
                return _streamed(_Body(self._stream(request, exchange, response)))
            while True:
                response.read()
                exchange.take(response.json())
                again = exchange.body()
                if again is None:
                    return httpx.Response(200, json=exchange.answer())
                response.close()
                response = self._inner.handle_request(_with(request, again))
                if response.status_code != 200:
                    return response
        except ToolgraftError as error:
            return _refused(error)

    def _stream(self, request: httpx.Request, exchange: Exchange, response: httpx.Response) -> Generator[bytes, None, None]:
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
            response = self._inner.handle_request(_with(request, again))
        yield from map(_event, exchange.last())
        yield b"data: [DONE]\n\n"

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
        body = _body(request, await request.aread())
        if body is None:
            return await self._inner.handle_async_request(request)
        try:
            exchange = Exchange(body, self._settings)
            response = await self._inner.handle_async_request(_with(request, exchange.body()))
            if response.status_code != 200:
                return response
            if body.get("stream"):
                return _streamed(_AsyncBody(self._stream(request, exchange, response)))
            while True:
                await response.aread()
                exchange.take(response.json())
                again = exchange.body()
                if again is None:
                    return httpx.Response(200, json=exchange.answer())
                await response.aclose()
                response = await self._inner.handle_async_request(_with(request, again))
                if response.status_code != 200:
                    return response
        except ToolgraftError as error:
            return _refused(error)

    async def _stream(
        self, request: httpx.Request, exchange: Exchange, response: httpx.Response
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
            response = await self._inner.handle_async_request(_with(request, again))
        for chunk in exchange.last():
            yield _event(chunk)
        yield b"data: [DONE]\n\n"

    async def aclose(self) -> None:
        """Closes the inner transport."""
        await self._inner.aclose()


def _body(request: httpx.Request, content: bytes) -> Union[dict[str, Any], None]:
    """A request's body, where it asks for what a model without tools has not."""
    if request.method != "POST" or not request.url.path.endswith("/chat/completions"):
        return None
    body: dict[str, Any] = json.loads(content)
    return body if needs_tools(body) else None


def _with(request: httpx.Request, body: dict[str, Any] | None) -> httpx.Request:
    headers = [(name, value) for name, value in request.headers.multi_items() if name != "content-length"]
    content = json.dumps(body, ensure_ascii=False).encode()
    return httpx.Request(request.method, request.url, headers=headers, content=content, extensions=request.extensions)


def _event(chunk: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def _failed(response: httpx.Response) -> bytes:
    """An error within a stream, as clients know it."""
    return _event({"error": {"message": response.text, "code": response.status_code}})


def _streamed(stream: Union[httpx.SyncByteStream, httpx.AsyncByteStream]) -> httpx.Response:
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=stream)


def _refused(error: ToolgraftError) -> httpx.Response:
    """What is wrong with a request is told as an endpoint would, so that nobody tries it again."""
    return httpx.Response(400, json={"error": {"message": str(error), "type": "invalid_request_error"}})
