"""Keys of agents: from where, until when, and what a rotation keeps."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client, override_settings

from memgov import clock
from memory.domain.ids import show_id
from memory.models import AuditEvent
from memory.services.tenancy import key_networks_set
from tenants.authentication import KeyRefused, authenticate_key
from tenants.models import AgentKey
from tenants.networks import inside, parse_networks
from tests.factories import Stage, make_agent, make_tenant
from tests.pages.staging import signed_in


def at(stage: Stage, what: str = "") -> str:
    agent, key = show_id("agt", stage.coder.agent.id), show_id("key", stage.coder.key.id)
    return f"/t/{stage.tenant.slug}/agents/{agent}/keys/{key}/{what}"


def call(stage: Stage, address: str, forwarded: str = "") -> int:
    headers = dict(stage.coder.headers) | ({"X-Forwarded-For": forwarded} if forwarded else {})
    return Client().get("/api/v1/whoami", headers=headers, REMOTE_ADDR=address).status_code


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("192.0.2.7", ["192.0.2.7/32"]),
        ("192.0.2.9/24, 2001:db8::1/32\n192.0.2.0/24", ["192.0.2.0/24", "2001:db8::/32"]),
    ],
)
def test_networks__are_brought_into_one_spelling(text: str, found: list[str]) -> None:
    assert parse_networks(text) == found


@pytest.mark.parametrize(
    "text", ["all", "192.0.2.0/33", "192.0.2", "::1/129", " ".join(f"192.0.2.{n}" for n in range(21))]
)
def test_networks__that_are_none__are_named(text: str) -> None:
    with pytest.raises(ValueError):
        parse_networks(text)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("192.0.2.200", True),
        ("192.0.3.1", False),
        ("::ffff:192.0.2.1", True),
        ("2001:db8::5", False),
        ("", False),
        ("x", False),
    ],
)
def test_inside__of_a_network(address: str, expected: bool) -> None:
    assert inside(["192.0.2.0/24"], address) is expected
    assert inside([], address)


def test_key__bound_to_a_network__opens_from_there_alone(stage: Stage, owner: Client) -> None:
    assert call(stage, "198.51.100.7") == 200
    assert owner.post(at(stage), {"networks": "192.0.2.0/24"}).status_code == 303
    assert call(stage, "192.0.2.44") == 200
    for _ in range(3):
        assert call(stage, "198.51.100.7") == 401
    answer = Client().get("/api/v1/whoami", headers=stage.coder.headers, REMOTE_ADDR="198.51.100.7")
    assert answer.json()["code"] == "key_elsewhere" and "198.51.100.7" in answer.json()["detail"]
    with stage.context():
        denied = AuditEvent.objects.filter(
            action="access.denied", target_id=show_id("key", stage.coder.key.id)
        )
        assert denied.count() == 1, "once a minute, not once a call"
        assert AuditEvent.objects.filter(action="key.networks_changed").count() == 1
    assert owner.post(at(stage), {"networks": ""}).status_code == 303
    assert call(stage, "198.51.100.7") == 200


def test_key__behind_proxies__the_callers_word_counts_for_nothing(stage: Stage) -> None:
    key_networks_set(stage.owner.principal, stage.coder.key, ["192.0.2.0/24"])
    assert call(stage, "198.51.100.7", forwarded="192.0.2.1") == 401, "no proxy is trusted"
    with override_settings(MEMGOV_TRUSTED_PROXIES=1):
        assert call(stage, "10.0.0.1", forwarded="192.0.2.1") == 200
        assert call(stage, "10.0.0.1", forwarded="192.0.2.1, 198.51.100.7") == 401, "the left end is hearsay"
        assert call(stage, "192.0.2.1") == 200


def test_networks__that_are_wrong__change_nothing(stage: Stage, owner: Client) -> None:
    answer = owner.post(at(stage), {"networks": "nowhere"})
    assert answer.status_code == 422 and "is no address" in answer.content.decode()
    with stage.context():
        assert AgentKey.objects.get(id=stage.coder.key.id).networks == []
    made = owner.post(
        at(stage).split("keys/")[0] + "keys/", {"expires_in": "30", "trust_ceiling": "1", "networks": "x"}
    )
    assert made.status_code == 422


@pytest.mark.parametrize(("hours", "works_for"), [("0", 0), ("1", 1), ("168", 168)])
def test_rotation__with_a_chosen_overlap__keeps_all_but_the_secret(
    stage: Stage, hours: str, works_for: int
) -> None:
    machine = make_agent(
        stage.tenant, "writer", trust_ceiling=0.6, expires_at=clock.now() + timedelta(days=60)
    )
    key_networks_set(stage.owner.principal, machine.key, ["192.0.2.0/24"])
    path = at(stage).replace(stage.coder.agent.id.hex, machine.agent.id.hex)
    path = path.replace(stage.coder.key.id.hex, machine.key.id.hex)
    answer = signed_in(stage.owner).post(f"{path}rotate/", {"overlap": hours})
    text = answer.content.decode().split('id="new-key">')[1].split("<")[0]
    new = authenticate_key(text)
    with stage.context():
        row = AgentKey.objects.get(id=new.key_id)
    assert (row.trust_ceiling, row.networks) == (0.6, ["192.0.2.0/24"])
    assert row.expires_at is not None and timedelta(days=59) < row.expires_at - clock.now() < timedelta(
        days=61
    )
    if works_for:
        assert authenticate_key(machine.key_text, now=clock.now() + timedelta(hours=works_for, minutes=-1))
    with pytest.raises(KeyRefused):
        authenticate_key(machine.key_text, now=clock.now() + timedelta(hours=works_for, minutes=1))


def test_agent__page__shows_what_was_refused_and_why_without_its_text(stage: Stage, owner: Client) -> None:
    from memory.services.memory_write import memory_write
    from memory.services.write_types import WriteRequest

    memory_write(
        stage.coder.principal, WriteRequest(content="ok", scope="project:alpha", origin="tool_verified")
    )
    page = owner.get(at(stage).split("keys/")[0]).content.decode()
    assert "What was refused last" in page and "too vague" in page.lower()


def test_key__of_another_tenant_or_agent__is_not_found(stage: Stage, owner: Client) -> None:
    other = make_tenant()
    foreign = at(stage).replace(stage.coder.key.id.hex, other.coder.key.id.hex)
    elsewhere = at(stage).replace(stage.coder.key.id.hex, stage.orchestrator.key.id.hex)
    for path in (foreign, elsewhere):
        assert owner.get(path).status_code == owner.post(path, {"networks": ""}).status_code == 404
