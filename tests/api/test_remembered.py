"""A key that a process has met before: one message less for each call, and nothing done on what the key was."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.domain.policy import Policy
from memory.domain.policy_write_rules import Sanitisation, TextLimits
from memory.models import AuditEvent, Memory
from memory.services import tenancy
from memory.services.policies import policy_activate
from tenants import remembered
from tenants.models import AgentKey, Tenant
from tests.api.caller import Caller, assert_problem
from tests.factories import Stage

FACT = {
    "content": "The gateway of alpha is owned by team number 7.",
    "scope": "project:alpha",
    "origin": "user_explicit",
}
CALLS: dict[str, Callable[[Caller], Any]] = {
    "write": lambda caller: caller.post("memories", FACT),
    "write, once": lambda caller: caller.post("memories", FACT, Idempotency_Key="once"),
    "batch": lambda caller: caller.post("memories/batch", {"items": [FACT]}),
    "retrieve": lambda caller: caller.post("retrieve", {"query": "who owns the gateway"}),
    "list": lambda caller: caller.get("memories"),
    "digest": lambda caller: caller.get("digest?scope=project:alpha"),
    "of no use": lambda caller: caller.post("memories", {"contents": "?"}),
    "not JSON": lambda caller: caller.post("memories", b"\xff"),
    "what is not there": lambda caller: caller.get("memories/mem_0"),
    "where it may not write": lambda caller: caller.post("memories", {**FACT, "scope": "project:beta"}),
}
CHANGES: dict[str, Callable[[Stage], Any]] = {
    "key_revoked": lambda stage: tenancy.key_revoke(stage.owner.principal, stage.coder.key),
    "agent_paused": lambda stage: tenancy.agent_pause(stage.owner.principal, stage.coder.agent, True),
    "key_unknown": lambda stage: Tenant.objects.filter(id=stage.tenant.id).update(status="suspended"),
}


def met(caller: Caller) -> int:
    """Have the process meet the caller's key; how many it remembers."""
    assert caller.get("whoami").status_code == 200
    assert caller.get("whoami").status_code == 200
    return len(remembered._met)


def kept(stage: Stage) -> tuple[int, int]:
    with stage.context():
        return Memory.objects.count(), AuditEvent.objects.count()


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("change", CHANGES)
def test_closed_key__that_was_met__opens_nothing_and_does_nothing(
    stage: Stage, coder: Caller, call: str, change: str
) -> None:
    assert met(coder) > 0
    CHANGES[change](stage)
    before = kept(stage)
    assert_problem(CALLS[call](coder), 401, change)
    assert kept(stage) == before
    assert_problem(CALLS[call](coder), 401, change)


@pytest.mark.parametrize("call", CALLS)
def test_call__of_a_met_key__is_answered_as_the_first_time(stage: Stage, coder: Caller, call: str) -> None:
    remembered._met.clear()
    first = CALLS[call](coder).status_code
    met(coder)
    with stage.context():
        Memory.objects.all().delete()
    assert CALLS[call](coder).status_code == first or call == "write, once"


def test_wider_grant__after_the_key_was_met__holds_at_once_with_the_body_of_the_call(
    stage: Stage, coder: Caller
) -> None:
    from memory.domain.scopes import parse_grant

    met(coder)
    assert CALLS["where it may not write"](coder).status_code == 403
    tenancy.grant_set(stage.owner.principal, parse_grant("project:beta=rw"), agent=stage.coder.agent)
    answer = CALLS["where it may not write"](coder)
    assert answer.status_code == 201 and answer.json()["memory"]["content"] == FACT["content"]


def test_narrower_grant__after_the_key_was_met__refuses_at_once(stage: Stage, coder: Caller) -> None:
    from memory.domain.scopes import parse_grant

    met(coder)
    tenancy.grant_set(stage.owner.principal, parse_grant("project:alpha=r"), agent=stage.coder.agent)
    with stage.context():
        assert Memory.objects.count() == 0
    assert CALLS["write"](coder).status_code == 403
    assert kept(stage)[0] == 0


def test_policy__activated_after_the_key_was_met__is_in_force_at_once(stage: Stage, coder: Caller) -> None:
    met(coder)
    number = coder.get("whoami").json()["policy_version"]
    strict = Policy(text=TextLimits(content_characters=20))
    policy_activate(stage.owner.principal, strict, "shorter")
    assert_problem(CALLS["write"](coder), 413, "too_large")
    assert coder.get("whoami").json()["policy_version"] == number + 1


def test_plain_calls__of_a_met_key__send_one_message_less(stage: Stage, coder: Caller) -> None:
    CALLS["write"](coder)
    counts = []
    for forget in (True, False):
        if forget:
            remembered._met.clear()
        with CaptureQueriesContext(connection) as captured:
            assert CALLS["retrieve"](coder).status_code == 200
        counts.append(len([query for query in captured if query["sql"] not in ("BEGIN", "COMMIT")]))
    assert counts[1] == counts[0] - 1


def test_use_of_a_key__is_noted_once_a_minute_though_it_is_remembered(stage: Stage, coder: Caller) -> None:
    from datetime import timedelta

    from memgov import clock

    def used() -> Any:
        with stage.context():
            return AgentKey.objects.get(id=stage.coder.key.id).last_used_at

    met(coder)
    first = used()
    with clock.moved_to(clock.now() + timedelta(seconds=30)):
        met(coder)
        assert used() == first
    with clock.moved_to(clock.now() + timedelta(seconds=90)):
        met(coder)
        assert used() > first


