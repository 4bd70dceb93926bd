"""The pages of a preview: begun, followed, read, and acted on."""

from __future__ import annotations

from typing import Any

from django.test import Client

from memory.domain.ids import show_id
from memory.models import Job, Memory, PolicyDraft
from memory.services.policies import policy_activate
from memory.services.policy_drafts import draft_save, draft_start
from memory.services.preview import preview_run
from memory.services.retention import memory_delete, memory_pin
from tests.factories import Stage
from tests.pages.staging import Full, mem, signed_in, write

STRICT: dict[str, Any] = {"admission": {"confidence_floor": {"middle": 0.95}}}


def begun(stage: Stage, owner: Client, document: dict[str, Any]) -> tuple[PolicyDraft, str]:
    """A draft and the address of its preview, which waits for a worker."""
    draft = draft_start(stage.owner.principal, "stricter by far")
    draft = draft_save(stage.owner.principal, draft.id, document, version=1)
    at = f"/t/{stage.tenant.slug}/policies/drafts/{show_id('pdr', draft.id)}/preview/"
    answer = owner.post(at, {"version": "2"})
    assert answer.status_code == 303
    return draft, answer["Location"]


def worked(stage: Stage) -> None:
    with stage.context():
        job = Job.objects.get(kind="policy.preview", finished_at=None)
    assert preview_run(stage.tenant.id, job.id) == "done"


def test_preview__while_it_waits__asks_itself_again_and_then_tells(stage: Stage, owner: Client) -> None:
    pinned = write(stage.coder, content="The north gate is locked at nine.")
    write(stage.coder, content="The south gate is locked at ten.")
    memory_pin(stage.owner.principal, pinned.id, "a landmark")
    draft, at = begun(stage, owner, STRICT)
    page = owner.get(at).content.decode()
    assert "Waiting for a worker" in page and 'hx-trigger="every 2s"' in page and "Look again" in page
    part = owner.get(at, headers={"HX-Request": "true", "HX-Target": "preview"}).content.decode()
    assert part.lstrip().startswith("<section") and "<html" not in part
    worked(stage)
    page = owner.get(at).content.decode()
    assert "hx-trigger" not in page.split('id="preview"')[1].split(">")[0]
    assert "Looked at 2 memories, 2 writes" in page
    stored = page.split('id="stored-refused"')[1].split("</details>")[0]
    assert "<b>2</b> would not be admitted any more" in stored and "low_confidence: 2" in stored
    assert stored.index("north gate") < stored.index("south gate"), "the pinned one first"
    assert "pinned" in stored and f"/memories/{mem(pinned)}/" in stored
    assert "confidence 0.90 is below 0.95" in stored
    assert 'id="written-refused"' in page and "Nothing would be different." in page
    of_draft = f"/t/{stage.tenant.slug}/policies/drafts/{show_id('pdr', draft.id)}/"
    assert f'href="{of_draft}#activate"' in page
    assert at in owner.get(of_draft).content.decode()


def test_preview__of_an_earlier_text__says_so_and_offers_no_activation(stage: Stage, owner: Client) -> None:
    draft, at = begun(stage, owner, STRICT)
    worked(stage)
    assert "Activate this" in owner.get(at).content.decode()
    assert "Activate this" not in signed_in(stage.reviewer).get(at).content.decode()
    policy_activate(stage.owner.principal, {"decay": {"floor": 0.2}}, "meanwhile")
    assert "Another policy is in force by now" in owner.get(at).content.decode()
    draft_save(stage.owner.principal, draft.id, {"decay": {"floor": 0.4}}, version=2)
    page = owner.get(at).content.decode()
    assert "The draft was saved again since" in page and "Activate this" not in page
    of_draft = f"/t/{stage.tenant.slug}/policies/drafts/{show_id('pdr', draft.id)}/"
    assert "of an earlier text" in owner.get(of_draft).content.decode()
    owner.post(f"{of_draft}discard/", {"version": "3"})
    assert "activated or discarded" in owner.get(at).content.decode()


def test_preview__begun_twice_or_beside_an_older_text__is_409(stage: Stage, owner: Client) -> None:
    draft, _ = begun(stage, owner, STRICT)
    at = f"/t/{stage.tenant.slug}/policies/drafts/{show_id('pdr', draft.id)}/preview/"
    again = owner.post(at, {"version": "2"})
    assert again.status_code == 409 and "Another preview is being worked on" in again.content.decode()
    old = owner.post(at, {"version": "1"})
    assert old.status_code == 409 and "nothing was begun" in old.content.decode()
    with stage.context():
        assert Job.objects.filter(kind="policy.preview").count() == 1


def test_preview__text_that_is_gone_or_hostile__is_told_or_inert(stage: Stage, owner: Client) -> None:
    evil = "The <script>alert(1)</script> tag is stripped by the mail gate."
    kept, gone = (write(stage.coder, content=text) for text in (evil, "The south gate is locked at ten."))
    _, at = begun(stage, owner, STRICT)
    worked(stage)
    memory_delete(stage.owner.principal, gone.id, "no longer true")
    with stage.context():
        Memory.objects.filter(id=gone.id).update(content="")
    page = owner.get(at).content.decode()
    assert "<script>alert" not in page and "&lt;script&gt;" in page
    assert "The text is gone" in page and mem(kept) in page


def test_preview__of_another_kind_of_job__is_not_there(full: Full, owner: Client) -> None:
    with full.stage.context():
        other = Job(kind="batch", actor_name="coder")
        other.save()
    assert owner.get(full.at(f"policies/previews/{show_id('job', other.id)}/")).status_code == 404
    assert owner.get(full.at(f"policies/previews/{show_id('job', full.preview.id)}/")).status_code == 200
