"""The story of `client/tests/story.py` through plain HTTP, both clients and MCP; the adapters tell it there."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import httpx

from tests import loops
from tests.browser import Web
from tests.client.both import Driven
from tests.client.staged import Staged
from tests.factories import Stage
from tests.mcp.talking import McpProcess, over_http

STORY = Path(__file__).resolve().parents[2] / "client" / "tests" / "story.py"


def told() -> Any:
    """The story as a module; it lies where the frameworks are."""
    spec = importlib.util.spec_from_file_location("story", STORY)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


story = told()
WHERE = {"scope": story.SCOPE, "origin": story.ORIGIN, "session": story.SESSION}


class Called:
    """An agent with one of the clients."""

    def __init__(self, client: Driven) -> None:
        self.client = client

    def learn(self, name: str, text: str) -> None:
        self.client.write(text, **WHERE)

    def ask(self, question: str) -> list[str]:
        return [entry.content for entry in self._entries(question)]

    def forget(self, name: str, text: str) -> None:
        (wrong,) = [entry for entry in self._entries(text) if entry.content == text]
        self.client.delete(wrong.id, "it was wrong")

    def _entries(self, query: str) -> Any:
        return self.client.retrieve(query, scopes=[story.SCOPE]).entries


class Plain:
    """An agent with nothing but HTTP."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http

    def learn(self, name: str, text: str) -> None:
        assert self.http.post("memories", json={"content": text, **WHERE}).status_code in (200, 201, 202, 422)

    def ask(self, question: str) -> list[str]:
        return [entry["content"] for entry in self._entries(question)]

    def forget(self, name: str, text: str) -> None:
        (wrong,) = [entry for entry in self._entries(text) if entry["content"] == text]
        self.http.delete(f"memories/{wrong['id']}", params={"reason": "it was wrong"}).raise_for_status()

    def _entries(self, query: str) -> Any:
        return self.http.post("retrieve", json={"query": query, "scopes": [story.SCOPE]}).json()["entries"]


def rows(stage: Stage) -> Any:
    """What is stored, as the adapters' tests see it."""
    staged = Staged("")
    staged.stages[stage.tenant.slug] = stage
    return staged.rows({"slug": stage.tenant.slug})


def test_story__through_the_clients__ends_in_the_same_state(client: Driven, stage: Stage) -> None:
    story.assert_told(story.tell(Called(client)), rows(stage))


def test_story__through_plain_http__ends_in_the_same_state(web: Web, stage: Stage) -> None:
    with httpx.Client(base_url=f"{web.url}/api/v1/", headers=stage.coder.headers, timeout=30) as http:
        story.assert_told(story.tell(Plain(http)), rows(stage))


def test_story__half_told__ends_in_another_state(client: Driven, stage: Stage) -> None:
    """So the comparison is worth something."""
    teller = Called(client)
    teller.learn("kiln", story.WRONG)
    assert story.state_of(rows(stage)) != story.STATE


class Tooled:
    """An agent whose host speaks MCP."""

    def __init__(self, url: str, key: str) -> None:
        self.url, self.key = url, key

    def learn(self, name: str, text: str) -> None:
        self._call("add_memory", content=text, **WHERE)

    def ask(self, question: str) -> list[str]:
        return [entry["content"] for entry in self._entries(question)]

    def forget(self, name: str, text: str) -> None:
        (wrong,) = [entry for entry in self._entries(text) if entry["content"] == text]
        self._call("delete_memory", id=wrong["id"], reason="it was wrong")

    def _entries(self, query: str) -> Any:
        return self._call("search_memories", query=query, scopes=[story.SCOPE])["entries"]

    def _call(self, tool: str, **arguments: Any) -> Any:
        async def called() -> Any:
            async with over_http(self.url, self.key) as client:
                return (await client.call_tool(tool, arguments)).structured_content

        return loops.run(called())


def test_story__through_mcp__ends_in_the_same_state(stage: Stage, tmp_path: Path) -> None:
    process = McpProcess(tmp_path / "mcp.log")
    process.start()
    try:
        known = story.tell(Tooled(process.url, stage.coder.key_text))
    finally:
        process.stop()
    story.assert_told(known, rows(stage))