def test_keys__kept__are_bounded_and_hold_no_key(
    stage: Stage, coder: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "_MOST_KEPT", 1)
    met(coder)
    assert met(Caller(stage.orchestrator)) == 1
    assert stage.orchestrator.key_text.split("_", 2)[2] not in repr(remembered._met)


@pytest.mark.parametrize("call", CALLS)
def test_revoked__though_a_slower_thread_keeps_what_the_key_was__opens_nothing(
    stage: Stage, coder: Caller, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Kept(dict[bytes, Any]):
        """A thread that looked the key up before keeps it just now."""

        def pop(self, about: bytes, default: Any = None) -> Any:
            return self.get(about, default)

    met(coder)
    monkeypatch.setattr(remembered, "_met", Kept(remembered._met))
    tenancy.key_revoke(stage.owner.principal, stage.coder.key)
    assert_problem(CALLS[call](coder), 401, "key_revoked")


def test_revoked__no_text_leaves_for_a_second_opinion(stage: Stage, coder: Caller) -> None:
    from tests.services.test_second_opinion import PLAIN, endpoint

    asking = Policy(sanitisation=Sanitisation(second_opinion=True))
    policy_activate(stage.owner.principal, asking, "ask another")
    said = {"scope": "project:alpha", "origin": "tool_output"}
    with endpoint('{"verdict": "statement"}') as server:
        for content in ("Mill five delivers glass on Tuesdays.", "Mill six delivers oil on Fridays."):
            coder.post("memories", {**said, "content": content})
        assert server.asked, "the text of a key that is open is asked about"
    tenancy.key_revoke(stage.owner.principal, stage.coder.key)
    with endpoint('{"verdict": "statement"}') as server:
        assert_problem(coder.post("memories", {**said, "content": PLAIN}), 401, "key_revoked")
        assert not server.asked


@pytest.mark.parametrize("moved", [False, True])
def test_call_from_elsewhere__of_a_met_key__is_refused_at_once_and_in_the_audit(
    stage: Stage, coder: Caller, moved: bool
) -> None:
    def denials() -> int:
        with stage.context():
            return AuditEvent.objects.filter(action="access.denied").count()

    met(coder)
    before = denials()
    tenancy.key_networks_set(stage.owner.principal, stage.coder.key, ["192.0.2.0/24"])
    if moved:
        policy_activate(stage.owner.principal, Policy(text=TextLimits(content_characters=20)), "shorter")
    assert_problem(CALLS["list"](coder), 401, "key_elsewhere")
    assert_problem(CALLS["list"](coder), 401, "key_elsewhere")
    assert denials() == before + 1


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("known", [True, False])
def test_database__that_is_away__is_said_whether_the_key_was_met_or_not(
    stage: Stage, coder: Caller, call: str, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    met(coder)
    if not known:
        remembered._met.clear()
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "PORT", "1")
    answer = CALLS[call](coder)
    monkeypatch.undo()
    assert_problem(answer, 503, "database_unavailable")
    assert answer["Retry-After"]


def test_connection__that_ended_between_calls__is_opened_anew_before_anything_is_prepared(
    stage: Stage, coder: Caller
) -> None:
    from tests.api.test_database_gone import cut

    met(coder)
    for call in ("list", "of no use", "retrieve"):
        cut()
        connection.health_check_enabled, connection.health_check_done = True, False  # as between two requests
        assert CALLS[call](coder).status_code in (200, 400)


def test_call_begun_anew__leaves_nothing_of_its_first_try(
    stage: Stage, coder: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    from memory.domain.scopes import parse_grant

    met(coder)
    tenancy.grant_set(stage.owner.principal, parse_grant("project:beta=rw"), agent=stage.coder.agent)
    assert CALLS["batch"](coder).json()["results"][0]["outcome"] == "stored"
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    tenancy.key_revoke(stage.owner.principal, stage.coder.key)
    assert "RateLimit" not in CALLS["list"](coder)


def test_longer_life__of_a_key_that_was_over__holds_at_once(stage: Stage) -> None:
    from datetime import timedelta

    from memgov import clock
    from tests.factories import make_agent

    passing = make_agent(stage.tenant, "coder", expires_at=clock.now() + timedelta(hours=1))
    caller = Caller(passing)
    with clock.moved_to(clock.now() + timedelta(minutes=59, seconds=30)):
        met(caller)
    with clock.moved_to(clock.now() + timedelta(minutes=60, seconds=10)):
        assert_problem(caller.get("whoami"), 401, "key_expired")
        with stage.context():
            AgentKey.objects.filter(id=passing.key.id).update(expires_at=clock.now() + timedelta(hours=1))
        assert caller.get("whoami").status_code == 200


def test_revoked__while_calls_run_in_parallel__none_succeeds_after(stage: Stage, coder: Caller) -> None:
    met(coder)
    codes: list[tuple[bool, int]] = []
    revoked, enough = threading.Event(), threading.Event()

    def calls() -> None:
        while not enough.is_set():
            after = revoked.is_set()
            codes.append((after, CALLS["list"](coder).status_code))
            if sum(1 for late, _ in codes if late) > 20:
                enough.set()
        connection.close()

    threads = [threading.Thread(target=calls) for _ in range(3)]
    for thread in threads:
        thread.start()
    tenancy.key_revoke(stage.owner.principal, stage.coder.key)
    revoked.set()
    for thread in threads:
        thread.join()
    assert {code for late, code in codes if late} == {401}
