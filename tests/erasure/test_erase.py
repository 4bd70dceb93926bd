"""All about a subject goes, from every table; nothing else does."""

from __future__ import annotations

from typing import Any

import pytest

from memory.models import AuditEvent, Memory, SubjectAlias, WriteDecision
from memory.services.audit_verify import audit_verify
from memory.services.erasure import ErasureWish, erasure_look, subject_erase, subject_hash
from memory.services.erasure_receipt import erasure_receipt, is_of, receipt_of
from memory.services.errors import Conflict, Denied, Invalid, VersionConflict
from memory.services.manifest_read import manifest_read
from memory.services.transfer_files import folder_of
from memory.services.write_jobs import write_job_run
from tests.erasure.lived import (
    ALIAS,
    CANARY,
    PHRASE,
    SUBJECT,
    Lived,
    dumped,
    erased,
    holding,
    lived,
    wish,
    write,
    written,
)
from tests.factories import make_person, make_tenant
from tests.search_index import out_of_step

pytestmark = pytest.mark.usefixtures("database")

TRACES = {
    "memory_alert", "memory_alertdelivery", "memory_idempotencykey", "memory_index", "memory_job", "memory_manifest",
    "memory_memory", "memory_promotionnote", "memory_promotionrequest", "memory_revision", "memory_workingvalue",
    "memory_writedecision",
}  # fmt: skip
"""Tables in which the phrase stands before."""


@pytest.fixture
def there() -> Lived:
    return lived()


def rows_about(stage: Any, ids: list[Any]) -> dict[str, list[str]]:
    """The rows of a dump that hold one of the ids, but for the audit."""
    texts = [text for one in ids for text in (str(one), one.hex)]
    found = dumped(stage, but=("memory_auditevent",))
    return {
        table: [row for row in rows if any(text in row for text in texts)] for table, rows in found.items()
    }


def test_erase__phrase_in_every_table__is_nowhere_afterwards(there: Lived) -> None:
    before = holding(there.stage, CANARY)
    assert set(before) >= TRACES, "without the phrase there nothing is proved"
    job = erased(there.stage)
    # The reasons that people gave for a promotion and a pin: nothing may change the chain, so they are counted.
    assert holding(there.stage, CANARY) == {"memory_auditevent": 2}
    with there.stage.context():
        assert {row.status for row in Memory.objects.filter(id__in=there.theirs)} == {"erased"}
        assert not SubjectAlias.objects.exists()
    assert job.done == len(there.theirs) and not list(folder_of(there.stage.tenant.id).iterdir())
    assert out_of_step(there.stage) == []


def test_erase__others__are_as_they_were_to_the_byte(there: Lived) -> None:
    elsewhere = lived()
    before, other = rows_about(there.stage, there.others), dumped(elsewhere.stage)
    assert before["memory_memory"] and before["memory_revision"] and before["memory_index"]
    erased(there.stage)
    after = rows_about(there.stage, there.others)
    mixed = ("memory_memory", "memory_revision")  # what was derived from both names her id and went
    assert {name: rows for name, rows in after.items() if name not in mixed} == {
        name: rows for name, rows in before.items() if name not in mixed
    }
    for table in mixed:
        own = [row for row in before[table] if CANARY not in row]
        assert own and set(own) <= set(after[table])
    assert dumped(elsewhere.stage) == other


def test_erase__audit__holds_a_receipt_without_a_name_and_the_chain_holds(there: Lived) -> None:
    with there.stage.context():
        last = AuditEvent.objects.latest("seq").seq
    job = erased(there.stage)
    with there.stage.context():
        events = list(AuditEvent.objects.filter(seq__gt=last).order_by("seq"))
        hashed = subject_hash(SUBJECT)
    text = " ".join(f"{one.target_id} {one.scope} {one.reason} {one.before} {one.after}" for one in events)
    assert SUBJECT not in text and ALIAS not in text and CANARY not in text
    (receipt,) = [one for one in events if one.action == "subject.erased"]
    assert (receipt.target_id, receipt.reason) == (hashed, "request 17")
    assert receipt.after["entries"] == len(there.theirs) and receipt.after["tables"]["memory_revision"] > 0
    assert audit_verify(there.stage.tenant.id).report.ok
    document = erasure_receipt(there.stage.owner.principal, job.id)
    assert document == receipt_of(receipt) and len(document["sha256"]) == 64
    assert is_of(there.stage.owner.principal, document, SUBJECT)
    assert not is_of(there.stage.owner.principal, document, "user:7")


def test_manifest__of_what_was_erased__still_renders(there: Lived) -> None:
    erased(there.stage)
    shown = manifest_read(there.stage.coder.principal, there.manifest)
    assert "[erased]" in shown.text and CANARY not in shown.text and not shown.as_returned


