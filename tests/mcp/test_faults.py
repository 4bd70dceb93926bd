"""What a client sees when things break: the database, the process, its own connection, its patience."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

import httpx
import pytest
from django.db import connections
from mcp.client.client import Client

from memgov import clock
from memory.models import Memory, WriteDecision
from memory.services.audit_verify import audit_verify
from tests.factories import Stage
from tests.launcher.launched import wait_until
from tests.mcp.talking import McpProcess, called, message, outcome, over_http, over_stdio, post, talk

FACT = {"content": "The press halls open at seven.", "scope": "project:alpha", "origin": "tool_verified"}


class Cable:
    """A connection to the database that can be pulled: a forwarder between the process and PostgreSQL."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname or parse_qs(parts.query).get("host", [""])[0], parts.port or 5432)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self.plugged = True
        port = self._listener.getsockname()[1]
        credentials = parts.netloc.rpartition("@")[0]
        self.url = urlunsplit((parts.scheme, f"{credentials}@127.0.0.1:{port}", parts.path, "", ""))
        threading.Thread(target=self._accept, daemon=True).start()

    def pull(self) -> None:
        """Cut every connection, and let no new one through."""
        self.plugged = False
        while self._ends:
            with suppress(OSError):
                self._ends.pop().shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.pull()
        self._listener.close()

    def _connect(self) -> socket.socket:
        host, port = self._target
        if host.startswith("/"):
            made = socket.socket(socket.AF_UNIX)
            made.connect(f"{host}/.s.PGSQL.{port}")
            return made
        return socket.create_connection((host, port))

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if not self.plugged:
                    near.close()
                    continue
                far = self._connect()
                self._ends += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._copy, args=pair, daemon=True).start()

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def cable(database: None) -> Iterator[Cable]:
    made = Cable(os.environ["DATABASE_URL"])
    yield made
    made.close()


def test_database__away_and_back__clean_errors_then_service(
    stage: Stage, cable: Cable, tmp_path: Path
) -> None:
    process = McpProcess(tmp_path / "mcp.log", DATABASE_URL=cable.url)
    process.start()
    try:
        key = stage.coder.key_text
        assert called(process, key, "add_memory", FACT)["structuredContent"]["outcome"] == "stored"
        cable.pull()
        for _ in range(3):
            answer = post(process, message("tools/call", {"name": "get_memories", "arguments": {}}), key)
            assert answer.status_code == 503 and answer.json()["code"] == "database_unavailable"
            assert answer.headers["Retry-After"] == "2"
        assert httpx.get(f"{process.base}/livez").status_code == 200
        cable.plugged = True
        body = called(process, key, "get_memories", {})["structuredContent"]
        assert [row["content"] for row in body["results"]] == [FACT["content"]]
    finally:
        process.stop()
    assert "Traceback" not in process.log.read_text()


def test_concurrency__fifty_calls_of_two_tenants__each_gets_its_own(
    stage: Stage, other: Stage, mcp_process: McpProcess
) -> None:
    """More calls than threads: same fact for both tenants, one row in each, every answer its caller's."""

    def call(number: int) -> tuple[str, str]:
        mine = (stage, other)[number % 2]
        given = {**FACT, "session": f"s{number}"}
        result = called(mcp_process, mine.coder.key_text, "add_memory", given)["structuredContent"]
        assert result["memory"]["agent"]["name"] == mine.coder.agent.name
        return mine.tenant.slug, result["outcome"]

    with ThreadPoolExecutor(25) as pool:
        outcomes = Counter(pool.map(call, range(50)))
    assert outcomes == Counter({
        (one.tenant.slug, what): count
        for one in (stage, other) for what, count in (("stored", 1), ("duplicate", 24))
    })  # fmt: skip
    for one in (stage, other):
        with one.context():
            assert Memory.objects.count() == 1


def test_killed_in_the_middle_of_calls__what_was_answered_is_there(stage: Stage, tmp_path: Path) -> None:
    process = McpProcess(tmp_path / "mcp.log")
    process.start()
    answered: list[str] = []

    def write(number: int) -> None:
        given = {**FACT, "content": f"Drawer {number} of the tall cabinet holds paper of mill {number * 7}.",
                 "idempotency_key": f"k{number}"}  # fmt: skip
        with suppress(httpx.TransportError):
            result = called(process, stage.coder.key_text, "add_memory", given)["structuredContent"]
            answered.append(result["memory"]["id"])

    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(write, number) for number in range(200)]
        wait_until(lambda: len(answered) >= 20, 60, "twenty answers")
        process.stop(signal.SIGKILL)
        for one in done:
            one.result()
    process.start()
    try:
        assert 20 <= len(answered) < 200
        with stage.context():
            rows = {f"mem_{row.hex}" for row in Memory.objects.values_list("id", flat=True)}
            decisions = WriteDecision.objects.count()
        assert set(answered) <= rows
        assert decisions == len(rows)  # a row with its decision or neither
        assert audit_verify(stage.tenant.id).report.ok
        for number in range(5):  # the same call again, with its key: once more nothing is doubled
            write(number)
        with stage.context():
            assert Memory.objects.filter(content__startswith="Drawer 0 ").count() == 1
    finally:
        process.stop()


def test_client_that_hangs_up__does_not_harm_the_next(stage: Stage, mcp_process: McpProcess) -> None:
    call = message("tools/call", {"name": "search_memories", "arguments": {"query": "x"}})
    body = json.dumps(call).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{mcp_process.port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nAuthorization: Bearer {stage.coder.key_text}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    for sent in [head, head + body[:20], head + body] * 5:
        with closing(socket.create_connection(("127.0.0.1", mcp_process.port))) as line:
            line.sendall(sent)
    assert (
        called(mcp_process, stage.coder.key_text, "add_memory", FACT)["structuredContent"]["outcome"]
        == "stored"
    )


def test_cancelled_call__the_session_goes_on(stage: Stage) -> None:
    async def impatient(client: Client) -> tuple[str, str | None]:
        calls = [
            asyncio.create_task(client.call_tool("search_memories", {"query": f"hall {number}"}))
            for number in range(10)
        ]
        await asyncio.sleep(0.05)
        for one in calls:
            one.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        return outcome(await client.call_tool("add_memory", FACT))

    assert talk(partial(over_stdio, stage.coder.key_text), impatient) == ("stored", None)


def test_key_revoked_in_a_running_session__next_call_says_so(stage: Stage, mcp_process: McpProcess) -> None:
    async def revoked(client: Client) -> Any:
        assert outcome(await client.call_tool("add_memory", FACT)) == ("stored", None)
        await asyncio.to_thread(_revoke, stage)
        return await client.call_tool("add_memory", FACT)

    result = talk(partial(over_stdio, stage.coder.key_text), revoked)
    assert result.is_error and result.structured_content["code"] == "key_revoked"


def _revoke(stage: Stage) -> None:
    with stage.context():
        stage.coder.key.revoked_at = clock.now()
        stage.coder.key.save()
    connections.close_all()


def test_stop__what_was_open_is_closed(stage: Stage, tmp_path: Path) -> None:
    process = McpProcess(tmp_path / "mcp.log")
    process.start()

    async def one(client: Client) -> Any:
        return await client.call_tool("add_memory", FACT)

    assert outcome(talk(partial(over_http, process.url, stage.coder.key_text), one)) == ("stored", None)
    process.stop()
    assert "Application shutdown complete" in process.log.read_text()
