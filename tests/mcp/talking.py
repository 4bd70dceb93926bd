"""The official client against a real process, over both transports."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar, cast

import httpx
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import CallToolResult, TextContent

from memgov.processes.commands import command
from tests import loops

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60.0


class McpProcess:
    """`memgov run mcp` under the test's control; `url` is the address of the memory profile."""

    def __init__(self, log: Path, **environment: str) -> None:
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.log, self._more = log, environment
        self.base = f"http://127.0.0.1:{self.port}"
        self.url = f"{self.base}/mcp"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        environment = {**os.environ, "MEMGOV_MCP_URL": self.url, **self._more}
        arguments = command("mcp", host="127.0.0.1", port=self.port, data_dir=self.log.parent)
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                arguments, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
            )
        end = monotonic() + START_SECONDS
        while True:
            assert self.process.poll() is None and monotonic() < end, self.log.read_text()
            try:
                if httpx.get(f"{self.base}/livez", timeout=2).status_code == 200:
                    return
            except httpx.TransportError:
                sleep(0.1)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it; its exit code."""
        assert self.process is not None
        self.process.send_signal(how)
        return self.process.wait(timeout=20)


@asynccontextmanager
async def over_http(url: str, key: str, **options: Any) -> AsyncIterator[Client]:
    """The official client, signed in with a key."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), **options) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(key: str, *arguments: str, **options: Any) -> AsyncIterator[Client]:
    """The official client with a server of its own."""
    environment = {**os.environ, "MEMGOV_KEY": key}
    given = ["-m", "memgov.cli", "mcp", "--stdio", *arguments]
    parameters = StdioServerParameters(command=sys.executable, args=given, env=environment, cwd=ROOT)
    async with Client(stdio_client(parameters), **options) as client:
        yield client


def talk(session: Callable[[], Any], what: Callable[[Client], Awaitable[T]], seconds: float = 60.0) -> T:
    """Run a conversation to its end; `session` opens the client."""

    failed: list[Exception] = []

    async def run() -> T | None:
        async with asyncio.timeout(seconds), session() as client:
            try:
                return await what(client)
            except Exception as error:  # the client would wrap it in groups of groups
                failed.append(error)
                return None

    result = loops.run(run())
    if failed:
        raise failed[0]
    return cast(T, result)


def text_of(result: CallToolResult) -> str:
    """The text of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def outcome(result: CallToolResult) -> tuple[str, str | None]:
    """What became of a write, and why."""
    assert not result.is_error, text_of(result)
    found: Mapping[str, Any] = result.structured_content
    return found["outcome"], found["reason"]


def post(process: McpProcess, body: Any, key: str = "", path: str = "/mcp", **headers: str) -> httpx.Response:
    """One raw POST, as a client that is not the official one might send it; headers as `Host="…"`."""
    sent = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        **({"Authorization": f"Bearer {key}"} if key else {}),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    content = body if isinstance(body, str | bytes) else json.dumps(body)
    return httpx.post(process.base + path, content=content, headers=sent, timeout=30)


def message(method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, **({"params": params} if params is not None else {})}


def called(process: McpProcess, key: str, tool: str, arguments: Any, path: str = "/mcp") -> dict[str, Any]:
    """One tool by a raw POST: its result, or `{"error": …}` of the protocol."""
    answer = post(process, message("tools/call", {"name": tool, "arguments": arguments}), key, path)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body.get("result") or {"error": body["error"]}
