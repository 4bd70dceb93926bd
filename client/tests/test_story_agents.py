"""The story through the adapters for Claude's memory tool, LangGraph and Google ADK."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import story
from anthropic.lib.tools import ToolError
from conftest import Tenant
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from memgov_client import Outcome, RefusedError
from memgov_client.adk import MemgovMemoryService
from memgov_client.anthropic import AsyncMemoryTool, MemoryTool
from memgov_client.langgraph import MemgovStore

WHERE: dict[str, Any] = {"scope": story.SCOPE, "origin": story.ORIGIN, "session": story.SESSION}


class Files:
    """An agent that keeps a file for each thing it learned, and reads all of them when asked."""

    def __init__(self, call: Callable[[dict[str, Any]], str]) -> None:
        self.call = call

    def learn(self, name: str, text: str) -> None:
        try:
            self.call({"command": "create", "path": f"/memories/{name}.md", "file_text": text})
        except ToolError as error:
            assert "already exists" in str(error) or "too_vague" in str(error), error

    def ask(self, question: str) -> list[str]:
        listed = self.call({"command": "view", "path": "/memories"}).splitlines()[2:]
        return [self.call({"command": "view", "path": line.split("\t")[1]}) for line in listed]

    def forget(self, name: str, text: str) -> None:
        self.call({"command": "delete", "path": f"/memories/{name}.md"})


class Items:
    """A graph's node with a store."""

    def __init__(self, store: MemgovStore) -> None:
        self.store = store

    def learn(self, name: str, text: str) -> None:
        try:
            self.store.put(("story",), name, {"text": text})
        except RefusedError as error:
            assert error.code == "too_vague", error

    def ask(self, question: str) -> list[str]:
        return [str(item.value["text"]) for item in self.store.search(("story",), query=question)]

    def forget(self, name: str, text: str) -> None:
        self.store.delete(("story",), name)


class Service:
    """An app of ADK with a memory service."""

    USER = {"app_name": "story", "user_id": "42"}

    def __init__(self, tenant: Tenant) -> None:
        self.loop = asyncio.new_event_loop()
        self.outcomes: list[Outcome] = []
        self.service = MemgovMemoryService(
            tenant.async_client(), scope_of=lambda app, user: story.SCOPE, on_outcome=self.outcomes.append
        )

    def learn(self, name: str, text: str) -> None:
        entry = MemoryEntry(content=types.Content(role="user", parts=[types.Part(text=text)]), author="user")
        self.loop.run_until_complete(self.service.add_memory(**self.USER, memories=[entry]))

    def ask(self, question: str) -> list[str]:
        return [entry.content.parts[0].text for entry in self._found(question)]

    def forget(self, name: str, text: str) -> None:
        (wrong,) = [entry for entry in self._found(text) if entry.content.parts[0].text == text]
        self.loop.run_until_complete(self.service.delete_memory(**self.USER, memory_id=wrong.id))

    def _found(self, query: str) -> list[Any]:
        return self.loop.run_until_complete(self.service.search_memory(**self.USER, query=query)).memories


def awaited_tool(tenant: Tenant) -> Files:
    loop, tool = asyncio.new_event_loop(), AsyncMemoryTool(tenant.async_client(), **WHERE)
    return Files(lambda command: str(loop.run_until_complete(tool.call(command))))


TELLERS: dict[str, Callable[[Tenant], story.Teller]] = {
    "memory tool": lambda tenant: Files(MemoryTool(tenant.client(), **WHERE).call),  # type: ignore[arg-type]
    "awaited memory tool": awaited_tool,
    "langgraph": lambda tenant: Items(MemgovStore(tenant.client(), **WHERE)),
    "adk": Service,
}


@pytest.mark.parametrize("way", TELLERS)
def test_story__ends_in_the_same_state(way: str, tenant: Tenant) -> None:
    story.assert_told(story.tell(TELLERS[way](tenant)), tenant.rows())
