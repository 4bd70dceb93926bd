"""Retention: manifests go with their month or row by row, each tenant as its policy says; bookkeeping goes too."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest
from celery.schedules import crontab
from django.db import DatabaseError, connection, connections, transaction

from memgov import clock
from memgov.celery import app
from memgov.ids import new_id
from memory import schedule
from memory.domain import months as rules
from memory.domain.policy import Policy
from memory.models import AuditEvent, HealthSnapshot, IdempotencyKey, Manifest, ManifestEntry, SweepRun
from memory.selectors import months as found
from memory.services.errors import NotFound
from memory.services.manifest_months import manifest_months_keep
from memory.services.manifest_read import manifest_read
from memory.services.memory_write import memory_write
from memory.services.policies import policy_activate
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.sweeps import sweep_retention
from memory.services.write_types import WriteRequest
from memory.store import months as store
from memory.tasks import keep_manifest_months
from tenants import boundary
from tests.factories import Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")

DAY = timedelta(days=1)
# Long before anything that another test reads.
OLD = date(2001, 2, 1)


def keeping(days: int) -> Stage:
    return make_tenant(policy=Policy.model_validate({"retention": {"manifest_days": days}}))


def read(stage: Stage, at: datetime) -> Manifest:
    """A read with one entry, at that time."""
    with clock.moved_to(at):
        fact = WriteRequest(
            content="The paper mill opens at seven.", scope="project:alpha", origin="tool_verified"
        )
        memory_write(stage.coder.principal, fact)
        answer = memory_retrieve(stage.coder.principal, RetrieveRequest("when does the paper mill open"))
    assert len(answer.entries) == 1
    return answer.manifest


def left(stage: Stage) -> tuple[set[object], int]:
    with stage.context():
        return set(Manifest.objects.values_list("id", flat=True)), ManifestEntry.objects.count()


@pytest.fixture
def old_month() -> Iterator[date]:
    assert store.add(OLD)
    yield OLD
    store.drop(OLD)


def test_rows__short_retention__to_the_day_and_only_of_this_tenant() -> None:
    stage, other, now = keeping(10), keeping(10), clock.now()
    gone, kept = read(stage, now - 11 * DAY), read(stage, now - 9 * DAY)
    theirs = read(other, now - 11 * DAY)
    assert sweep_retention(stage.tenant.id, dry_run=True).changed == 1
    assert left(stage) == ({gone.id, kept.id}, 2)
    run = sweep_retention(stage.tenant.id)
    assert (run.status, run.changed) == ("done", 1)
    assert left(stage) == ({kept.id}, 1)
    assert left(other) == ({theirs.id}, 1)
    with stage.context():
        event = AuditEvent.objects.get(action="records.dropped")
        assert (event.target_id, event.before, event.actor_name) == (
            "manifests",
            {"rows": 1},
            "sweep.retention",
        )
    assert sweep_retention(stage.tenant.id).changed == 0, "a second run finds nothing"


def test_read__past_the_retention__is_hidden_before_any_sweep() -> None:
    stage, now = keeping(10), clock.now()
    manifest = read(stage, now - 10 * DAY)
    with clock.moved_to(now - timedelta(seconds=1)):
        assert manifest_read(stage.coder.principal, manifest.id).as_returned
    for reader in (stage.coder.principal, stage.owner.principal):
        with clock.moved_to(now), pytest.raises(NotFound):
            manifest_read(reader, manifest.id)
    assert left(stage) == ({manifest.id}, 1)


def test_rows_end__long_retention__waits_for_the_whole_month() -> None:
    year, now = timedelta(days=365), datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert rules.rows_end(year, now) == datetime(2025, 11, 1, tzinfo=UTC)
    assert rules.rows_end(year, now + 2 * DAY) == datetime(2025, 11, 1, tzinfo=UTC), (
        "three days to drop it whole"
    )
    assert rules.rows_end(year, now + 4 * DAY) == datetime(2025, 12, 1, tzinfo=UTC)
    assert rules.rows_end(timedelta(days=7), now) == now - 7 * DAY
    assert not rules.is_over(date(2025, 11, 1), year, now)
    assert rules.is_over(date(2025, 11, 1), year, now + DAY)
    assert rules.following(date(2025, 12, 1)) == date(2026, 1, 1)
    assert rules.following(date(2025, 1, 1), -12) == date(2024, 1, 1)


def test_months__this_and_the_next__are_there_and_secured() -> None:
    manifest_months_keep()
    now = rules.month_of(clock.now())
    assert {rules.following(now, ahead) for ahead in range(rules.AHEAD + 1)} <= set(found.months())
    assert boundary.unsecured_tables() == []
    assert boundary.keys_without_tenant() == []
    assert manifest_months_keep().made == [], "made once"


def test_months__kept_by_a_task_that_beat_sends_every_day() -> None:
    entry = app.conf.beat_schedule["manifest-months"]
    assert entry["task"] == schedule.MONTHS and entry["task"] in app.tasks
    assert isinstance(entry["schedule"], crontab) and len(entry["schedule"].hour) == 1
    missing = rules.following(rules.month_of(clock.now()), rules.AHEAD)
    with connections["owner"].cursor() as owner:
        for table in ("memory_manifestentry", "memory_manifest"):
            owner.execute(f"DROP TABLE {table}_m{missing:%Y%m}")
    assert keep_manifest_months() == {"made": [f"{missing:%Y-%m}"], "dropped": [], "left": []}
    assert missing in found.months() and boundary.unsecured_tables() == []


def test_month__a_new_read__stands_in_its_own_partition() -> None:
    stage = make_tenant()
    read(stage, clock.now())
    with stage.context(), connection.cursor() as cursor:
        for table in ("memory_manifest", "memory_manifestentry"):
            cursor.execute(f"SELECT DISTINCT tableoid::regclass::text FROM {table}")
            assert cursor.fetchall() == [(f"{table}_m{clock.now():%Y%m}",)]


def test_month__dropped_only_when_no_tenant_keeps_it(old_month: date) -> None:
    stage, archive = keeping(365), keeping(20_000)
    manifest = read(stage, datetime(2001, 2, 10, tzinfo=UTC))
    recent = read(stage, clock.now())
    assert manifest_months_keep().dropped == []
    assert left(stage)[0] == {manifest.id, recent.id}
    policy_activate(archive.owner.principal, {"retention": {"manifest_days": 365}}, "less is enough")
    assert manifest_months_keep().dropped == [old_month]
    assert left(stage) == ({recent.id}, 1)
    assert old_month not in found.months()
    with stage.context():
        event = AuditEvent.objects.get(action="manifests.dropped")
        assert (event.target_id, event.before) == ("2001-02", {"manifests": 1})
    with archive.context():
        assert not AuditEvent.objects.filter(action="manifests.dropped").exists(), "it lost nothing"


def test_month__kept_by_another_tenant__rows_of_this_one_go_alone(old_month: date) -> None:
    stage, archive, at = keeping(365), keeping(20_000), datetime(2001, 2, 10, tzinfo=UTC)
    read(stage, at)
    theirs = read(archive, at)
    manifest_months_keep()
    assert sweep_retention(stage.tenant.id).changed == 1
    assert left(stage) == (set(), 0)
    assert sweep_retention(archive.tenant.id).changed == 0
    assert left(archive) == ({theirs.id}, 1)
    policy_activate(archive.owner.principal, {"retention": {"manifest_days": 365}}, "less is enough")


def test_month__that_is_not_over__the_database_refuses_to_drop() -> None:
    with pytest.raises(DatabaseError, match="not over"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT memgov.manifest_month_drop(%s)", [rules.month_of(clock.now())])
    assert rules.month_of(clock.now()) in found.months()


def test_month__whose_rows_stand_in_the_rest__is_left_and_its_rows_are_found() -> None:
    stage = keeping(20_000)
    manifest = read(stage, datetime(1999, 5, 10, tzinfo=UTC))
    assert store.add(date(1999, 5, 1)) is None
    assert manifest_read(stage.coder.principal, manifest.id).as_returned
    policy_activate(stage.owner.principal, {"retention": {"manifest_days": 365}}, "less is enough")
    assert sweep_retention(stage.tenant.id).changed == 1
    assert left(stage) == (set(), 0)


def test_bookkeeping__past_its_time__goes_and_the_rest_stays() -> None:
    stage, now = make_tenant(), clock.now()
    with stage.context():
        for number, age in enumerate((timedelta(hours=25), timedelta(hours=23))):
            at = now - age
            IdempotencyKey(
                id=new_id(at), created_at=at, key_id=stage.coder.key.id, key=f"k{number}", body_hash=bytes(32)
            ).save()
        # An old key that was taken again an hour ago.
        IdempotencyKey(
            id=new_id(now - 3 * DAY), created_at=now - timedelta(hours=1), key_id=stage.coder.key.id, key="again",
            body_hash=bytes(32),
        ).save()  # fmt: skip
        for age in (91, 89):
            SweepRun(id=new_id(now - age * DAY), started_at=now - age * DAY, name="decay").save()
        for age in (731, 729):
            HealthSnapshot(id=new_id(now - age * DAY), period=now - age * DAY, figures={}).save()
    assert sweep_retention(stage.tenant.id, dry_run=True).changed == 3
    assert sweep_retention(stage.tenant.id).changed == 3
    with stage.context():
        assert set(IdempotencyKey.objects.values_list("key", flat=True)) == {"k1", "again"}
        assert SweepRun.objects.filter(name="decay").count() == 1
        assert HealthSnapshot.objects.count() == 1
