"""What travels together: the opening with the first statement, the last statements with the commit."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from memgov.postgres.prepared import Prepared
from memory.models import AuditEvent, ScopeRecord
from tenants.context import (
    TenantContextMissing,
    before_commit,
    read_one,
    savepoint,
    tenant_context,
    with_commit,
)
from tests.factories import Stage, make_tenant
from tests.statements import statements

_ADD = "INSERT INTO memory_scoperecord (tenant_id, id, name, kind, created_at) VALUES (%s, %s, %s, 'project', now())"


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def add(stage: Stage, name: str, *, made: UUID | None = None) -> None:
    with_commit(_ADD, [stage.tenant.id, made or uuid4(), f"project:{name}"])


def names(stage: Stage) -> set[str]:
    with stage.context():
        return set(ScopeRecord.objects.values_list("name", flat=True))


def in_transaction() -> bool:
    return connection.connection.info.transaction_status != 0


def test_block__with_a_last_statement__two_messages(stage: Stage) -> None:
    with CaptureQueriesContext(connection) as captured, stage.context():
        assert ScopeRecord.objects.filter(name="project:one").count() == 0
        add(stage, "one")
    sent = [
        query["sql"] for query in captured if query["sql"] not in ("BEGIN", "COMMIT")
    ]  # Django's own notes
    assert [message.split()[0] for message in sent] == ["BEGIN;", "INSERT"] and sent[1].endswith("COMMIT")
    assert len(statements(captured)) == 2 and not in_transaction()
    assert "project:one" in names(stage)


def test_block__of_nothing__sends_nothing(stage: Stage) -> None:
    with CaptureQueriesContext(connection) as captured, stage.context():
        pass
    assert statements(captured) == [] and not in_transaction()


def test_last_statement__at_fault__takes_everything_back(stage: Stage) -> None:
    twice = uuid4()
    with pytest.raises(IntegrityError), stage.context():
        ScopeRecord.objects.create(tenant_id=stage.tenant.id, name="project:first", kind="project")
        add(stage, "second", made=twice)
        add(stage, "third", made=twice)
    assert names(stage).isdisjoint({"project:first", "project:second", "project:third"})
    assert not in_transaction()


def test_last_statements__of_a_block_that_raises_or_is_rolled_back__are_not_sent(stage: Stage) -> None:
    with pytest.raises(RuntimeError, match="no"), stage.context():
        add(stage, "raised")
        raise RuntimeError("no")
    with stage.context():
        add(stage, "rolled-back")
        transaction.set_rollback(True)
    assert names(stage).isdisjoint({"project:raised", "project:rolled-back"})


def test_inside_an_outer_transaction__the_outer_one_commits(stage: Stage) -> None:
    with transaction.atomic():
        with stage.context():
            add(stage, "joined")
        assert in_transaction(), "only whoever opened it may end it"
        transaction.set_rollback(True)
    assert "project:joined" not in names(stage)


def test_savepoint_first__is_inside_the_tenant(stage: Stage) -> None:
    with stage.context(), transaction.atomic():
        ScopeRecord.objects.create(tenant_id=stage.tenant.id, name="project:within", kind="project")
    assert "project:within" in names(stage)


def test_many_rows_first__and_a_server_cursor_first__are_inside_the_tenant(stage: Stage) -> None:
    with stage.context(), connection.cursor() as cursor:
        cursor.executemany(_ADD, [(stage.tenant.id, uuid4(), f"project:m{at}") for at in range(3)])
    with stage.context():
        walked = {row.name for row in ScopeRecord.objects.all().iterator(chunk_size=2)}
    assert walked >= {"project:m0", "project:m1", "project:m2"}


def test_last_statements_of_a_part_that_is_taken_back__go_with_it(stage: Stage) -> None:
    with stage.context():
        add(stage, "kept")
        before_commit(lambda: add(stage, "called"))
        with pytest.raises(RuntimeError), savepoint():
            add(stage, "taken-back")
            before_commit(lambda: add(stage, "not-called"))
            raise RuntimeError
        with savepoint():
            add(stage, "another")
    assert names(stage) >= {"project:kept", "project:called", "project:another"}
    assert names(stage).isdisjoint({"project:taken-back", "project:not-called"})


def test_calls__run_before_the_statements_that_wait__and_may_add_to_them(stage: Stage) -> None:
    seen: list[int] = []
    with stage.context():
        add(stage, "waits")
        before_commit(lambda: seen.append(ScopeRecord.objects.filter(name="project:waits").count()))
        before_commit(lambda: add(stage, "added"))
    assert seen == [0] and {"project:waits", "project:added"} <= names(stage)


def test_last_statement__without_a_tenant__is_refused(stage: Stage) -> None:
    with pytest.raises(TenantContextMissing):
        with_commit("SELECT 1", [])


def test_read_one__leaves_no_tenant_behind(stage: Stage) -> None:
    assert read_one(stage.tenant.id, "SELECT count(*) FROM memory_auditevent WHERE true", []) != (0,)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memory_auditevent")
        assert cursor.fetchone() == (0,), "row-level security lets nobody through now"
    with stage.context():
        assert AuditEvent.objects.exists(), "positive control"


TWICE = Prepared("test_twice", "SELECT $2::int - $1::int, $1::int, '100%'::text")


@pytest.mark.parametrize("prepared", [True, False])
def test_prepared__or_whole__answers_the_same(stage: Stage, prepared: bool) -> None:
    with (
        override_settings(MEMGOV_PREPARED_STATEMENTS=prepared),
        CaptureQueriesContext(connection) as captured,
    ):
        for _ in range(2):
            with connection.cursor() as cursor:
                cursor.execute(*TWICE([3, 10]))
                assert cursor.fetchone() == (7, 3, "100%")
    assert [query["sql"].startswith("EXECUTE") for query in captured] == [prepared, prepared]


def test_prepared__in_a_transaction_that_fails__is_there_in_the_next(stage: Stage) -> None:
    statement = Prepared(f"test_{uuid4().hex[:8]}", "SELECT $1::int")
    with pytest.raises(RuntimeError), stage.context(), connection.cursor() as cursor:
        cursor.execute(*statement([1]))
        raise RuntimeError
    with tenant_context(stage.tenant.id), connection.cursor() as cursor:
        cursor.execute(*statement([2]))
        assert cursor.fetchone() == (2,)


def test_prepared__on_a_new_connection__is_prepared_anew(stage: Stage) -> None:
    for _ in range(2):
        with connection.cursor() as cursor:
            cursor.execute(*TWICE([1, 1]))
            assert cursor.fetchone()[0] == 0
        connection.close()
