"""Asynchronous writes: accepted, written by a worker, exactly once whatever dies in between."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from celery.exceptions import Retry

from memgov import clock
from memgov.celery import app
from memory import tasks
from memory.domain.types import Kind, Layer
from memory.models import AuditEvent, Job, Memory, WriteDecision
from memory.services import write_jobs
from memory.services.memory_write import memory_write
from memory.services.sweeps import sweep_tasks
from memory.services.tenancy import agent_pause
from memory.services.write_jobs import write_job_run, write_job_start
from memory.services.write_types import Outcome, WriteRequest
from tenants.principals import system
from tests.api.caller import Caller, as_uuid
from tests.factories import Stage, make_tenant
from tests.killed import Killed
from tests.parallel import at_once
from tests.sweeps.processes import worker

pytestmark = pytest.mark.usefixtures("database")

SECRET = "sk-ant-api03-" + "Qm7xT2vLp9Rw4Kz8" * 4
FACTS = (
    "Mill four delivers paper on Mondays.",
    "The press halls open at seven.",
    "ok",
    f"The archive key is {SECRET}.",
)


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def fact(content: str, **fields: Any) -> WriteRequest:
    return WriteRequest(content=content, **{"scope": "project:alpha", "origin": "tool_verified", **fields})


def start(stage: Stage, *contents: str) -> Job:
    return write_job_start(stage.coder.principal, "batch", [fact(content) for content in contents])


def run(stage: Stage, job: Job) -> str:
    return write_job_run(stage.tenant.id, job.id)


def now_at(stage: Stage, job: Job) -> Job:
    with stage.context():
        return Job.objects.get(id=job.id)


def test_job__its_items__get_the_outcomes_of_a_plain_write(stage: Stage) -> None:
    job = start(stage, *FACTS)
    assert run(stage, job) == "done"
    done = now_at(stage, job)
    assert [one["outcome"] for one in done.result["results"]] == ["stored", "stored", "rejected", "stored"]
    assert [one["status"] for one in done.result["results"]] == [201, 201, 422, 201]
    assert (done.done, done.total, done.request) == (4, 4, None)
    with stage.context():
        assert {row.agent_id for row in Memory.objects.all()} == {stage.coder.agent.id}
        assert AuditEvent.objects.filter(action="job.queued").count() == 1


def test_job__while_it_waits__holds_no_text_in_the_clear(stage: Stage) -> None:
    job = start(stage, *FACTS)
    with stage.context():
        kept = str(list(Job.objects.values())) + str(list(AuditEvent.objects.values()))
        assert b"archive" not in bytes(Job.objects.get(id=job.id).request)
    assert SECRET not in kept and "archive" not in kept
    run(stage, job)
    with stage.context():
        assert SECRET not in str(list(Job.objects.values())) + str(list(Memory.objects.values()))


def test_job__every_field__arrives_as_it_was_given(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[WriteRequest] = []
    moment = datetime(2030, 5, 1, tzinfo=UTC)
    parent = memory_write(stage.coder.principal, fact("Mill four delivers paper on Mondays.")).memory
    assert parent is not None
    given = fact(
        "The halls close at nine.", layer=Layer.EPISODIC, kind=Kind.EVENT, confidence=0.8, importance=0.9,
        session="s1", task="t1", tool="cam", input_hash="h", derived_from=[parent.id], paths=["a/*"], tags=["x"],
        expires_at=moment, valid_from=moment, metadata={"deep": [1, {"a": None}]},
    )  # fmt: skip
    job = write_job_start(stage.coder.principal, "write", [given])

    def spy(principal: Any, request: WriteRequest) -> Outcome:
        met.append(request)
        return memory_write(principal, request)

    monkeypatch.setattr(write_jobs, "memory_write", spy)
    run(stage, job)
    assert met == [given]


def test_job__worker_dies_between_items__the_next_goes_on_and_nothing_is_written_twice(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = start(stage, *FACTS)
    calls = [0]

    def dying(principal: Any, request: WriteRequest) -> Outcome:
        outcome = memory_write(principal, request)
        calls[0] += 1
        if calls[0] == 3:
            raise Killed
        return outcome

    monkeypatch.setattr(write_jobs, "memory_write", dying)
    with pytest.raises(Killed):
        run(stage, job)
    monkeypatch.setattr(write_jobs, "memory_write", memory_write)
    assert run(stage, job) == "busy", "the dead worker's lease still runs"
    with clock.moved_to(clock.now() + timedelta(seconds=61)):
        assert run(stage, job) == "done"
    assert [one["outcome"] for one in now_at(stage, job).result["results"]] == [
        "stored", "stored", "rejected", "stored",
    ]  # fmt: skip
    with stage.context():
        assert WriteDecision.objects.count() == 4


def test_job__delivered_twice__second_finds_nothing_to_do(stage: Stage) -> None:
    job = start(stage, *FACTS)
    ended = at_once([lambda: run(stage, job) for _ in range(4)])
    assert ended.count("done") == 1 and set(ended) <= {"done", "busy", "gone"}
    assert run(stage, job) == "gone"
    with stage.context():
        assert WriteDecision.objects.count() == 4


def test_task__job_in_other_hands__comes_back_later(stage: Stage) -> None:
    job = start(stage, *FACTS)
    with stage.context():
        Job.objects.filter(id=job.id).update(status="running")
    with pytest.raises(Retry):
        tasks.run_write_job.run(str(stage.tenant.id), str(job.id))


def test_job__key_closed_meanwhile__fails_and_says_so(stage: Stage) -> None:
    job = start(stage, *FACTS)
    agent_pause(system(stage.tenant.id, "test"), stage.coder.agent, True)
    assert run(stage, job) == "failed"
    assert "paused" in now_at(stage, job).error
    with stage.context():
        assert not Memory.objects.exists()


def test_job__of_another_tenant__is_not_there(stage: Stage) -> None:
    job = start(stage, *FACTS)
    assert write_job_run(make_tenant().tenant.id, job.id) == "gone"
    assert now_at(stage, job).status == "queued"


def test_sweep__stranded_job__is_sent_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory.services.sweeps import tasks as sweep

    job = start(stage, *FACTS)
    sent: list[UUID] = []
    monkeypatch.setattr(sweep, "dispatch", lambda tenant_id, job_id, kind: sent.append(job_id))
    sweep_tasks(stage.tenant.id)
    assert sent == []
    with clock.moved_to(clock.now() + timedelta(minutes=6)):
        sweep_tasks(stage.tenant.id)
    assert sent == [job.id]


def test_rest__respond_async__202_then_a_real_worker_writes(stage: Stage) -> None:
    coder = Caller(stage.coder)
    items = [{"content": text, "scope": "project:alpha", "origin": "tool_verified"} for text in FACTS]
    app.control.purge()
    with worker() as process:
        answer = coder.post("memories/batch", {"items": [*items, {"content": 5}]}, Prefer="respond-async")
        assert answer.status_code == 202
        job = answer.json()
        assert (job["status"], job["total"], answer["Preference-Applied"]) == ("queued", 5, "respond-async")
        assert answer["Location"].endswith(f"jobs/{job['id']}")
        process.until(r"memory\.run_write_job\[.*succeeded in [\d.]+s: 'done'")
    done = coder.get(f"jobs/{job['id']}").json()
    assert (done["status"], done["done"]) == ("done", 5)
    assert [one["status"] for one in done["result"]["results"]] == [201, 201, 422, 201, 400]
    with stage.context():
        assert Memory.objects.count() == 3


def test_rest__single_write_async__and_again_with_its_idempotency_key__one_job(stage: Stage) -> None:
    coder = Caller(stage.coder)
    body = {"content": FACTS[0], "scope": "project:alpha", "origin": "tool_verified"}
    headers = {"Prefer": "respond-async, wait=5", "Idempotency_Key": "k-1"}
    first = coder.post("memories", body, **headers)
    again = coder.post("memories", body, **headers)
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json()["id"] == first.json()["id"]
    bad = coder.post("memories", {"content": 5}, Prefer="respond-async")
    assert bad.status_code == 400
    with stage.context():
        assert Job.objects.count() == 1
    assert write_job_run(stage.tenant.id, as_uuid(first.json()["id"])) == "done"
