"""The tenant context: which tenant the running code works for, in Python and in the database.

Everything that touches a tenant table runs inside ``with tenant_context(tenant_id)``.  The block is one
transaction; the database learns the tenant by ``SET LOCAL`` for just that transaction, so that a pooled connection
can never carry a tenant over to the next request.  (``SET LOCAL`` and not ``set_config``: it reaches the shards of a
distributed database.)

Statements that belong together go to the server in one message: on the way of every call, a round trip costs as much
as the statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from psycopg.pq import TransactionStatus

_SET_LOCAL = "SET LOCAL memgov.tenant_id = %s"
_current: ContextVar[UUID | None] = ContextVar("memgov_tenant", default=None)
_ends: ContextVar[list[Callable[[], None]]] = ContextVar("memgov_ends")


class TenantContextMissing(RuntimeError):
    """A tenant table was used outside a tenant context."""


class TenantMismatch(RuntimeError):
    """Code inside one tenant's context asked for another tenant."""


def current_tenant_id() -> UUID:
    """The tenant of the running code; raises `TenantContextMissing` outside a context."""
    tenant_id = _current.get()
    if tenant_id is None:
        raise TenantContextMissing("no tenant context: wrap the call in `with tenant_context(tenant_id):`")
    return tenant_id


@contextmanager
def tenant_context(tenant_id: UUID) -> Iterator[None]:
    """Work for one tenant in one transaction.

    Nested for the same tenant it joins the outer transaction (an exception dooms the whole of it, so that
    nothing half done can be committed by an outer ``except``); nested for another tenant it raises
    `TenantMismatch`.
    """
    current = _current.get()
    if current is not None and current != tenant_id:
        raise TenantMismatch(f"already working for tenant {current}")
    if current == tenant_id:
        with transaction.atomic(savepoint=False):
            yield
        return
    token, ends = _current.set(tenant_id), _ends.set([])
    try:
        with transaction.atomic():
            _begin(tenant_id)
            yield
            if not transaction.get_rollback():
                for call in _ends.get():
                    call()
    finally:
        _ends.reset(ends)
        _current.reset(token)


def _begin(tenant_id: UUID) -> None:
    """Open the transaction and name the tenant, in one message."""
    raw = connection.connection
    if raw.info.transaction_status == TransactionStatus.IDLE:
        raw.autocommit = (
            True  # or psycopg sends a BEGIN of its own first; Django ends this one as it would that
        )
        opening = f"BEGIN; {_SET_LOCAL}"
    else:
        opening = _SET_LOCAL
    with connection.cursor() as cursor:
        cursor.execute(opening, [str(tenant_id)])


def read_one(tenant_id: UUID, sql: str, parameters: Sequence[Any]) -> tuple[Any, ...] | None:
    """The first row of one statement, read for a tenant in one round trip and a transaction of its own.

    For what every call asks before its work begins.  Inside a tenant's context it is an ordinary statement there.
    """
    current = _current.get()
    if current is not None and current != tenant_id:
        raise TenantMismatch(f"already working for tenant {current}")
    with connection.cursor() as cursor:
        if current is None:
            # Several statements in one message are one transaction, to which SET LOCAL belongs.
            cursor.execute(f"{_SET_LOCAL}; {sql}", [str(tenant_id), *parameters])
            cursor.nextset()
        else:
            cursor.execute(sql, parameters)
        row: tuple[Any, ...] | None = cursor.fetchone()
    return row


def before_commit(call: Callable[[], None]) -> None:
    """Run the call as the last thing of the present transaction, in the order of asking; never after an error.

    For locks that everybody needs, such as the end of the audit chain: taken last, they are never waited for by
    someone who holds something else.
    """
    current_tenant_id()
    _ends.get().append(call)
