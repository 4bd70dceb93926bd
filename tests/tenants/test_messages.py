"""What travels together: the opening with the first statement, the last statements with the commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from memgov.postgres.prepared import Prepared
from memory.models import AuditEvent, ScopeRecord
from tenants.context import (
    Assumption,
    AssumptionWrong,
    TenantContextMissing,
    assume,
    before_commit,
    confirm_assumed,
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


NAME_OF = Prepared("name_of_tenant", "SELECT name FROM tenants_tenant WHERE id = $1")


@pytest.fixture
def named(stage: Stage) -> Iterator[Callable[[str], None]]:
    """Assume that the stage's tenant has a name."""

    def so(name: str) -> None:
        assume(
            Assumption(
                b"it",
                stage.tenant.id,
                NAME_OF,
                [stage.tenant.id],
                lambda row: row is not None and row[0] == name,
            )
        )

    yield so
    assume(None)


def _executed(sql: str, parameters: Any = None) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchone()[0]


def _by_a_server_side_cursor() -> bool:
    return bool(next(AuditEvent.objects.values_list("action", flat=True).iterator()))


def _many() -> int:
    with connection.cursor() as cursor:
        cursor.executemany("SELECT %s || current_setting('memgov.tenant_id')", [["a"], ["b"]])
    return 2


FIRST: dict[str, tuple[Callable[[], Any], Any]] = {
    "without parameters": (lambda: _executed("SELECT 7 % 4 || '%s'"), "3%s"),
    "with parameters": (lambda: _executed("SELECT %s || '%%'", ["a"]), "a%"),
    "with named parameters": (lambda: _executed("SELECT %(a)s || '%%'", {"a": "b"}), "b%"),
    "of the models": (lambda: ScopeRecord.objects.filter(name="shared").count(), 0),
    "for many rows": (_many, 2),
    "by a server-side cursor": (_by_a_server_side_cursor, True),
}


@pytest.mark.parametrize("first", FIRST)
def test_assumption__that_holds__is_asked_with_the_first_statement_and_once(
    stage: Stage, named: Callable[[str], None], first: str
) -> None:
    named("Test tenant")
    act, answer = FIRST[first]
    with CaptureQueriesContext(connection) as captured, stage.context():
        assert act() == answer
        assert act() == answer
    asked = [part for part in statements(captured) if "name_of_tenant" in part]
    assert len(asked) <= 1  # what goes to the driver itself is not captured
    named("Test tenant")
    with stage.context():
        act()
    with CaptureQueriesContext(connection) as captured:
        confirm_assumed()
    assert not statements(captured), "the transaction has asked"


@pytest.mark.parametrize("first", FIRST)
def test_assumption__that_is_wrong__ends_the_transaction_at_its_first_statement(
    stage: Stage, named: Callable[[str], None], first: str
) -> None:
    before = names(stage)
    named("Another name")
    with pytest.raises(AssumptionWrong), stage.context():
        FIRST[first][0]()
        add(stage, "late")
    assert not in_transaction()
    assume(None)
    assert names(stage) == before


def test_assumption__that_is_wrong__keeps_nothing_of_a_block_that_only_ends(
    stage: Stage, named: Callable[[str], None]
) -> None:
    before = names(stage)
    named("Another name")
    with pytest.raises(AssumptionWrong), stage.context():
        add(stage, "at the end")
    assume(None)
    assert names(stage) == before


def test_assumption__of_another_tenant_or_that_nothing_asked__waits(
    stage: Stage, named: Callable[[str], None]
) -> None:
    named("Another name")
    other = make_tenant()
    with other.context():
        assert AuditEvent.objects.exists()
    with pytest.raises(AssumptionWrong):
        confirm_assumed()
