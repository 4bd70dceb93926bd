"""Somebody who may no longer do it when the worker takes their import or export up, or while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.transfers.doing import contents, events, files, look, run

if TYPE_CHECKING:
    from tests.factories import Person, Stage

FILE = b"- Lives in Oslo\n- Drinks tea without sugar\n"
SCOPE = "user:42"


def demoted(stage: Stage, person: Person) -> None:
    from memory.services.members import member_role_set

    member_role_set(stage.owner.principal, person.membership.id, "auditor")


def removed(stage: Stage, person: Person) -> None:
    from memory.services.members import member_remove

    member_remove(stage.owner.principal, person.membership.id)


Since = Callable[["Stage", "Person"], None]
both = pytest.mark.parametrize("since", [demoted, removed])


def known(stage: Stage) -> None:
    from memory.services.memory_write import memory_write
    from memory.services.write_types import WriteRequest

    memory_write(
        stage.coder.principal, WriteRequest(content="Lives in Bern", scope=SCOPE, origin="user_explicit")
    )


@both
def test_import__of_somebody_who_may_no_longer__fails_and_nothing_comes_in(
    stage: Stage, since: Since
) -> None:
    from memory.models import AuditEvent, Contradiction
    from memory.services.transfers import import_begin
    from tests.factories import make_person

    known(stage)
    admin = make_person(stage.tenant, "admin")
    looked = run(stage, look(stage, FILE, scope=SCOPE, on_conflict="replace"))
    job = import_begin(admin.principal, looked.id)
    since(stage, admin)
    ended = run(stage, job)
    assert ended.status == "failed" and "is no owner or admin any more" in ended.error
    assert contents(stage) == ["Lives in Bern"] and files(stage) == []
    assert events(stage)[-1] == "import_run.failed"
    with stage.context():
        assert not Contradiction.objects.exists()
        assert AuditEvent.objects.filter(target_id=admin.principal.id, action="access.denied").exists()


@both
def test_undo__of_somebody_who_may_no_longer__fails_and_can_be_begun_by_another(
    stage: Stage, since: Since
) -> None:
    from memory.models import Memory
    from memory.services.transfers import import_begin, import_undo
    from tests.factories import make_person

    admin = make_person(stage.tenant, "admin")
    done = run(stage, import_begin(stage.owner.principal, run(stage, look(stage, FILE)).id))
    job = import_undo(admin.principal, done.id)
    since(stage, admin)
    assert run(stage, job).status == "failed"
    with stage.context():
        assert set(Memory.objects.values_list("status", flat=True)) == {"candidate"}
    assert run(stage, import_undo(stage.owner.principal, done.id)).status == "done"


@both
def test_export__of_somebody_who_may_no_longer__writes_no_file(stage: Stage, since: Since) -> None:
    from memory.services.transfers import export_begin
    from tests.factories import make_person

    admin = make_person(stage.tenant, "admin")
    job = export_begin(admin.principal, "jsonl")
    since(stage, admin)
    assert run(stage, job).status == "failed" and files(stage) == []


def test_import__of_somebody_with_a_higher_role_since__is_done(stage: Stage) -> None:
    from memory.services.members import member_role_set
    from memory.services.transfers import import_begin
    from tests.factories import make_person

    admin = make_person(stage.tenant, "admin")
    job = import_begin(admin.principal, run(stage, look(stage, FILE)).id)
    member_role_set(stage.owner.principal, admin.membership.id, "owner")
    assert run(stage, job).result["added"] == 2


def test_import__of_somebody_who_loses_the_role_while_it_runs__stops_and_keeps_what_came_in(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory.models import AuditEvent
    from memory.services import transfer_run
    from memory.services.members import member_role_set
    from memory.services.transfers import import_begin
    from tests.factories import make_person

    admin = make_person(stage.tenant, "admin")
    rows = "".join(
        f'{{"memory": "Rack {at} of hall {at % 7} holds the spare router {at * 31}."}}\n' for at in range(450)
    )
    job = import_begin(admin.principal, run(stage, look(stage, rows.encode())).id)
    monkeypatch.setattr(transfer_run, "_EVERY", 0)
    real, calls = transfer_run._still_may, [0]

    def asked(principal: object) -> None:
        calls[0] += 1
        if calls[0] == 250:
            member_role_set(stage.owner.principal, admin.membership.id, "reviewer")
        real(principal)  # type: ignore[arg-type]

    monkeypatch.setattr(transfer_run, "_still_may", asked)
    ended = run(stage, job)
    assert ended.status == "failed"
    assert "no owner or admin any more; what was done until then stays" in ended.error
    assert 0 < len(contents(stage)) < 450 and files(stage) == []
    with stage.context():
        assert AuditEvent.objects.filter(target_id=admin.principal.id, action="access.denied").count() == 1
