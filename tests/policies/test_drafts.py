"""Drafts and versions: who may, what is audited, and what somebody slower is told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from memory.models import AuditEvent, PolicyDraft, PolicyVersion
from memory.services.errors import Denied, Invalid, NotFound
from memory.services.policies import PolicyInvalid, PolicyMoved, policy_activate, policy_roll_back
from memory.services.policy_drafts import draft_activate, draft_discard, draft_save, draft_start
from tests.factories import Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def events(stage: Stage) -> list[str]:
    with stage.context():
        found = AuditEvent.objects.filter(action__startswith="policy.").order_by("seq")
        return list(found.values_list("action", flat=True))


def test_draft__begun_saved_activated__is_a_version_and_audited(stage: Stage) -> None:
    owner = stage.owner.principal
    before = len(events(stage))
    draft = draft_start(owner, "forget  sooner")
    assert (draft.name, draft.document, draft.version, draft.based_on) == ("forget sooner", {}, 1, 1)
    saved = draft_save(owner, draft.id, {"decay": {"floor": 0.25}}, version=1)
    assert saved.version == 2
    version = draft_activate(owner, draft.id, "it rots", version=2, expected=1)
    assert (version.number, version.changes, version.reason) == (2, ["decay floor 0.15 → 0.25"], "it rots")
    with stage.context():
        assert not PolicyDraft.objects.exists()
        assert PolicyVersion.objects.get(active=True).document["decay"]["floor"] == 0.25
        saved_event = AuditEvent.objects.get(action="policy.draft_saved")
    assert saved_event.after == {"version": 2, "changes": ["decay floor 0.15 → 0.25"]}
    assert events(stage)[before:] == ["policy.draft_created", "policy.draft_saved", "policy.activated"]


def test_draft__from_preset_or_version__holds_only_what_differs(stage: Stage) -> None:
    owner = stage.owner.principal
    policy_activate(owner, {"reconciliation": {"cap": 40}}, "small")
    assert draft_start(owner, "as it is").document == {"reconciliation": {"cap": 40}}
    assert draft_start(owner, "as it was", from_version=1).document == {}
    assert draft_start(owner, "curated", from_preset="curated").document == {"reconciliation": {"cap": None}}
    with pytest.raises(NotFound):
        draft_start(owner, "no", from_version=7)
    with pytest.raises(Invalid):
        draft_start(owner, "no", from_preset="no such")
    for name in ("", "  ", "x" * 101, "a\x00b"):
        with pytest.raises(Invalid):
            draft_start(owner, name)


def test_draft__saved_by_two__the_slower_is_told_what_changed(stage: Stage) -> None:
    owner = stage.owner.principal
    draft = draft_start(owner, "shared work")
    draft_save(owner, draft.id, {"decay": {"floor": 0.3}}, version=1)
    draft_save(owner, draft.id, {"decay": {"floor": 0.4}, "reconciliation": {"cap": 9}}, version=2)
    with pytest.raises(PolicyMoved) as caught:
        draft_save(owner, draft.id, {"decay": {"floor": 0.9}}, version=2)
    assert caught.value.status == 409 and caught.value.code == "policy_moved"
    assert caught.value.changes == ["reconciliation cap 500 → 9", "decay floor 0.3 → 0.4"]
    assert caught.value.by == owner.name
    for act in (
        lambda: draft_discard(owner, draft.id, version=1),
        lambda: draft_activate(owner, draft.id, "why", version=1, expected=1),
    ):
        with pytest.raises(PolicyMoved):
            act()
    with stage.context():
        kept = PolicyDraft.objects.get()
    assert kept.version == 3 and kept.document["decay"] == {"floor": 0.4}


def test_draft__policy_moved_meanwhile__is_not_activated(stage: Stage) -> None:
    owner = stage.owner.principal
    draft = draft_start(owner, "mine")
    draft_save(owner, draft.id, {"decay": {"floor": 0.3}}, version=1)
    policy_activate(owner, {"reconciliation": {"cap": 7}}, "theirs")
    with pytest.raises(PolicyMoved) as caught:
        draft_activate(owner, draft.id, "mine", version=2, expected=1)
    assert caught.value.changes == ["reconciliation cap 500 → 7"]
    assert (caught.value.by, caught.value.reason) == (owner.name, "theirs")
    with stage.context():
        assert PolicyDraft.objects.count() == 1 and PolicyVersion.objects.get(active=True).number == 2
    with pytest.raises(PolicyMoved):
        policy_roll_back(owner, 1, "back", expected=1)
    assert policy_roll_back(owner, 1, "back", expected=2).changes == ["reconciliation cap 7 → 500"]


def test_draft__activated_at_once_by_many__one_version(stage: Stage) -> None:
    owner = stage.owner.principal
    drafts = [draft_start(owner, f"draft {at}") for at in range(6)]
    for at, draft in enumerate(drafts):
        draft_save(owner, draft.id, {"decay": {"floor": 0.2 + at / 100}}, version=1)

    def activate(draft: PolicyDraft) -> str:
        try:
            draft_activate(owner, draft.id, "race", version=2, expected=1)
            return "made"
        except PolicyMoved:
            return "moved"
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        ended = sorted(pool.map(activate, drafts))
    assert ended == ["made"] + ["moved"] * 5
    with stage.context():
        assert PolicyVersion.objects.count() == 2 and PolicyDraft.objects.count() == 5


def test_draft__wrong_document__is_refused_and_nothing_changes(stage: Stage) -> None:
    owner = stage.owner.principal
    draft = draft_start(owner, "wrong")
    with pytest.raises(PolicyInvalid) as caught:
        draft_save(owner, draft.id, {"decay": {"floor": 3}}, version=1)
    assert [one.place for one in caught.value.faults] == ["decay.floor"]
    with pytest.raises(Invalid, match="say why"):
        draft_activate(owner, draft.id, " ", version=1, expected=1)
    with stage.context():
        assert PolicyDraft.objects.get().version == 1


@pytest.mark.parametrize("role", ["reviewer", "agent"])
def test_draft__by_who_is_no_admin__is_denied_and_recorded(stage: Stage, role: str) -> None:
    who = stage.reviewer.principal if role == "reviewer" else stage.coder.principal
    draft = draft_start(stage.owner.principal, "theirs")
    acts: list[Any] = [
        lambda: draft_start(who, "mine"),
        lambda: draft_save(who, draft.id, {"decay": {"floor": 0.3}}, version=1),
        lambda: draft_discard(who, draft.id, version=1),
        lambda: draft_activate(who, draft.id, "now", version=1, expected=1),
    ]
    for act in acts:
        with pytest.raises(Denied):
            act()
    with stage.context():
        assert AuditEvent.objects.filter(action="access.denied", actor_id=who.id).count() == len(acts)
        assert PolicyDraft.objects.get().version == 1 and PolicyVersion.objects.count() == 1


def test_draft__of_another_tenant__is_not_there(stage: Stage) -> None:
    draft = draft_start(stage.owner.principal, "ours")
    stranger = make_tenant().owner.principal
    with pytest.raises(NotFound):
        draft_save(stranger, draft.id, {}, version=1)
    with pytest.raises(NotFound):
        draft_activate(stranger, draft.id, "now", version=1, expected=1)


def test_draft__discarded__is_gone_and_audited(stage: Stage) -> None:
    owner = stage.owner.principal
    draft = draft_start(owner, "no good", from_preset="open")
    draft_discard(owner, draft.id, version=1)
    with stage.context():
        assert not PolicyDraft.objects.exists()
        event = AuditEvent.objects.get(action="policy.draft_discarded")
    assert event.after["name"] == "no good" and "decay floor 0.15 → 0.0" in event.after["changes"]
