"""Files of imports and exports: forgotten after a day, and with their tenant."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from memgov import clock
from tests.transfers.doing import files, look, run

if TYPE_CHECKING:
    from tests.factories import Stage


def test_files__older_than_a_day__go(stage: Stage) -> None:
    from memory.services.errors import Conflict
    from memory.services.transfer_files import Incoming, expire
    from memory.services.transfers import import_begin

    looked = run(stage, look(stage))
    left = Incoming()
    left.write(b"never finished")
    left.close()
    expire(clock.now())
    assert len(files(stage)) == 1 and left.path.exists()
    old = (clock.now() - timedelta(hours=25)).timestamp()
    for path in (*files(stage), left.path):
        os.utime(path, (old, old))
    assert expire(clock.now()) >= 2
    assert files(stage) == [] and not left.path.exists()
    with pytest.raises(Conflict):
        import_begin(stage.owner.principal, looked.id)


def test_files__that_cannot_go_or_are_not_ours__stay_and_stop_nothing(stage: Stage) -> None:
    from django.conf import settings

    from memory.services.transfer_files import expire, folder_of, path_of
    from memory.tasks import end_tenants

    own, stuck = path_of(stage.tenant.id, stage.tenant.id), folder_of(stage.tenant.id) / ("a" * 32)
    part = own.with_name(own.name + ".part")
    others = settings.MEMGOV_FILES_DIR / f"notes of {stage.tenant.slug}"
    foreign = [own.with_name("notes.txt"), others / ("b" * 32)]
    stuck.mkdir()
    others.mkdir()
    old = (clock.now() - timedelta(hours=25)).timestamp()
    for path in (own, part, *foreign):
        path.write_bytes(b"x")
    for path in (own, part, *foreign, stuck):
        os.utime(path, (old, old))
    assert expire(clock.now()) >= 2
    assert not own.exists() and not part.exists() and stuck.exists()
    assert all(path.exists() for path in foreign), "the folder has other things in it"
    end_tenants()


def test_tenants__whose_day_has_come__end_whatever_becomes_of_files(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory import tasks
    from tenants.models import Tenant

    def broken(*_: Any) -> int:
        raise OSError("the disk is away")

    monkeypatch.setattr(tasks, "expire", broken)
    with stage.context():
        Tenant.objects.filter(id=stage.tenant.id).update(deletes_at=clock.now() - timedelta(minutes=1))
    with pytest.raises(OSError, match="disk is away"):
        tasks.end_tenants()
    assert not Tenant.objects.filter(id=stage.tenant.id, status=Tenant.Status.ACTIVE).exists()


def test_tenant__purged__leaves_no_file(stage: Stage) -> None:
    from memory.services.transfer_files import folder_of, forget

    look(stage)
    forget(stage.tenant.id)
    assert files(stage) == [] and folder_of(stage.tenant.id).exists()
