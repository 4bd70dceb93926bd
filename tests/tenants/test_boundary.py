"""The tenant boundary, seen from Python, from SQL and from the schema."""

from __future__ import annotations

from uuid import UUID

import psycopg
import pytest
from django.apps import apps
from django.conf import settings
from django.db import IntegrityError, ProgrammingError, connection, connections, models, transaction

from memgov.ids import new_id
from memory.models import ManifestEntry, Memory, MemoryIndex, Revision
from tenants import boundary
from tenants.checks import database_holds_the_boundary, tenant_tables_have_their_shape
from tenants.context import TenantContextMissing, TenantMismatch, current_tenant_id, tenant_context
from tests.factories import Stage
from tests.full_house import full_house

pytestmark = pytest.mark.usefixtures("database")

TENANT_MODELS = [
    model
    for model in apps.get_models()
    if any(getattr(field, "attname", "") == "tenant_id" for field in model._meta.concrete_fields)
]
names = [model.__name__ for model in TENANT_MODELS]


@pytest.fixture(scope="module")
def ours(database: None) -> Stage:
    return full_house()


@pytest.fixture(scope="module")
def theirs(database: None) -> Stage:
    return full_house()


def key_of(model: type[models.Model]) -> str:
    return {MemoryIndex: "memory_id", ManifestEntry: "manifest_id"}.get(model, "id")


@pytest.mark.parametrize("model", TENANT_MODELS, ids=names)
def test_manager__outside_a_context__raises(model: type[models.Model]) -> None:
    with pytest.raises(TenantContextMissing):
        model._default_manager.count()


@pytest.mark.parametrize("model", TENANT_MODELS, ids=names)
def test_model__with_the_other_tenants_ids__finds_and_changes_nothing(
    model: type[models.Model], ours: Stage, theirs: Stage
) -> None:
    with theirs.context():
        ids = list(model._default_manager.values_list(key_of(model), flat=True))
        assert ids, f"{model.__name__} has no row to look for: the test would prove nothing"
    by_id = {f"{key_of(model)}__in": ids}
    with ours.context():
        assert model._default_manager.exists(), "positive control: our own rows are there"
        assert not model._default_manager.filter(**by_id).exists()
        # Past the manager, straight at the rows: row-level security holds by itself.
        assert not model._base_manager.filter(**by_id).exists()
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT count(*) FROM {model._meta.db_table} WHERE {key_of(model)} = ANY(%s)", [ids]
            )
            assert cursor.fetchone() == (0,)
    with theirs.context():
        assert model._default_manager.filter(**by_id).count() == len(ids)


@pytest.mark.parametrize("model", TENANT_MODELS, ids=names)
def test_table__app_role_without_tenant__sees_nothing_and_may_not_insert(
    model: type[models.Model], ours: Stage
) -> None:
    table = model._meta.db_table
    with psycopg.connect(_app_dsn(), autocommit=True) as bare:
        assert bare.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)  # type: ignore[arg-type]
        with pytest.raises(psycopg.errors.InsufficientPrivilege), ours.context():
            bare.execute(_copy_of_one_row(model, ours.tenant.id))  # type: ignore[arg-type]


def _app_dsn() -> str:
    database = settings.DATABASES["default"]
    return (
        f"host={database['HOST']} port={database['PORT']} dbname={database['NAME']} "
        f"user={database['USER']} password={database['PASSWORD']}"
    )


def _copy_of_one_row(model: type[models.Model], tenant_id: UUID) -> str:
    """An INSERT of a well-formed row of the tenant, as text, made where it may be read."""
    row = model._default_manager.first()
    assert row is not None
    columns = [field for field in model._meta.concrete_fields if field.column]
    values = [
        field.get_db_prep_save(new_id() if field.column == "id" else getattr(row, field.attname), connection)
        for field in columns
    ]
    named, marks = ", ".join(field.column for field in columns), ", ".join("%s" for _ in columns)
    sql = f"INSERT INTO {model._meta.db_table} ({named}) VALUES ({marks})"
    connection.ensure_connection()
    return psycopg.ClientCursor(connection.connection).mogrify(sql, values)


