"""A hub with a real server over stdio."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import toolgraft
from toolgraft import Call, Hub, HubError, ToolResult

SERVER = str(Path(__file__).with_name("mcp_server.py"))


class WithServer(unittest.IsolatedAsyncioTestCase):
    """A folder for what the server notes."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.notes = self.folder / "notes"

    def config(self, **entry: Any) -> dict[str, Any]:
        server = {"command": sys.executable, "args": [SERVER, str(self.notes)], **entry}
        return {"mcpServers": {"weather": server}}

    async def noted(self, text: str) -> None:
        """Waits until the server has noted a line."""
        while not self.notes.exists() or text not in self.notes.read_text().splitlines():
            await asyncio.sleep(0.01)


class Hubs(WithServer):
    async def test_tools_are_listed_and_called(self) -> None:
        async with Hub(self.config(env={"SKY": "grey"})) as hub:
            self.assertEqual([tool.name for tool in hub.tools], ["forecast", "slow", "broken"])
            self.assertEqual({tool.server for tool in hub.tools}, {"weather"})
            result = await hub.call("forecast", {"city": "Ulm"}, server="weather")
            self.assertEqual((result.text, result.status, result.structured), ('Ulm: grey\n{"sky":"grey"}', "result", {"sky": "grey"}))
            (server,) = hub.servers
            self.assertEqual((server["name"], server["state"], server["server_name"]), ("weather", "ready", "weather"))
        await self.noted("ended")

    async def test_what_goes_wrong_with_a_call_is_a_result(self) -> None:
        async with Hub(self.config()) as hub:
            broken, unknown = await asyncio.gather(hub.call("broken"), hub.call("forcast"))
            self.assertEqual((broken.text, broken.status), ("out of order", "tool_error"))
            self.assertEqual(unknown.status, "tool_error")
            self.assertIn("forecast", unknown.text)

    async def test_a_call_of_a_model_is_run_and_told(self) -> None:
        async with Hub(self.config()) as hub:
            text = toolgraft.parse('{"name": "forecast", "arguments": {"city": "Ulm"}}', hub.tools)
            results: list[ToolResult] = [await hub.call(call) for call in text.calls]
            self.assertIn("Ulm: sunny", toolgraft.results_message(hub.tools, results))
            with self.assertRaises(TypeError):
                await hub.call(text.calls[0], {"city": "Bonn"})

    async def test_a_call_that_is_cancelled_is_cancelled_at_its_server(self) -> None:
        async with Hub(self.config()) as hub:
            call = asyncio.create_task(hub.call("slow"))
            await self.noted("called slow")
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            await self.noted("cancelled")

    async def test_a_call_takes_no_longer_than_its_limit(self) -> None:
        async with Hub(self.config(), call_timeout=0.05) as hub:
            self.assertEqual((await hub.call("slow")).status, "timed_out")

    async def test_configurations_are_files_too(self) -> None:
        file = self.folder / "mcp.json"
        file.write_text(json.dumps(self.config(env={"SKY": "${SKY}"})))
        other = {"mcpServers": {"gone": {"command": str(self.folder / "no-such-program")}}}
        environment = {"SKY": "blue", "PATH": "/usr/bin:/bin"}
        async with Hub(file, other, environment=environment) as hub:
            self.assertEqual((await hub.call("forecast", {"city": "Ulm"})).text, 'Ulm: blue\n{"sky":"blue"}')
            self.assertEqual([server["state"] for server in hub.servers], ["ready", "failed"])
        with self.assertRaisesRegex(HubError, "gone"):
            await Hub(file, other, require_all=True).connect()

    async def test_a_server_may_start_with_its_first_call(self) -> None:
        async with Hub(self.config(), lazy=True) as hub:
            self.assertEqual(hub.tools, [])
            self.assertEqual((await hub.call("forecast", {"city": "Ulm"}, server="weather")).text, 'Ulm: sunny\n{"sky":"sunny"}')

    async def test_the_callers_mistakes_are_of_one_family(self) -> None:
        self.assertIn(toolgraft.ToolgraftError, HubError.__mro__)
        with self.assertRaisesRegex(HubError, "no-such-file"):
            await Hub(self.folder / "no-such-file").connect()
        with self.assertRaisesRegex(HubError, "mcpServers"):
            await Hub({}).connect()
        with self.assertRaisesRegex(HubError, "async with"):
            Hub(self.config()).tools
        with self.assertRaises(HubError):
            await Hub(self.config()).call("forecast")
        async with Hub(self.config()) as hub:
            with self.assertRaises(toolgraft.ToolError):
                await hub.call(Call("forecast", ["Ulm"]))
            with self.assertRaises(HubError):
                await hub.connect()


if __name__ == "__main__":
    unittest.main()
