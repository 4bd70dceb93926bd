"""Scopes: the tree, the matrix, the tester, and grants with their effect."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client

from memory.domain.ids import show_id
from memory.domain.scopes import GrantRule, ScopeKind, Verb, parse_scope
from memory.models import AuditEvent
from memory.services.access import may_on
from memory.services.errors import Conflict, Denied
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.scope_access import Holder, access_explain, grant_change, grant_effect
from memory.services.tenancy import agent_pause
from tenants.authentication import authenticate_key
from tenants.models import Grant
from tests.factories import Machine, Stage, make_agent, make_person, make_tenant
from tests.pages.staging import signed_in, write

READ = frozenset({Verb.READ})


def at(stage: Stage, what: str = "") -> str:
    return f"/t/{stage.tenant.slug}/scopes/{what}"


def agt(machine: Machine) -> str:
    return show_id("agt", machine.agent.id)


def text_of(answer: object) -> str:
    """The words of the page, as a reader has them."""
    body = re.sub(r"<[^>]+>", " ", answer.content.decode())  # type: ignore[attr-defined]
    return " ".join(html.unescape(body).split())


def grants(stage: Stage) -> set[tuple[str, str, tuple[str, ...]]]:
    with stage.context():
        return {
            (str(row.agent_id or row.agent_role), row.pattern, tuple(row.verbs))
            for row in Grant.objects.all()
        }


def check(browser: Client, stage: Stage, who: str, pattern: str, *verbs: str) -> tuple[str, str]:
    """Ask for the effect; the page's words and its seal."""
    answer = browser.get(
        at(stage, "grant/"), {"who": who, "pattern": pattern, "check": "1"} | dict.fromkeys(verbs, "on")
    )
    assert answer.status_code == 200, answer.content[:200]
    seal = re.search(r'name="seal" value="(\w+)"', answer.content.decode())
    return text_of(answer), seal.group(1) if seal else ""


def save(browser: Client, stage: Stage, seal: str, who: str, pattern: str, *verbs: str) -> object:
    return browser.post(
        at(stage, "grant/"), {"who": who, "pattern": pattern, "seal": seal} | dict.fromkeys(verbs, "on")
    )


def test_grant__shown_then_saved__opens_exactly_what_was_announced(stage: Stage, owner: Client) -> None:
    write(stage.coder)
    write(stage.coder, content="The relay mast of alpha is painted every fourth spring.")
    outsider = make_agent(stage.tenant, "writer")
    asked = RetrieveRequest("which region has the staging cluster")
    assert not memory_retrieve(outsider.principal, asked).entries
    before = grants(stage)
    words, seal = check(owner, stage, agt(outsider), "project:alpha", "read")
    assert f"{outsider.agent.name} will start to see 2 memories in 1 scope: project:alpha (2)" in words
    assert grants(stage) == before, "looking saves nothing"
    assert save(owner, stage, seal, agt(outsider), "project:alpha", "read").status_code == 303
    fresh = authenticate_key(outsider.key_text)
    assert memory_retrieve(fresh, asked).entries
    with stage.context():
        event = AuditEvent.objects.get(action="grant.added", target_id=agt(outsider))
        assert event.after == {"pattern": "project:alpha", "verbs": ["read"]}
    words, seal = check(owner, stage, agt(outsider), "project:alpha")
    assert "will no longer see 2 memories" in words
    assert save(owner, stage, seal, agt(outsider), "project:alpha").status_code == 303
    assert grants(stage) == before
    assert not memory_retrieve(authenticate_key(outsider.key_text), asked).entries


def test_grant__of_a_role__names_every_agent_that_gains_and_none_that_has_it(
    stage: Stage, owner: Client
) -> None:
    write(stage.coder)
    second, third = make_agent(stage.tenant, "coder"), make_agent(stage.tenant, "coder", ["project:*=r"])
    words, seal = check(owner, stage, "role:coder", "project:alpha", "read")
    assert f"{second.agent.name} will start to see 1 memory" in words
    assert (
        f"{third.agent.name} will start" not in words and f"{stage.coder.agent.name} will start" not in words
    )
    assert "3 agents now" in words
    assert save(owner, stage, seal, "role:coder", "project:alpha", "read").status_code == 303
    with stage.context():
        assert may_on(authenticate_key(second.key_text), Verb.READ, parse_scope("project:alpha"))


def test_grant__when_the_effect_changed_meanwhile__is_409_and_saves_nothing(
    stage: Stage, owner: Client
) -> None:
    outsider = make_agent(stage.tenant, "writer")
    write(stage.coder)
    _, seal = check(owner, stage, agt(outsider), "project:*", "read")
    stage_two = make_agent(stage.tenant, "builder", ["project:beta=rwp"])
    write(stage_two, scope="project:beta", content="Beta keeps its images in the vault of harbour nine.")
    before = grants(stage)
    answer = save(owner, stage, seal, agt(outsider), "project:*", "read")
    assert answer.status_code == 409 and grants(stage) == before  # type: ignore[attr-defined]
    words = text_of(answer)
    assert "nothing was saved" in words.lower() and "project:beta" in words, "what it would do now is shown"
    _, seal = check(owner, stage, agt(outsider), "project:*", "read")
    assert save(owner, stage, seal, agt(outsider), "project:*", "read").status_code == 303  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "sent",
    [
        {"who": "agt_" + "0" * 32},
        {"who": "role:"},
        {"who": "nonsense"},
        {"pattern": "planet:x"},
        {"pattern": ""},
        {"pattern": "shared:x"},
    ],
)
def test_grant__that_makes_no_sense__is_refused_in_the_form(
    stage: Stage, owner: Client, sent: dict[str, str]
) -> None:
    good, before = {"who": agt(stage.coder), "pattern": "project:alpha", "read": "on"}, grants(stage)
    shown = owner.get(at(stage, "grant/"), good | sent | {"check": "1"})
    saved = owner.post(at(stage, "grant/"), good | sent | {"seal": "x"})
    assert (shown.status_code, saved.status_code) == (422, 422) and grants(stage) == before