def test_late_job__accepted_before__writes_what_is_others_only(there: Lived) -> None:
    erased(there.stage)
    assert write_job_run(there.stage.tenant.id, there.job) == "done"
    assert set(holding(there.stage, CANARY)) == {"memory_auditevent"}
    with there.stage.context():
        assert Memory.objects.filter(subject="user:7", predicate="late").exists()


def test_erase__same_fact_again__is_stored(there: Lived) -> None:
    erased(there.stage)
    again = write(there.stage, subject=SUBJECT, predicate="plan", value=f"{CANARY} basic")
    assert again.outcome == "stored" and again.memory is not None
    free = write(there.stage, content=PHRASE, scope=SUBJECT)
    assert free.outcome == "stored"


def test_mentions__of_others__are_listed_and_go_only_when_picked() -> None:
    stage = make_tenant()
    written(stage, subject=SUBJECT, predicate="plan", value="enterprise")
    first = written(
        stage, subject="user:7", predicate="note", value=f"shares the {CANARY} locker with a friend"
    )
    second = written(stage, subject="user:8", predicate="note", value=f"lost the {CANARY} key on the stairs")
    owner = stage.owner.principal
    seen = erasure_look(owner, ErasureWish(SUBJECT, words=(CANARY,)))
    assert {row.id for row in seen.mentions} == {first.id, second.id} and seen.going == 1
    asked = wish(words=(CANARY,), along=(first.id,))
    seal = erasure_look(owner, asked).seal
    erased(stage, words=(CANARY,), along=(first.id,), seal=seal)
    with stage.context():
        assert Memory.objects.get(id=first.id).status == "erased"
        assert Memory.objects.get(id=second.id).status == "live"


@pytest.mark.parametrize("role", ["reviewer", "auditor"])
def test_rights__neither_reviewer_nor_auditor__audited(role: str) -> None:
    stage = make_tenant()
    person = make_person(stage.tenant, role).principal
    kept = written(stage, subject=SUBJECT, predicate="plan", value="enterprise")
    with pytest.raises(Denied):
        subject_erase(person, wish())
    with pytest.raises(Denied):
        erasure_look(person, wish())
    with stage.context():
        assert Memory.objects.get(id=kept.id).status == "live"
        denied = AuditEvent.objects.filter(action="access.denied", actor_id=person.id)
        assert denied.count() == 2 and SUBJECT not in str([one.after for one in denied])


def test_rights__agents_key__never() -> None:
    stage = make_tenant()
    with pytest.raises(Denied) as refused:
        subject_erase(stage.orchestrator.principal, wish())
    assert refused.value.code == "people_only"
    with stage.context():
        assert AuditEvent.objects.filter(action="access.denied").exists()


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"typed": "user:43"}, "typed_wrong"),
        ({"reason": " "}, "reason_needed"),
        ({"reason": "User:42 asked for it"}, "reason_names_subject"),
        ({"subject": "", "typed": ""}, "subject_needed"),
        ({"subject": "x" * 5000}, ""),
        ({"words": ("a",)}, ""),
        ({"words": tuple(f"word {n}" for n in range(11))}, ""),
    ],
)
def test_wish__incomplete__is_refused_and_changes_nothing(more: dict[str, Any], code: str) -> None:
    stage = make_tenant()
    kept = written(stage, subject=SUBJECT, predicate="plan", value="enterprise")
    given = {"subject": SUBJECT, "typed": SUBJECT, "reason": "request 17", **more}
    with pytest.raises(Invalid) as refused:
        subject_erase(stage.owner.principal, ErasureWish(**given))
    assert not code or refused.value.code == code
    with stage.context():
        assert Memory.objects.get(id=kept.id).status == "live"


def test_seal__something_else_would_go__is_refused() -> None:
    stage = make_tenant()
    written(stage, subject=SUBJECT, predicate="plan", value="enterprise")
    seal = erasure_look(stage.owner.principal, wish()).seal
    written(stage, subject=SUBJECT, predicate="colour", value="a dark green")
    with pytest.raises(VersionConflict):
        subject_erase(stage.owner.principal, wish(seal=seal))


def test_second__while_one_is_under_way__is_refused() -> None:
    stage = make_tenant()
    subject_erase(stage.owner.principal, wish())
    with pytest.raises(Conflict):
        subject_erase(stage.owner.principal, wish("user:7"))


def test_refused_write__that_only_named_the_subject__loses_its_text() -> None:
    stage = make_tenant()
    write(
        stage, content=f"Perhaps {SUBJECT} likes the old {CANARY}?", origin="model_inferred", confidence=0.1
    )
    write(stage, content="Perhaps user:421 likes the old well?", origin="model_inferred", confidence=0.1)
    erased(stage)
    with stage.context():
        texts = sorted(WriteDecision.objects.filter(memory_id=None).values_list("text", flat=True))
    assert texts == ["", "Perhaps user:421 likes the old well?"]
