"""Writing a tenant's vocabulary.  Every change raises its version, under the lock of its head."""

from __future__ import annotations

from datetime import datetime

from django.db import connection

from memgov.ids import new_id
from memory.models import PredicateSetting, SubjectAlias
from tenants.context import current_tenant_id

_RAISE = """
INSERT INTO memory_vocabularyhead AS h (tenant_id, id, version) VALUES (%s, %s, 1)
ON CONFLICT (tenant_id) DO UPDATE SET version = h.version + 1 RETURNING version
"""


def raise_version() -> int:
    """The next version; holds the vocabulary until the transaction ends.  Call first."""
    with connection.cursor() as cursor:
        cursor.execute(_RAISE, [current_tenant_id(), new_id()])
        return int(cursor.fetchone()[0])


def put_alias(alias: str, subject: str, actor: str, now: datetime) -> SubjectAlias:
    """Store an alias, in place of what it meant before."""
    fields = {"subject": subject, "created_by": actor, "created_at": now}
    row: SubjectAlias | None = SubjectAlias.objects.filter(alias=alias).first()
    if row is None:
        row = SubjectAlias(tenant_id=current_tenant_id(), alias=alias, **fields)
        SubjectAlias.objects.bulk_create([row])
    else:
        SubjectAlias.objects.filter(id=row.id).update(**fields)
    return row


def drop_alias(row: SubjectAlias) -> None:
    """Remove an alias."""
    SubjectAlias.objects.filter(id=row.id).delete()


def put_predicate(setting: PredicateSetting) -> PredicateSetting:
    """Store the rule of a predicate, in place of the tenant's earlier one."""
    present: PredicateSetting | None = PredicateSetting.objects.filter(name=setting.name).first()
    if present is None:
        setting.tenant_id = current_tenant_id()
        PredicateSetting.objects.bulk_create([setting])
        return setting
    setting.id = present.id
    names = (
        "single_valued",
        "volatile",
        "normaliser",
        "ages",
        "half_life_days",
        "aliases",
        "updated_by",
        "updated_at",
    )
    PredicateSetting.objects.filter(id=present.id).update(**{name: getattr(setting, name) for name in names})
    return setting


def drop_predicate(row: PredicateSetting) -> None:
    """Remove the tenant's rule of a predicate; the built-in one holds again."""
    PredicateSetting.objects.filter(id=row.id).delete()
