"""Who may call at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client

from memgov import clock
from memory.services import tenancy
from tests.api.caller import Caller, assert_problem
from tests.factories import Stage, make_agent

CALLS = [
    ("GET", "whoami"), ("POST", "memories"), ("GET", "memories"), ("POST", "memories/batch"),
    ("POST", "memories/check"),
    ("GET", "memories/mem_" + "0" * 32), ("PATCH", "memories/mem_" + "0" * 32), ("DELETE", "memories/mem_" + "0" * 32),
    ("POST", "retrieve"), ("GET", "digest"), ("GET", "manifests/man_" + "0" * 32), ("POST", "promotions"),
    ("GET", "promotions"), ("GET", "health"), ("GET", "audit"), ("GET", "jobs/job_" + "0" * 32),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_call__without_a_key__is_401_with_a_challenge(nobody: Caller, method: str, path: str) -> None:
    response = nobody.call(method, path, "{}" if method == "POST" else None)
    assert_problem(response, 401, "not_authenticated")
    assert response["WWW-Authenticate"].startswith("Bearer ")
    assert "/.well-known/oauth-protected-resource" in response["WWW-Authenticate"]


def test_key__wrong_in_any_way__is_401_and_looks_the_same(stage: Stage, nobody: Caller) -> None:
    good = stage.coder.key_text
    flipped = good[:-1] + ("A" if good[-1] != "A" else "B")
    for bad in (
        "",
        "x",
        "mgk_",
        flipped,
        good + "A",
        good.upper(),
        "mgk_" + "z" * 16 + "_" + "A" * 43,
        good[:30],
    ):
        response = nobody.get("whoami", Authorization=f"Bearer {bad}")
        problem = assert_problem(response, 401, "key_unknown")
        assert good not in str(problem)
    assert_problem(nobody.get("whoami", Authorization=f"Basic {good}"), 401, "not_authenticated")
    assert nobody.get("whoami", Authorization=f"bearer {good}").status_code == 200


def test_key__revoked_expired_or_of_a_paused_agent__opens_nothing(stage: Stage) -> None:
    owner = stage.owner.principal
    tenancy.key_revoke(owner, stage.coder.key)
    assert_problem(Caller(stage.coder).get("whoami"), 401, "key_revoked")
    passing = make_agent(stage.tenant, "coder", expires_at=clock.now() + timedelta(hours=1))
    assert Caller(passing).get("whoami").status_code == 200
    with clock.moved_to(clock.now() + timedelta(hours=2)):
        assert_problem(Caller(passing).get("whoami"), 401, "key_expired")
    tenancy.agent_pause(owner, stage.orchestrator.agent, True)
    assert_problem(Caller(stage.orchestrator).get("whoami"), 401, "agent_paused")
    tenancy.agent_pause(owner, stage.orchestrator.agent, False)
    assert Caller(stage.orchestrator).get("whoami").status_code == 200


def test_session_of_a_person__opens_no_call(stage: Stage) -> None:
    client = Client()
    client.force_login(stage.owner.user)
    assert client.get("/api/v1/whoami").status_code == 401


def test_whoami__tells_tenant_agent_rights_and_limits(stage: Stage, coder: Caller) -> None:
    body = coder.get("whoami").json()
    assert body["tenant"]["slug"] == stage.tenant.slug and body["role"] == "coder"
    assert body["agent"] == {"id": stage.coder.principal.id, "name": stage.coder.agent.name}
    grants = {(grant["pattern"], tuple(grant["verbs"]), grant["source"]) for grant in body["grants"]}
    assert ("project:alpha", ("propose", "read", "write"), "grant") in grants
    assert ("shared", ("read",), "default") in grants
    assert body["limits"]["content_characters"] == 8000 and body["policy_version"] == 1
    assert body["key"]["prefix"] == stage.coder.key.prefix
    assert stage.coder.key_text.rpartition("_")[2] not in str(body)


def test_trust_ceiling__of_the_key__caps_what_its_agent_claims(stage: Stage) -> None:
    humble = Caller(make_agent(stage.tenant, "coder", ["project:alpha=rw"], trust_ceiling=0.5))
    memory = humble.remember("Alpha is deployed by the robot of team 7.", origin="user_explicit")
    assert memory["trust"] == 0.5
    assert replace(stage.coder).principal.trust_ceiling == 1.0
