"""Imports as jobs: looked at before, repeated without doubles, refused with a reason."""

from __future__ import annotations

import gzip
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from memgov import clock
from tests.transfers.doing import ROWS, contents, events, files, look, now_of, run

if TYPE_CHECKING:
    from tests.factories import Stage


def test_look__at_a_file__tells_what_would_become_of_it_and_stores_nothing(stage: Stage) -> None:
    done = run(stage, look(stage))
    assert done.status == "done" and contents(stage) == []
    assert done.result["counts"] == {"held": 2, "rejected": 1, "unreadable": 1} or done.result["added"] == 2
    assert done.result["sources"][0]["title"] == "mem0, list of memories"
    assert done.result["findings"]["too_vague"] == 1
    assert {one["text"] for one in done.result["samples"]} >= {"ok"}
    assert [row for row, _what, _why in done.result["told"]], "the rows that do not come in are named"
    assert events(stage) == ["import_preview.begun", "import_preview.done"]
    assert len(files(stage)) == 1 and files(stage)[0].stat().st_mode & 0o777 == 0o600


def test_import__rows_with_zero_characters__are_counted_and_the_page_says_so(stage: Stage) -> None:
    from memory.domain.ids import show_id
    from memory.services.transfers import import_begin
    from tests.pages.staging import signed_in

    rows = b'[{"memory": "Gate 4 of the u\\u0000pper lock is re\\u0000d."}, {"memory": "The mill has nine wheels."}]'
    looked = run(stage, look(stage, rows))
    done = run(stage, import_begin(stage.owner.principal, looked.id))
    assert (looked.result["cleared"], done.result["cleared"], done.result["added"]) == (1, 1, 2)
    assert contents(stage)[0] == "Gate 4 of the upper lock is red."
    browser = signed_in(stage.owner)
    for job in (looked, done):
        page = browser.get(f"/t/{stage.tenant.slug}/imports/{show_id('job', job.id)}/").content.decode()
        assert "had zero characters, which were taken out" in page
    other = run(stage, look(stage))
    page = browser.get(f"/t/{stage.tenant.slug}/imports/{show_id('job', other.id)}/").content.decode()
    assert "zero characters" not in page


def test_import__after_the_look__brings_candidates_in_and_again_adds_nothing(stage: Stage) -> None:
    """Field report 45: the same file again adds 0."""
    from memory.services.errors import Conflict
    from memory.services.transfers import import_begin

    looked = run(stage, look(stage))
    done = run(stage, import_begin(stage.owner.principal, looked.id))
    assert done.status == "done" and done.result["added"] == 2 and len(contents(stage)) == 2
    assert files(stage) == [], "what was used is not kept"
    with pytest.raises(Conflict):
        import_begin(stage.owner.principal, looked.id)
    again = run(stage, look(stage))
    assert again.result["added"] == 0 and again.result["counts"]["known"] == 2
    assert events(stage)[:4] == [
        "import_preview.begun",
        "import_preview.done",
        "import_run.begun",
        "import_run.done",
    ]


def test_import__run_twice_by_workers__adds_each_row_once(stage: Stage) -> None:
    from memory.services.transfer_run import transfer_run
    from memory.services.transfers import import_begin
    from memory.store import jobs

    job = import_begin(stage.owner.principal, run(stage, look(stage)).id)
    with stage.context():
        assert jobs.take(job.id, clock.now()) is not None, "a worker takes it and is never heard of again"
    assert transfer_run(stage.tenant.id, job.id) == "busy"
    with clock.moved_to(clock.now() + timedelta(minutes=6)):
        assert transfer_run(stage.tenant.id, job.id) == "done"
    assert transfer_run(stage.tenant.id, job.id) == "gone"
    assert len(contents(stage)) == 2


@pytest.mark.parametrize("killed", [2, 3])
def test_look__whose_worker_is_lost_each_time__fails_after_three(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, killed: int
) -> None:
    from memory.services import transfer_run as worker

    def lost(*_: Any, **__: Any) -> None:
        raise SystemExit

    job, now = look(stage), clock.now()
    for number in range(killed):
        with clock.moved_to(now + timedelta(minutes=2 * number)), monkeypatch.context() as broken:
            broken.setattr(worker, "audit_store", lost)
            with pytest.raises(SystemExit):
                worker.transfer_run(stage.tenant.id, job.id)
        assert now_of(stage, job).status == "running" and len(files(stage)) == 1
    with clock.moved_to(now + timedelta(minutes=2 * killed)):
        done = run(stage, job)
    if killed < 3:
        assert done.status == "done" and done.result["added"] == 2
    else:
        assert done.status == "failed" and "begun three times" in done.error
        assert files(stage) == [] and events(stage)[-1] == "import_preview.failed"


def test_look__into_one_scope__that_is_none__is_refused(stage: Stage) -> None:
    from memory.services.errors import Invalid

    with pytest.raises(Invalid):
        look(stage, scope="nowhere:at all")
    done = run(stage, look(stage, scope="project:alpha"))
    assert done.result["scope"] == "project:alpha"


