"""Every address of the API with the ids of another tenant: not there, nothing changed, beside a positive control.

The addresses are read from the URL configuration, so that the next one is covered before anyone thinks of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern

from memory.api.urls import urlpatterns
from memory.domain.scopes import Scope, ScopeKind
from memory.models import AuditEvent, Job, Manifest, ManifestEntry, Memory, PromotionRequest, Revision
from memory.services.promotion import promotion_request
from memory.services.promotion_talk import promotion_ask
from tests.api.caller import Caller, as_uuid
from tests.factories import Stage, make_agent
from tests.statements import statements

TEXT = "The secret marker of the first tenant is kept in vault 77."
MARKER = "secret marker"

# What each address takes, as (method, query, body, headers).  An address that is missing here fails the test.
CALLS: dict[str, list[tuple[str, str, Any, dict[str, str]]]] = {
    "memory": [
        ("GET", "", None, {}),
        ("PATCH", "", {"content": "The marker was changed from outside by someone."}, {"If_Match": '"1"'}),
        ("DELETE", "?reason=mine", None, {}),
    ],
    "revisions": [("GET", "", None, {})],
    "verify": [("POST", "", {}, {})],
    "derived": [("GET", "", None, {})],
    "restore": [("GET", "", None, {})],
    "manifest": [("GET", "", None, {})],
    "usage": [("POST", "", {"used": []}, {})],
    "promotion": [("GET", "", None, {})],
    "withdraw": [("POST", "", {}, {})],
    "promotion-answer": [("POST", "", {"text": "mine"}, {})],
    "job": [("GET", "", None, {})],
    "blast-undo": [("POST", "", {}, {})],
    "memories-delete-undo": [("POST", "", {}, {})],
}
DERIVED = {"content": TEXT + " Indeed.", "scope": "project:alpha", "derived_from": ["{memory}"]}
# Addresses without an id, with a call that could show or touch another tenant's rows if it forgot its own.
LISTS: dict[str, list[tuple[str, str, Any]]] = {
    "whoami": [("GET", "", None)],
    "memories": [("GET", "?q=marker&page_size=200", None), ("GET", "?status=live,deleted,quarantined", None)],
    "memories-batch": [("POST", "", {"items": [DERIVED]})],
    "memories-check": [("POST", "", DERIVED)],
    "memories-delete": [
        ("POST", "", {"filter": {"session": "s1"}, "reason": "mine"}),
        ("POST", "", {"filter": {"q": "marker"}, "reason": "mine", "dry_run": True}),
        ("POST", "", {"ids": ["{memory}"], "reason": "mine", "cascade": True}),
    ],
    "retrieve": [("POST", "", {"query": TEXT, "session": "s1", "task": "t1", "scopes": None})],
    "digest": [("GET", "?scope=project:alpha", None), ("GET", "?scope=shared", None)],
    "promotions": [
        ("GET", "", None), ("GET", "?memory={memory}", None),
        ("POST", "", {"memory": "{memory}", "to_scope": "shared", "reason": "mine"}),
    ],
    "health": [("GET", "?scope=project:alpha", None)],
    "audit": [("GET", "", None), ("GET", "?target={memory}", None)],
    "blast": [("GET", "?memory={memory}", None), ("GET", "?session=s1", None)],
    "blast-quarantine": [("POST", "", {"memory": "{memory}", "reason": "mine"})],
}  # fmt: skip
OPEN = {"schema", "docs"}
# Addresses by a name that each tenant gives for itself: the same name leads to another thing.  Held in test_working.
NAMED = {
    "working-values", "working-value", "task-complete", "task-rollback", "task-rollback-undo", "session-end",
}  # fmt: skip


def names() -> Iterator[str]:
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern) and pattern.name
        yield pattern.name


def route(name: str) -> str:
    return next(str(p.pattern) for p in urlpatterns if p.name == name)


@pytest.fixture
def known(stage: Stage) -> dict[str, str]:
    """Rows of the first tenant, one of each kind that has an id in an address."""
    owner = Caller(stage.orchestrator)
    memory = owner.remember(TEXT, session="s1")
    owner.remember(TEXT.replace("77", "78"), scope="shared")
    manifest = owner.post("retrieve", {"query": "marker vault", "session": "s1"}).json()["manifest"]
    with stage.context():
        job = Job(kind="import", agent_id=stage.orchestrator.agent.id, actor_name="x", result={"note": TEXT})
        job.save()
        step = Job(
            kind="blast.quarantine", status="done", agent_id=stage.orchestrator.agent.id, actor_name="x"
        )
        step.save()
        deletion = Job(kind="memories.delete", status="done", agent_id=step.agent_id, actor_name="x")
        deletion.save()
        scope = Memory.objects.get(id=as_uuid(memory["id"]))
    request = promotion_request(stage.orchestrator.principal, scope.id, Scope(ScopeKind.SHARED), MARKER)
    promotion_ask(stage.reviewer.principal, request.id, f"Is it so? {MARKER}")
    return {
        "memory": memory["id"], "manifest": manifest, "promotion": f"prm_{request.id.hex}", "job": f"job_{job.id.hex}",
        "step": f"job_{step.id.hex}", "deletion": f"job_{deletion.id.hex}",
    }  # fmt: skip


def picture(stage: Stage) -> Any:
    """Everything of a tenant that a call could change."""
    with stage.context():
        return [
            list(model.objects.order_by("pk").values())
            for model in (Memory, Revision, Manifest, ManifestEntry, PromotionRequest, Job, AuditEvent)
        ]


def address(name: str, known: dict[str, str]) -> str:
    path = route(name)
    for kind, shown in known.items():
        path = path.replace(f"<str:{kind}_id>", shown)
    return path


def test_every_address__is_listed_here() -> None:
    assert set(names()) == CALLS.keys() | LISTS.keys() | OPEN | NAMED
    assert {name for name in names() if "<" in route(name)} == CALLS.keys() | NAMED


@pytest.mark.parametrize("name", sorted(CALLS))
def test_id_of_another_tenant__is_not_there_and_nothing_changes(
    stage: Stage, known: dict[str, str], stranger: Caller, name: str
) -> None:
    before = picture(stage)
    for method, query, body, headers in CALLS[name]:
        response = stranger.call(method, address(name, known) + query, body, **headers)
        assert response.status_code == 404, (method, response.content)
        assert response.json()["code"] == "not_found"
        assert MARKER not in response.content.decode()
    assert picture(stage) == before
    # The positive control: the same calls by the tenant's own agent reach the row.
    for method, query, body, headers in CALLS[name]:
        response = Caller(stage.orchestrator).call(method, address(name, known) + query, body, **headers)
        assert response.status_code in (200, 202), (method, response.content)


@pytest.mark.parametrize("name", sorted(LISTS))
def test_list_of_another_tenant__shows_none_of_its_rows(
    stage: Stage, known: dict[str, str], stranger: Caller, name: str
) -> None:
    before = picture(stage)
    for method, query, body in LISTS[name]:
        sent = json.loads(json.dumps(body).replace("{memory}", known["memory"]))
        query = query.replace("{memory}", known["memory"])
        response = stranger.call(method, route(name) + query, sent)
        assert response.status_code < 500
        # Ids that were asked for by name come back as not found, and as nothing else.
        unknown = ",".join(f'"{one}"' for one in (sent or {}).get("ids", [])) if method == "POST" else ""
        text = response.content.decode().replace(f'"not_found":[{unknown}]', "")
        if method == "GET":
            assert MARKER not in text
        for shown in known.values():
            assert shown not in text.replace(query, "")
    assert picture(stage) == before


def test_positive_control__the_own_tenants_lists_show_the_rows(stage: Stage, known: dict[str, str]) -> None:
    owner = Caller(stage.orchestrator)
    assert MARKER in owner.get("memories?q=marker").content.decode()
    assert MARKER in owner.post("retrieve", {"query": TEXT}).content.decode()
    assert MARKER in owner.get("digest?scope=project:alpha").content.decode()
    assert known["promotion"] in owner.get("promotions").content.decode()
    assert known["memory"] in owner.get("audit").content.decode()


def test_same_subject_in_two_tenants__are_two_memories(stage: Stage, other: Stage, stranger: Caller) -> None:
    first = Caller(stage.orchestrator).know("acme", "plan", "enterprise")
    second = stranger.know("acme", "plan", "starter")
    assert first["id"] != second["id"]
    assert Caller(stage.orchestrator).get(f"memories/{first['id']}").json()["value"] == "enterprise"


def seen(caller: Caller, name: str, ids: dict[str, str]) -> list[Any]:
    """What a caller can tell of these calls: status, headers, body, and how many questions the database was asked."""
    told = []
    for method, query, body, headers in CALLS[name]:
        with CaptureQueriesContext(connection) as captured:
            response = caller.call(method, address(name, ids) + query, body, **headers)
        problem = response.json()
        problem.pop("request_id", None)
        shown = json.dumps(problem)
        for one in ids.values():
            shown = shown.replace(one, "ID")
        kept = {
            header: value
            for header, value in response.items()
            if header not in ("X-Request-ID", "Date", "RateLimit")
        }
        told.append((response.status_code, shown, kept, len(statements(captured))))
    return told


@pytest.mark.parametrize("name", sorted(CALLS))
def test_id_that_may_not_be_seen__looks_like_one_that_never_was(
    stage: Stage, known: dict[str, str], stranger: Caller, name: str
) -> None:
    """Another tenant's, and in the own tenant what the key does not read."""
    unknown = {kind: f"{shown.partition('_')[0]}_{uuid4().hex}" for kind, shown in known.items()}
    for caller in (stranger, Caller(make_agent(stage.tenant, "tester"))):
        seen(caller, name, unknown)  # whatever is looked up only once
        assert seen(caller, name, known) == seen(caller, name, unknown)
