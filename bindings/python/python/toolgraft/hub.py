"""MCP servers, started, listed and called."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Optional, Union

from ._bridge import wait
from ._native import Call, HubError, Servers, Tool, ToolResult, connect

__all__ = ["Hub"]

#: A file in the `mcpServers` form of other clients, or what stands in one.
Config = Union[str, "os.PathLike[str]", Mapping[str, Any]]


class Hub:
    """The MCP servers of one configuration or several.

    A configuration is a path, or a dict with `mcpServers`. `async with` starts the servers side by
    side and ends them; so do `connect` and `close`. A server that fails keeps no other from
    working: `servers` says how each is. One that has died is started anew by the next call.

    `require_all` makes a server that is not there an error of `connect`. `lazy` starts a server
    with the first call for it. Times are in seconds. `logins` is a folder in which the program
    `toolgraft` keeps logins at servers over HTTP. Variables in a configuration are those of
    `environment`, by default the process's; of them servers get what the program needs to run, such
    as `PATH`.
    """

    def __init__(
        self,
        *configs: Config,
        require_all: bool = False,
        lazy: bool = False,
        connect_timeout: Optional[float] = None,
        call_timeout: Optional[float] = None,
        logins: Optional[Union[str, os.PathLike[str]]] = None,
        environment: Optional[Mapping[str, str]] = None,
    ) -> None:
        self._configs = configs
        self._environment = environment
        times = {"connect_timeout": connect_timeout, "call_timeout": call_timeout, "logins": logins}
        given = {name: value for name, value in times.items() if value is not None}
        self._settings = {"require_all": require_all, "lazy": lazy, **given}
        self._servers: Optional[Servers] = None

    async def connect(self) -> None:
        """Starts the servers and lists their tools; in the time that the slowest takes."""
        if self._servers is not None:
            raise HubError("the hub is connected already")
        environment = dict(os.environ if self._environment is None else self._environment)
        configs = [_read(config) for config in self._configs]
        self._servers = await wait(lambda done: connect(done, configs, environment, **self._settings))

    async def close(self) -> None:
        """Ends all servers, and waits until their processes are gone."""
        servers, self._servers = self._servers, None
        if servers is not None:
            await wait(servers.close)

    async def __aenter__(self) -> Hub:
        await self.connect()
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    @property
    def tools(self) -> list[Tool]:
        """The tools of all servers, as they are now."""
        return self._connected.tools()

    @property
    def servers(self) -> list[dict[str, Any]]:
        """How each server is: `name`, `state`, `error` where it is not there, and what it says of itself."""
        return self._connected.states()

    async def call(
        self, tool: Union[str, Call], arguments: Optional[Mapping[str, Any]] = None, *, server: Optional[str] = None
    ) -> ToolResult:
        """Runs a call: one that a model made, or one of a tool with these arguments.

        What a server does wrong is a result too, with another `status`. A call that is cancelled is
        cancelled at its server. Arguments go out as they are: `toolgraft.validate` checks them.
        """
        if isinstance(tool, Call):
            if arguments is not None or server is not None:
                raise TypeError("a Call has its arguments and its server")
            made = tool
        else:
            made = Call(tool, dict(arguments or {}), server=server)
        servers = self._connected
        result: ToolResult = await wait(lambda done: servers.call(done, made))
        return result

    @property
    def _connected(self) -> Servers:
        if self._servers is None:
            raise HubError("the hub is not connected: use it within `async with`, or after `connect`")
        return self._servers


def _read(config: Config) -> tuple[str, str]:
    if isinstance(config, Mapping):
        return "the configuration", json.dumps(config, ensure_ascii=False)
    path = os.fspath(config)
    try:
        with open(path, encoding="utf-8") as file:
            return path, file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise HubError(f"the configuration {path} cannot be read: {error}") from error


def servers_of(hub: Hub) -> Servers:
    """The servers of a hub that is connected."""
    return hub._connected  # pyright: ignore[reportPrivateUsage]
