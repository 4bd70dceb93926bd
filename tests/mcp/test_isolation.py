"""Every tool and resource of both profiles with the ids of another tenant: nothing shown, nothing changed.

The tools are read from the profiles, so that the next one is covered before anyone thinks of it.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from memory.mcp.profiles import PROFILES
from memory.mcp.resources import DIGEST, MANIFEST, TEMPLATES
from memory.models import AuditEvent, Manifest, ManifestEntry, Memory, PromotionRequest, Revision
from tests.factories import Stage, make_agent
from tests.mcp.talking import McpProcess, called, over_http, talk

TEXT = "The secret marker of the first tenant is kept in vault 77."
MARKER = "secret marker"
GRAPH = "/mcp/graph?scope=project:alpha"

# What each tool is asked, with `{memory}`, `{manifest}` and `{promotion}` for the other tenant's ids, and whether its
# own tenant's agent sees the marker when it asks the same (the positive control).
ASKED: dict[str, tuple[Any, bool]] = {
    "add_memory": (
        {"content": "Vault 77 is painted green.", "derived_from": ["{memory}"], "scope": "project:alpha"}, False,
    ),
    "search_memories": ({"query": TEXT, "session": "s1"}, True),
    "get_memory": ({"id": "{memory}"}, True),
    "get_memories": ({"q": "marker"}, True),
    "update_memory": ({"id": "{memory}", "version": 1, "importance": 0.95}, True),
    "get_digest": ({"scope": "project:alpha"}, True),
    "report_usage": ({"manifest": "{manifest}", "used": ["{memory}"]}, False),
    "propose_promotion": ({"memory": "{memory}", "to_scope": "shared", "reason": "mine"}, False),
    "get_promotion_status": ({"id": "{promotion}"}, False),
    "read_graph": ({}, True),
    "search_nodes": ({"query": TEXT}, True),
    "open_nodes": ({"names": ["Vault"]}, True),
    "add_observations": (
        {"observations": [{"entityName": "Vault", "contents": ["The vault is painted green."]}]}, False,
    ),
    "create_entities": ({"entities": []}, False),
    "create_relations": ({"relations": []}, False),
    "delete_observations": ({"deletions": [{"entityName": "Vault", "observations": [TEXT]}]}, False),
    "delete_relations": ({"relations": [{"from": "Vault", "to": "Mint", "relationType": "belongs_to"}]}, False),
    "delete_entities": ({"entityNames": ["Vault"]}, False),
    "delete_memory": ({"id": "{memory}", "reason": "mine"}, False),
}  # fmt: skip


def paths() -> dict[str, str]:
    """Every tool with the address of its profile."""
    return {
        tool.name: GRAPH if end else "/mcp" for end, profile in PROFILES.items() for tool in profile.shown
    }


@pytest.fixture
def known(stage: Stage, mcp_process: McpProcess) -> dict[str, str]:
    """Rows of the first tenant: a memory that is an entity's observation, a relation, a manifest, a promotion."""
    key = stage.orchestrator.key_text
    entity = {"name": "Vault", "entityType": "strongroom", "observations": [TEXT]}
    called(mcp_process, key, "create_entities", {"entities": [entity]}, GRAPH + "&origin=tool_verified")
    relation = {"from": "Vault", "to": "Mint", "relationType": "belongs_to"}
    called(mcp_process, key, "create_relations", {"relations": [relation]}, GRAPH + "&origin=tool_verified")
    found = called(mcp_process, key, "search_memories", {"query": TEXT, "session": "s1"})["structuredContent"]
    memory = next(entry["id"] for entry in found["entries"] if MARKER in entry["content"])
    asked = {"memory": memory, "to_scope": "shared", "reason": MARKER}
    request = called(mcp_process, key, "propose_promotion", asked)["structuredContent"]
    return {"memory": memory, "manifest": found["manifest"], "promotion": request["id"]}


def picture(stage: Stage) -> Any:
    """Everything of a tenant that a call could change."""
    with stage.context():
        return [
            list(model.objects.order_by("pk").values())
            for model in (Memory, Revision, Manifest, ManifestEntry, PromotionRequest, AuditEvent)
        ]


def asked(process: McpProcess, key: str, tool: str, known: dict[str, str]) -> str:
    """The whole answer, as text."""
    arguments = json.dumps(ASKED[tool][0])
    for name, shown in known.items():
        arguments = arguments.replace(f"{{{name}}}", shown)
    return json.dumps(called(process, key, tool, json.loads(arguments), paths()[tool]))


def test_every_tool__is_listed_here() -> None:
    assert paths().keys() == ASKED.keys()


def test_tools__with_ids_of_another_tenant__show_and_change_nothing(
    stage: Stage, other: Stage, mcp_process: McpProcess, known: dict[str, str]
) -> None:
    before = picture(stage)
    for tool in ASKED:
        answer = asked(mcp_process, other.orchestrator.key_text, tool, known)
        assert MARKER not in answer, tool
        if re.search(r"\{(memory|manifest|promotion)\}", json.dumps(ASKED[tool][0])):
            code = '"invalid"' if tool == "add_memory" else '"not_found"'
            assert '"isError": true' in answer and code in answer, (tool, answer)
    assert picture(stage) == before
    with other.context():
        assert not Memory.objects.filter(status="live").exists()
    for tool, (_, shows) in ASKED.items():
        if tool not in ("propose_promotion", "delete_memory"):  # asked for already; gone by the tool before
            answer = asked(mcp_process, stage.orchestrator.key_text, tool, known)
            assert '"isError": true' not in answer, (tool, answer)
            assert (MARKER in answer) >= shows, tool
    with stage.context():
        assert not Memory.objects.filter(content__contains=MARKER, status="live").exists()


def test_tools__within_the_tenant_without_a_grant__look_as_if_nothing_were_there(
    stage: Stage, mcp_process: McpProcess, known: dict[str, str]
) -> None:
    outsider = make_agent(stage.tenant, "outsider")
    for tool in ASKED:
        assert MARKER not in asked(mcp_process, outsider.key_text, tool, known), tool
    with stage.context():
        assert Memory.objects.filter(content__contains=MARKER, status="live").count() == 1


def test_resources__of_another_tenant__are_not_there(
    stage: Stage, other: Stage, mcp_process: McpProcess, known: dict[str, str]
) -> None:
    assert {one.uri_template for one in TEMPLATES} == {DIGEST + "{scope}", MANIFEST + "{id}"}

    async def read(client: Client) -> dict[str, str]:
        assert {str(one.uri) for one in (await client.list_resources()).resources} >= {DIGEST + "shared"}
        assert len((await client.list_resource_templates()).resource_templates) == 2
        found = {}
        for uri in (
            DIGEST + "project:alpha",
            MANIFEST + known["manifest"],
            DIGEST + "nowhere",
            "memgov://x",
            "file:///etc",
        ):
            try:
                found[uri] = (await client.read_resource(uri)).contents[0].text
            except MCPError as error:
                found[uri] = f"error: {error}"
        return found

    mine = talk(partial(over_http, mcp_process.url, stage.orchestrator.key_text), read)
    theirs = talk(partial(over_http, mcp_process.url, other.orchestrator.key_text), read)
    assert MARKER in mine[DIGEST + "project:alpha"]
    assert known["memory"] in mine[MANIFEST + known["manifest"]]
    assert MARKER not in json.dumps(theirs)
    assert "not_found" in theirs[MANIFEST + known["manifest"]]
    assert "invalid" in mine[DIGEST + "nowhere"]
    assert DIGEST in mine["memgov://x"] and DIGEST in mine["file:///etc"]