def test_save__row_of_another_tenant__refused(ours: Stage, theirs: Stage) -> None:
    with ours.context():
        memory = Memory.objects.first()
        assert memory is not None
        memory.tenant_id = theirs.tenant.id
        with pytest.raises(TenantMismatch):
            memory.save()
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            Memory._base_manager.bulk_create([memory])


def test_reference__to_another_tenants_memory__refused_by_the_database(ours: Stage, theirs: Stage) -> None:
    with theirs.context():
        foreign = Memory.objects.first()
        assert foreign is not None
    with ours.context():
        own = Memory.objects.first()
        assert own is not None
        good = Revision(memory_id=own.id, version=900, event="test", state={})
        good.save()  # positive control
        with pytest.raises(IntegrityError, match="same_tenant"), transaction.atomic():
            Revision(memory_id=foreign.id, version=900, event="test", state={}).save()
        Revision.objects.filter(version=900).delete()


def test_context__nested_for_another_tenant__raises(ours: Stage, theirs: Stage) -> None:
    with ours.context(), pytest.raises(TenantMismatch), theirs.context():
        pass


def test_context__after_it_ends__the_connection_forgets_the_tenant(ours: Stage) -> None:
    with ours.context():
        assert current_tenant_id() == ours.tenant.id
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memory_memory")
        assert cursor.fetchone() == (0,)


def test_context__inner_failure_caught_outside__whole_transaction_is_lost(ours: Stage) -> None:
    class Oops(Exception):
        pass

    with ours.context():
        before = Memory.objects.filter(tool="marker").count()
    with pytest.raises(transaction.TransactionManagementError), tenant_context(ours.tenant.id):
        try:
            with tenant_context(ours.tenant.id):
                Memory.objects.update(tool="marker")
                raise Oops
        except Oops:
            Memory.objects.exists()  # the transaction is doomed: nothing half done can be committed
    with ours.context():
        assert Memory.objects.filter(tool="marker").count() == before


def test_checks__on_the_real_database__find_nothing() -> None:
    assert tenant_tables_have_their_shape() == []
    assert database_holds_the_boundary(databases=["default"]) == []


HOLES = {
    "a table without row-level security": (
        "CREATE TABLE stray (tenant_id uuid, id uuid, PRIMARY KEY (tenant_id, id))",
        "DROP TABLE stray",
        "tenants.E003",
    ),
    "a unique index without the tenant": (
        "CREATE UNIQUE INDEX stray ON memory_job (id)",
        "DROP INDEX stray",
        "tenants.E004",
    ),
    "security that the owner passes": (
        "ALTER TABLE memory_job NO FORCE ROW LEVEL SECURITY",
        "ALTER TABLE memory_job FORCE ROW LEVEL SECURITY",
        "tenants.E003",
    ),
    "a partition without it": (
        "ALTER TABLE memory_index_07 DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE memory_index_07 ENABLE ROW LEVEL SECURITY",
        "tenants.E003",
    ),
}


@pytest.mark.parametrize(("ddl", "drop", "code"), HOLES.values(), ids=HOLES)
def test_checks__hole_in_the_schema__is_found(ddl: str, drop: str, code: str) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(ddl)
    try:
        assert [found.id for found in database_holds_the_boundary(databases=["default"])] == [code]
    finally:
        with connections["owner"].cursor() as cursor:
            cursor.execute(drop)


def test_checks__role_that_could_pass__is_found() -> None:
    assert boundary.role_problems("default") == []
    assert boundary.role_problems("owner") == [f"role {settings.DATABASES['owner']['USER']} owns tables"]


def test_owner__reads_without_a_tenant__sees_nothing_either() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memory_memory")
        assert cursor.fetchone() == (0,)


def test_memberships_of__person_of_two_tenants__only_theirs(ours: Stage, theirs: Stage) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id, role FROM memgov.memberships_of(%s)", [ours.owner.user.id])
        assert cursor.fetchall() == [(ours.tenant.id, "owner")]
