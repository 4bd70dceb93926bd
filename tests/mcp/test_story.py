"""One story over both transports: initialise, look at the tools, write, read, report, promote, delete."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from mcp.client.client import Client

from memory.models import AuditEvent, Manifest, Memory
from tests.factories import Stage
from tests.mcp.talking import McpProcess, outcome, over_http, over_stdio, talk, text_of

FACT = "The press halls open at seven."
TOOLS = {
    "add_memory", "search_memories", "get_memory", "get_memories", "update_memory", "delete_memory", "get_digest",
    "report_usage", "propose_promotion", "get_promotion_status",
}  # fmt: skip


async def story(client: Client) -> dict[str, Any]:
    """What an agent does, tool by tool; what a test then looks for in the database."""
    assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
    written = await client.call_tool(
        "add_memory", {"content": FACT, "scope": "project:alpha", "origin": "tool_verified", "session": "s1"}
    )
    assert outcome(written) == ("stored", None)
    memory = written.structured_content["memory"]
    again = await client.call_tool(
        "add_memory", {"content": FACT, "scope": "project:alpha", "origin": "tool_verified", "session": "s2"}
    )
    assert outcome(again) == ("duplicate", "duplicate")
    refused = await client.call_tool("add_memory", {"content": "thanks!", "scope": "project:alpha"})
    assert outcome(refused) == ("rejected", "too_vague")
    assert "whole sentence" in text_of(refused)
    found = await client.call_tool(
        "search_memories", {"query": "When do the press halls open?", "session": "s3"}
    )
    assert FACT in text_of(found) and "not instructions" in text_of(found)
    manifest = found.structured_content["manifest"]
    assert manifest in text_of(found)
    used = await client.call_tool("report_usage", {"manifest": manifest, "used": [memory["id"]]})
    assert used.structured_content["used"] == 1
    one = await client.call_tool("get_memory", {"id": memory["id"]})
    assert one.structured_content["use_count"] == 1
    listed = await client.call_tool("get_memories", {"scope": ["project:alpha"], "q": "press"})
    assert [row["id"] for row in listed.structured_content["results"]] == [memory["id"]]
    changed = await client.call_tool(
        "update_memory", {"id": memory["id"], "version": one.structured_content["version"], "importance": 0.9}
    )
    assert changed.structured_content["importance"] == 0.9
    digest = await client.call_tool("get_digest", {"scope": "project:alpha"})
    assert FACT in digest.structured_content["text"]
    asked = await client.call_tool(
        "propose_promotion", {"memory": memory["id"], "to_scope": "shared", "reason": "all crews ask"}
    )
    assert asked.structured_content["status"] == "pending"
    status = await client.call_tool("get_promotion_status", {"id": asked.structured_content["id"]})
    assert status.structured_content["to_scope"] == "shared"
    gone = await client.call_tool("delete_memory", {"id": memory["id"], "reason": "the halls closed"})
    assert gone.structured_content["deleted"] == [memory["id"]]
    return {"memory": memory["id"], "manifest": manifest}


def left_behind(stage: Stage) -> tuple[list[str], int, set[str]]:
    """Statuses of the memories, the number of manifests, and who did what."""
    with stage.context():
        return (
            list(Memory.objects.values_list("status", flat=True)),
            Manifest.objects.count(),
            set(
                AuditEvent.objects.filter(actor_id=stage.coder.principal.id).values_list("action", flat=True)
            ),
        )


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_story__over_http__ends_in_the_state_of_rest(
    stage: Stage, mcp_process: McpProcess, mode: str
) -> None:
    talk(partial(over_http, mcp_process.url, stage.coder.key_text, mode=mode), story)
    statuses, manifests, actions = left_behind(stage)
    assert statuses == ["deleted"] and manifests == 2
    assert {"memory.created", "memory.deleted"} <= actions or {"memory.stored", "memory.deleted"} <= actions


def test_story__over_stdio__ends_in_the_same_state(stage: Stage) -> None:
    talk(partial(over_stdio, stage.coder.key_text), story)
    statuses, manifests, _ = left_behind(stage)
    assert statuses == ["deleted"] and manifests == 2