@pytest.mark.parametrize(
    "content", [b"\x00\x01\x02\xff" * 500, b"[{", b"PK\x03\x04 no zip", b"\x1f\x8b broken"]
)
def test_look__at_a_file_that_is_none__ends_with_a_reason(stage: Stage, content: bytes) -> None:
    done = run(stage, look(stage, content))
    assert done.status in ("done", "failed") and contents(stage) == []
    if done.status == "failed":
        assert done.error and str(files) not in done.error and "/" not in done.error
    else:
        assert done.result["added"] == 0 or done.result["unreadable"] >= 0


def test_look__at_a_small_file_that_unpacks_to_much__ends_with_a_reason(stage: Stage) -> None:
    done = run(stage, look(stage, gzip.compress(b"\n" * 17 * 1024**2)))
    assert done.status == "failed" and "unpacks to more than 16 MiB" in done.error and files(stage) == []
    assert run(stage, look(stage, gzip.compress(ROWS))).result["added"] == 2, "the positive control"


def test_replace__by_an_admin_who_vouches__looked_at_first_then_done(stage: Stage) -> None:
    from memory.models import Memory
    from memory.services.memory_write import memory_write
    from memory.services.transfers import import_begin
    from memory.services.write_types import WriteRequest

    told = WriteRequest(content="Lives in Bern", scope="user:42", origin="user_explicit")
    memory_write(stage.coder.principal, told)
    job = look(stage, b'[{"memory": "Lives in Oslo"}]', scope="user:42", on_conflict="replace")
    looked = run(stage, job)
    assert looked.result["counts"] == {"replaced": 1}
    assert contents(stage) == ["Lives in Bern"], "a look stores nothing"
    done = run(stage, import_begin(stage.owner.principal, job.id))
    assert done.result["counts"] == {"replaced": 1}
    with stage.context():
        assert Memory.objects.get(status="live").content == "Lives in Oslo"


def test_undo__of_a_run__takes_back_what_nobody_decided_on(stage: Stage) -> None:
    from memory.models import Memory
    from memory.services.candidate_admit import candidate_admit
    from memory.services.errors import Conflict
    from memory.services.transfers import import_begin, import_undo

    looked = run(stage, look(stage))
    done = run(stage, import_begin(stage.owner.principal, looked.id))
    assert done.result["added"] == 2 and files(stage) == []
    with stage.context():
        row = Memory.objects.filter(status="candidate").order_by("id").first()
    candidate_admit(stage.reviewer.principal, row.id, "checked", version=row.version)
    back = run(stage, import_undo(stage.owner.principal, done.id))
    assert (back.status, back.result["counts"]) == ("done", {"removed": 1, "restored": 0, "stayed": 1})
    with stage.context():
        assert sorted(Memory.objects.values_list("status", flat=True)) == ["deleted", "live"]
    assert events(stage)[-2:] == ["import_undo.begun", "import_undo.done"]
    with pytest.raises(Conflict):
        import_undo(stage.owner.principal, done.id)


def test_undo__of_a_run_that_replaced__its_values_live_again_and_another_runs_stay(stage: Stage) -> None:
    from memory.models import Memory
    from memory.services.memory_write import memory_write
    from memory.services.transfers import import_begin, import_undo
    from memory.services.write_types import WriteRequest

    told = WriteRequest(content="Lives in Bern", scope="user:42", origin="user_explicit")
    memory_write(stage.coder.principal, told)
    runs = []
    for text in (b"Lives in Oslo", b"Drinks tea without sugar"):
        job = look(stage, b'[{"memory": "' + text + b'"}]', scope="user:42", on_conflict="replace")
        run(stage, job)
        runs.append(run(stage, import_begin(stage.owner.principal, job.id)))
    back = run(stage, import_undo(stage.owner.principal, runs[0].id))
    assert back.result["counts"] == {"removed": 1, "restored": 1, "stayed": 0}
    with stage.context():
        assert dict(Memory.objects.values_list("content", "status")) == {
            "Lives in Bern": "live", "Lives in Oslo": "deleted", "Drinks tea without sugar": "candidate",
        }  # fmt: skip


def test_undo__stopped_before_it_began__can_be_asked_for_again(stage: Stage) -> None:
    from memory.services.transfers import import_begin, import_undo, transfer_cancel

    looked = run(stage, look(stage))
    done = run(stage, import_begin(stage.owner.principal, looked.id))
    stopped = transfer_cancel(stage.owner.principal, import_undo(stage.owner.principal, done.id).id)
    assert stopped.status == "cancelled"
    back = run(stage, import_undo(stage.owner.principal, done.id))
    assert back.result["counts"]["removed"] == 2


def test_undo__by_whom_it_is_not_for_or_of_no_import__refused(stage: Stage) -> None:
    from memory.services.errors import Denied, NotFound
    from memory.services.transfers import import_begin, import_undo
    from tests.factories import make_tenant

    looked = run(stage, look(stage))
    done = run(stage, import_begin(stage.owner.principal, looked.id))
    with pytest.raises(Denied):
        import_undo(stage.reviewer.principal, done.id)
    for principal, job in ((stage.owner.principal, looked), (make_tenant().owner.principal, done)):
        with pytest.raises(NotFound):
            import_undo(principal, job.id)
