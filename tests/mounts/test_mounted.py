"""Mounted memories beside sweeps, caps, restores and other writers."""

from __future__ import annotations

import threading
from datetime import timedelta
from time import sleep

import pytest
from django.db import connection

from memgov import clock
from memory.domain.policy import Policy
from memory.models import Memory
from memory.services import mounts
from memory.services.retention import memory_restore
from memory.services.sweeps import SWEEPS
from memory.store.memories import lock
from tests.factories import Stage, make_tenant
from tests.mounts.files import (
    STAGING,
    TABS,
    apply,
    given,
    manifest,
    memory_of,
    read,
    ref,
    say,
    write,
)

pytestmark = pytest.mark.usefixtures("database")


def test_sweeps__mounted_and_idle_for_long__stays_and_the_unmounted_goes(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING)]))
    write(stage.coder.principal, TABS)
    later = clock.now() + timedelta(days=400)
    with clock.moved_to(later):
        SWEEPS["decay"](stage.tenant.id, now=later)
    states = memory_of(stage, STAGING).status, memory_of(stage, TABS).status
    assert states == ("live", "evicted")


def test_cap__full_scope__gives_up_others_than_the_mounted(database: None) -> None:
    policy = Policy.model_validate({"reconciliation": {"cap": 2}})
    stage = make_tenant(policy=policy)
    known = write(stage.coder.principal, TABS, confidence=0.7)
    apply(stage, manifest([ref(known)]))
    for n in range(3):
        write(stage.coder.principal, f"Hall {n} of alpha has {n + 3} presses.", confidence=0.9)
    assert memory_of(stage, TABS).status == "live"
    with stage.context():
        assert Memory.objects.filter(status="archived").count() == 2
        assert Memory.objects.filter(status="live").count() == 2


def test_restore__of_what_a_mount_took_away__works_as_for_any_other(stage: Stage) -> None:
    apply(stage, manifest([say(STAGING)]))
    apply(stage, manifest([]))
    memory_restore(stage.owner.principal, memory_of(stage, STAGING).id, "still true")
    assert memory_of(stage, STAGING).status == "live"
    assert given(read(stage.coder.principal)) == []


def test_apply__deadlock_with_a_writer__is_waited_out(stage: Stage) -> None:
    """The writer holds the second memory and wants the first; the apply holds the first and wants the second."""
    first, second = write(stage.coder.principal, STAGING), write(stage.coder.principal, TABS)
    holds, tries = threading.Event(), []

    def writer() -> None:
        try:
            with stage.context():
                lock([second.id])
                holds.set()
                while not tries or not _is_waited_for():
                    sleep(0.02)
                lock([first.id])
        finally:
            connection.close()

    thread = threading.Thread(target=writer)
    thread.start()
    holds.wait(10)
    with pytest.MonkeyPatch.context() as patch:
        real = mounts._attempt
        patch.setattr(mounts, "_attempt", lambda *given: tries.append(1) or real(*given))
        result = apply(stage, manifest([say(STAGING), say(TABS)]))
    thread.join()
    assert (result.count("add"), len(tries)) == (2, 2)
    assert given(read(stage.coder.principal)) == [STAGING, TABS]


def _is_waited_for() -> bool:
    """Whether somebody waits for a lock that this connection holds."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()")
        return bool(cursor.fetchone()[0])