def test_grant__to_another_tenants_agent__is_unknown(stage: Stage, owner: Client) -> None:
    other = make_tenant()
    before = grants(other)
    sent = {"who": agt(other.coder), "pattern": "shared", "write": "on"}
    assert owner.get(at(stage, "grant/"), sent | {"check": "1"}).status_code == 422
    assert owner.post(at(stage, "grant/"), sent | {"seal": "x"}).status_code == 422
    assert grants(other) == before


def test_grant_change__by_a_reviewer__is_denied_and_recorded(stage: Stage) -> None:
    holder, rule = Holder(agent=stage.coder.agent), GrantRule("shared", frozenset(Verb))
    effect = grant_effect(stage.owner.principal, holder, rule)
    with pytest.raises(Denied):
        grant_change(stage.reviewer.principal, holder, rule, effect.seal)
    with stage.context():
        assert AuditEvent.objects.filter(
            action="access.denied", actor_id=stage.reviewer.principal.id
        ).exists()
    with pytest.raises(Conflict):
        grant_change(stage.owner.principal, holder, rule, "another seal")


def test_tester__agrees_with_what_really_happens(stage: Stage) -> None:
    """For every agent, verb and scope the explanation says what the rule of reads and writes says."""
    write(stage.coder, scope="session:s-1")
    write(stage.coder)
    machines = [
        stage.coder,
        stage.orchestrator,
        make_agent(stage.tenant, "writer", ["session:*=r", "user:7=w"]),
    ]
    scopes = [
        "session:s-1",
        "task:t",
        "agent:coder",
        "agent:writer",
        "user:7",
        "user:8",
        "project:alpha",
        "shared",
        "global",
    ]
    asked = 0
    for machine in machines:
        for scope in map(parse_scope, scopes):
            for verb in Verb:
                told = access_explain(stage.owner.principal, machine.agent.id, verb, scope)
                with stage.context():
                    assert told.allowed == may_on(machine.principal, verb, scope), (
                        machine.agent.role,
                        verb,
                        scope,
                    )
                assert bool(told.rule) == told.allowed
                asked += 1
    assert asked == 81


@pytest.mark.parametrize(
    ("verb", "where", "said"),
    [
        ("read", "project:alpha", "By: grant on project:alpha, given by test.stage"),
        ("read", "shared", "By: default of agent role coder on shared"),
        ("write", "shared", "No: {name} may not write shared"),
        ("read", "session:mine", "By: own session"),
        ("read", "user:77", "By: grant on user:*"),
    ],
)
def test_tester__names_the_rule(stage: Stage, reviewer: Client, verb: str, where: str, said: str) -> None:
    write(stage.coder, scope="session:mine")
    answer = reviewer.get(at(stage), {"agent": agt(stage.coder), "verb": verb, "where": where})
    assert said.format(name=stage.coder.agent.name) in text_of(answer)


def test_tester__of_a_memory_and_a_paused_agent__says_both(stage: Stage, owner: Client) -> None:
    from tests.pages.staging import fill, mem

    full = fill(stage)
    agent_pause(stage.owner.principal, stage.coder.agent, True)
    answer = owner.get(at(stage), {"agent": agt(stage.coder), "verb": "read", "where": mem(full.held)})
    words = text_of(answer)
    assert "may read project:alpha" in words and "paused" in words and "Quarantined" in words
    other = fill(make_tenant())
    for where in (mem(other.memory), "mem_x", "nowhere", "x" * 300):
        assert (
            owner.get(at(stage), {"agent": agt(stage.coder), "verb": "read", "where": where}).status_code
            == 422
        ), where


def test_scopes__tree__counts_what_a_reader_would_find(stage: Stage, reviewer: Client) -> None:
    write(stage.coder)
    write(stage.coder, scope="user:42", content="Prefers the large print of every manual.", kind="preference")
    write(stage.coder, scope="session:s-9")
    words = text_of(reviewer.get(at(stage)))
    assert "project:alpha 1" in words and "user:42 1" in words and "session:s-9" not in words
    assert "session:s-9 1" in text_of(reviewer.get(at(stage), {"kind": "session"}))
    found = text_of(reviewer.get(at(stage), {"q": "42"}))
    assert "user:42" in found and "project:alpha 1" not in found
    assert "None matches." in text_of(reviewer.get(at(stage), {"q": "100%_\\"}))


def test_scopes__with_more_agents_and_scopes__cost_the_same(stage: Stage, reviewer: Client) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert reviewer.get(at(stage)).status_code == 200
        return len(captured)

    write(stage.coder, scope="user:first", content="Keeps the spare key of tower nine.")
    few = queries()
    for number in range(12):
        make_agent(stage.tenant, f"role-{number}", [f"project:p{number}=r"])
        write(
            stage.coder, scope=f"user:{number}", content=f"Reads the journal of tower {number} each morning."
        )
    assert queries() == few


def test_scopes__without_the_right__have_no_way_to_grant(stage: Stage) -> None:
    browser = signed_in(make_person(stage.tenant, "auditor"))
    assert "grant/" not in browser.get(at(stage)).content.decode()
    assert browser.get(at(stage, "grant/")).status_code == 403


def test_scope__kinds__are_all_explained() -> None:
    from memory.pages.scopes import _what

    assert all(_what(kind) for kind in ScopeKind)
