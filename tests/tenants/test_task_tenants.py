"""Background work enters one tenant: whatever a task is told, the others stay as they are."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app

from memgov import clock
from memory import schedule, tasks
from memory.models import AlertDelivery, AuditEvent, Memory, SweepRun
from memory.services.memory_write import memory_write
from memory.services.sweeps import SWEEPS
from memory.services.write_types import WriteRequest
from tests.factories import Stage
from tests.full_house import full_house

pytestmark = pytest.mark.usefixtures("database")

# Tasks that work for one tenant get its id; the rest is listed here with the reason.
WITHOUT_TENANT = {
    schedule.DISPATCH: "only sends one message for each active tenant",
    schedule.WATCH_ALL: "only sends one message for each active tenant",
    schedule.NOTE_PROCESS: "says of a process, in each active tenant alike, that it is silent or back",
    schedule.MONTHS: "makes and drops months of all tenants; a month goes when it is over for each of them",
    schedule.SANDBOX: "fills one fresh demo tenant, which nobody else knows; held by tests/demo",
    schedule.TENANT_ENDS: "deletes whole tenants, each by its own day",
    schedule.BEAT_HEARTBEAT: "touches no tenant's rows",
}


@pytest.fixture(scope="module")
def ours(database: None) -> Stage:
    return aged_house()


@pytest.fixture(scope="module")
def theirs(database: None) -> Stage:
    return aged_house()


def aged_house() -> Stage:
    """A full house with something for every sweep to do: expired, decayed and stale rows."""
    stage = full_house()
    with clock.moved_to(clock.now() - timedelta(days=300)):
        for content, ttl in (
            ("The old lift carries four hundred kilos.", None),
            ("The fair ends in a day.", "2d"),
        ):
            request = WriteRequest(content=content, scope="project:alpha", origin="tool_verified", ttl=ttl)
            memory_write(stage.coder.principal, request)
    return stage


def everything(stage: Stage) -> list[Any]:
    with stage.context():
        return [
            sorted(map(str, Memory.objects.values_list("id", "status", "version", "confidence"))),
            AuditEvent.objects.count(),
            SweepRun.objects.count(),
        ]


def test_tasks__all_of_them__are_known_here() -> None:
    ours = {name for name in current_app.tasks if name.startswith("memory.")}
    assert ours == {
        schedule.RUN, schedule.WRITE_JOB, schedule.BLAST_JOB, schedule.SWEEP_UNDO, schedule.DELETE_JOB,
        schedule.ERASE_JOB,
        schedule.PREVIEW_JOB, schedule.TRANSFER_JOB, schedule.WATCH,
        schedule.DELIVER, *WITHOUT_TENANT,
    }  # fmt: skip


def test_watch_and_delivery__for_one_tenant__change_nothing_of_another(ours: Stage, theirs: Stage) -> None:
    """Not even when the message of another tenant is named."""

    def messages(stage: Stage) -> list[Any]:
        with stage.context():
            return list(
                AlertDelivery.objects.order_by("id").values_list("id", "status", "attempts", "next_at")
            )

    before = (everything(theirs), messages(theirs))
    assert before[1], "there is a message that could be sent"
    for tenant in (ours, theirs):
        tasks.deliver_alert(str(ours.tenant.id), str(messages(tenant)[0][0]))
    tasks.watch_tenant(str(ours.tenant.id))
    assert (everything(theirs), messages(theirs)) == before
    assert messages(ours)[0][1] == "sent", "positive control"


@pytest.mark.parametrize("name", SWEEPS)
def test_sweep__for_one_tenant__changes_nothing_of_another(name: str, ours: Stage, theirs: Stage) -> None:
    before, own_before = everything(theirs), everything(ours)
    tasks.run_sweep(name, str(ours.tenant.id))
    assert everything(theirs) == before
    assert everything(ours) != own_before, "positive control: the sweep ran for its own tenant"
