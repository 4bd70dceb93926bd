"""The pages of policies: presets, drafts as form and as text, who was faster, and rolling back."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from memory.domain.ids import show_id
from memory.domain.policy import PRESETS
from memory.models import AuditEvent, PolicyDraft, PolicyVersion
from memory.services.policies import policy_activate
from memory.services.policy_drafts import draft_save, draft_start
from tests.factories import Stage
from tests.pages.staging import signed_in


def at(stage: Stage, path: str = "") -> str:
    return f"/t/{stage.tenant.slug}/policies/{path}"


def of_draft(stage: Stage, draft: PolicyDraft, path: str = "") -> str:
    return at(stage, f"drafts/{show_id('pdr', draft.id)}/{path}")


def saved(stage: Stage) -> PolicyDraft:
    with stage.context():
        found: PolicyDraft = PolicyDraft.objects.get()
    return found


def filled(page: str) -> dict[str, Any]:
    """What a browser would send for the form of settings as it stands on the page."""
    form = page.split('<form class="form" method="post"')[1].split("</form>")[0]
    sent: dict[str, Any] = dict(
        re.findall(r'<input type="(?:hidden|text)" name="([^"]+)" value="([^"]*)"', form)
    )
    for name, inner in re.findall(r'<select name="([^"]+)".*?>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', inner)
        sent[name] = chosen[1] if chosen else ""
    for name, inner in re.findall(r'<textarea name="([^"]+)"[^>]*>(.*?)</textarea>', form, re.DOTALL):
        sent[name] = inner.removeprefix("\n")
    for name, value, more in re.findall(
        r'<input type="checkbox" name="([^"]+)" value="([^"]+)"([^>]*)', form
    ):
        sent.setdefault(name, [])
        if "checked" in more:
            sent[name].append(value)
    return {name: html.unescape(value) if isinstance(value, str) else value for name, value in sent.items()}


def test_presets__are_all_there_with_what_each_changes_here(stage: Stage, owner: Client) -> None:
    page = owner.get(at(stage, "presets/")).content.decode()
    assert all(f'id="{name}"' in page for name in PRESETS)
    default, trusted = (
        page.split('id="default"')[1].split("<section")[0],
        page.split('id="trusted-source"')[1],
    )
    assert "This is what is in force" in default and "Begin a draft" not in default
    assert "<code>admission: trust floor narrow</code> <del>0.0</del>" in trusted.split("<section")[0]
    begun = owner.get(at(stage, "drafts/new/"), {"begin": "preset:curated"}).content.decode()
    assert 'value="preset:curated" selected' in begun and 'value="Curated store"' in begun
    answer = owner.post(at(stage, "drafts/new/"), {"name": "trial", "begin": "preset:curated"})
    assert answer.status_code == 303
    assert "reconciliation: cap" in owner.get(answer["Location"]).content.decode()
    assert owner.post(at(stage, "drafts/new/"), {"name": "", "begin": ""}).status_code == 422
    offered = owner.get(at(stage, "drafts/new/")).content.decode()
    (first,) = re.findall(r'<option value="([^"]*)" selected>The policy in force', offered)
    assert owner.post(at(stage, "drafts/new/"), {"name": "as it is", "begin": first}).status_code == 303
    assert owner.post(at(stage, "drafts/new/"), {"name": "x", "begin": "preset:no"}).status_code == 422


def test_text__with_faults__each_beside_its_line_and_nothing_lost(stage: Stage, owner: Client) -> None:
    draft = draft_start(stage.owner.principal, "as text")
    typed = "decay:\n  flor: 0.2\nscopes:\n  project:*:\n    digest: {max_tokens: -1}\n"
    answer = owner.post(of_draft(stage, draft, "text/"), {"document": typed, "version": "1"})
    page = answer.content.decode()
    assert answer.status_code == 422 and "2 things are wrong" in page
    assert (
        "Line 2 <code>  flor: 0.2</code>: <b>decay.flor</b> there is no such setting; did you mean floor?"
        in page
    )
    assert "Line 5" in page and "scopes.project:*.digest.max_tokens" in page
    assert html.escape(typed, quote=True) in page and 'name="version" value="1"' in page
    assert saved(stage).version == 1
    assert (
        owner.post(
            of_draft(stage, draft, "text/"), {"document": "decay: {floor: 0.2}", "version": "1"}
        ).status_code
        == 303
    )
    assert saved(stage).document == {"decay": {"floor": 0.2}}
    assert "floor: 0.2" in owner.get(of_draft(stage, draft, "text/")).content.decode()
    assert (
        "&quot;floor&quot;: 0.2"
        in owner.get(of_draft(stage, draft, "text/"), {"as": "json"}).content.decode()
    )


def test_text__saved_by_another_meanwhile__says_who_and_what_and_keeps_the_text(
    stage: Stage, owner: Client
) -> None:
    draft = draft_start(stage.owner.principal, "together")
    draft_save(stage.owner.principal, draft.id, {"decay": {"floor": 0.4}}, version=1)
    sent = {"document": "reconciliation: {cap: 77}", "version": "1"}
    answer = owner.post(of_draft(stage, draft, "text/"), sent)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Owner was faster" in page and "decay floor 0.15 → 0.4" in page and "cap: 77" in page
    assert saved(stage).document == {"decay": {"floor": 0.4}}
    # Whoever has seen it may save over it.
    assert 'name="version" value="2"' in page
    assert owner.post(of_draft(stage, draft, "text/"), {**sent, "version": "2"}).status_code == 303
    assert saved(stage).document == {"reconciliation": {"cap": 77}}


def test_fields__saved_as_they_stand__change_nothing(stage: Stage, owner: Client) -> None:
    for name in PRESETS:
        draft = draft_start(stage.owner.principal, name, from_preset=name)
        page = owner.get(of_draft(stage, draft, "fields/")).content.decode()
        assert owner.post(of_draft(stage, draft, "fields/"), filled(page)).status_code == 303
        with stage.context():
            after = PolicyDraft.objects.get(id=draft.id)
        assert (after.document, after.version) == (draft.document, 1), name


def test_fields__one_changed__only_that_is_in_the_document(stage: Stage, owner: Client) -> None:
    draft = draft_start(stage.owner.principal, "by form")
    page = owner.get(of_draft(stage, draft, "fields/")).content.decode()
    sent = {**filled(page), "decay.floor": "0.3", "reconciliation.cap": "", "promotion.auto_approve_into": []}
    assert owner.post(of_draft(stage, draft, "fields/"), sent).status_code == 303
    expected: dict[str, Any] = {
        "decay": {"floor": 0.3},
        "reconciliation": {"cap": None},
        "promotion": {"auto_approve_into": []},
    }
    assert saved(stage).document == expected
    page = owner.get(of_draft(stage, draft, "fields/")).content.decode()
    assert "otherwise 0.15" in page
    # Back to what would hold anyway: the document says nothing of it any more.
    again = {**filled(page), "decay.floor": "0.15"}
    assert owner.post(of_draft(stage, draft, "fields/"), again).status_code == 303
    assert "decay" not in saved(stage).document


def test_fields__of_a_scope__become_its_override(stage: Stage, owner: Client) -> None:
    draft = draft_start(stage.owner.principal, "scoped")
    where = of_draft(stage, draft, "fields/")
    page = owner.get(where, {"scope": "project:*"}).content.decode()
    assert "What holds in project:*" in page and "rate_limits" not in page
    sent = {**filled(page), "decay.floor": "0.05"}
    assert owner.post(where, sent).status_code == 303
    assert saved(stage).document == {"scopes": {"project:*": {"decay": {"floor": 0.05}}}}
    narrower = owner.get(where, {"scope": "project:alpha"}).content.decode()
    assert 'name="decay.floor" value="0.05"' in narrower and "<code>project:*</code>" in narrower
    wrong = owner.get(where, {"scope": "planet:x"})
    assert wrong.status_code == 422 and "unknown scope" in wrong.content.decode()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("decay.floor", "7", "has to be 0 to 1"),
        ("reconciliation.cap", "many", "write a whole number"),
        ("freshness.bands.fact.aging_days", "3", "aging_days must not be below fresh_days"),
        ("promotion.auto_approve_into", ["shared"], "shared and global always need a person"),
        ("admission.domain.description", "x" * 2001, "at most 2000 characters"),
        ("sanitisation.pii", "sell", "choose among"),
    ],
)
def test_fields__with_something_wrong__say_it_beside_the_field(
    stage: Stage, owner: Client, name: str, value: Any, said: str
) -> None:
    draft = draft_start(stage.owner.principal, "wrong")
    page = owner.get(of_draft(stage, draft, "fields/")).content.decode()
    answer = owner.post(of_draft(stage, draft, "fields/"), {**filled(page), name: value})
    page = answer.content.decode()
    assert answer.status_code == 422 and "nothing was saved" in page
    wrong = [part for part in page.split('class="field"') if 'role="alert"' in part and 'class="err' in part]
    assert len(wrong) == 1 and said in wrong[0] and f'name="{name.rpartition(".")[0]}.' in wrong[0]
    assert saved(stage).version == 1


def test_draft__activated_beside_another_policy__is_told_what_changed(stage: Stage, owner: Client) -> None:
    draft = draft_start(stage.owner.principal, "mine", from_preset="curated")
    policy_activate(stage.owner.principal, {"decay": {"floor": 0.4}}, "theirs")
    sent = {"reason": "as tried", "version": "1", "active": "1"}
    answer = owner.post(of_draft(stage, draft, "activate/"), sent)
    page = answer.content.decode()
    assert answer.status_code == 409 and "Owner was faster" in page and "“theirs”" in page
    assert "decay floor 0.15 → 0.4" in page and 'value="as tried"' in page
    assert "Begun beside version" not in page
    assert owner.post(of_draft(stage, draft, "activate/"), {**sent, "reason": ""}).status_code == 422
    assert "Begun beside version 1" in owner.get(of_draft(stage, draft)).content.decode()
    assert owner.post(of_draft(stage, draft, "activate/"), {**sent, "active": ""}).status_code == 409
    assert owner.post(of_draft(stage, draft, "activate/"), {**sent, "active": "2"}).status_code == 303
    with stage.context():
        assert PolicyVersion.objects.get(active=True).number == 3
    assert owner.get(of_draft(stage, draft)).status_code == 404


def test_draft__discarded_by_one__is_404_for_the_other(stage: Stage, owner: Client) -> None:
    draft = draft_start(stage.owner.principal, "gone")
    assert owner.post(of_draft(stage, draft, "discard/"), {"version": "7"}).status_code == 409
    assert owner.post(of_draft(stage, draft, "discard/"), {"version": "1"}).status_code == 303
    sent = {"document": "", "reason": "x", "version": "1", "active": "1"}
    for path in ("text/", "activate/"):
        assert owner.post(of_draft(stage, draft, path), sent).status_code == 404


def test_roll_back__says_what_it_would_change__and_makes_a_version(stage: Stage, owner: Client) -> None:
    policy_activate(stage.owner.principal, {"decay": {"floor": 0.4}}, "harder")
    page = owner.get(at(stage, "1/")).content.decode()
    assert "Roll back to this version" in page and "<del>0.4</del>" in page and "<ins>0.15</ins>" in page
    assert owner.post(at(stage, "1/roll-back/"), {"reason": "", "active": "2"}).status_code == 422
    late = owner.post(at(stage, "1/roll-back/"), {"reason": "too hard", "active": "1"})
    assert late.status_code == 409 and b"decay floor 0.15" in late.content
    assert owner.post(at(stage, "1/roll-back/"), {"reason": "too hard", "active": "2"}).status_code == 303
    assert owner.post(at(stage, "9/roll-back/"), {"reason": "no", "active": "3"}).status_code == 404
    with stage.context():
        row = PolicyVersion.objects.get(active=True)
        assert (row.number, row.reason, row.changes) == (3, "too hard", ["decay floor 0.4 → 0.15"])
        before = AuditEvent.objects.filter(action="access.denied").count()
    assert (
        signed_in(stage.reviewer).post(at(stage, "2/roll-back/"), {"reason": "me", "active": "3"}).status_code
        == 403
    )
    with stage.context():
        assert AuditEvent.objects.filter(action="access.denied").count() == before + 1
        assert PolicyVersion.objects.count() == 3


def test_hostile__names_reasons_and_patterns__stay_text(stage: Stage, owner: Client) -> None:
    evil = "<img src=x onerror=alert(1)>"
    draft = draft_start(stage.owner.principal, evil)
    document = {"admission": {"domain": {"description": evil, "keywords": [evil]}}}
    draft_save(stage.owner.principal, draft.id, document, version=1)
    policy_activate(stage.owner.principal, document, evil)
    for path in ("", "2/", "presets/", "drafts/new/"):
        assert evil not in owner.get(at(stage, path)).content.decode(), path
    for path in ("", "text/", "fields/"):
        assert evil not in owner.get(of_draft(stage, draft, path)).content.decode(), path
    typed = f"decay:\n  '{evil}': 1\n"
    assert (
        evil
        not in owner.post(
            of_draft(stage, draft, "text/"), {"document": typed, "version": "2"}
        ).content.decode()
    )
    where = owner.get(of_draft(stage, draft, "fields/"), {"scope": evil})
    assert where.status_code == 422 and evil not in where.content.decode()
