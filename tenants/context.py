"""The tenant context: which tenant the running code works for, in Python and in the database.

Everything that touches a tenant table runs inside ``with tenant_context(tenant_id)``.  The block is one
transaction; the database learns the tenant by ``SET LOCAL`` for just that transaction, so that a pooled connection
can never carry a tenant over to the next request.  (``SET LOCAL`` and not ``set_config``: it reaches the shards of a
distributed database.)

Statements that belong together go to the server in one message, because on the way of every call a round trip costs
as much as the statement: the opening travels with the block's first statement, and the last ones with the commit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import ServerCursor
from psycopg.pq import TransactionStatus

from memgov.postgres.prepared import Prepared

_PLACE = re.compile(r"(?<!%)%s")
_current: ContextVar[UUID | None] = ContextVar("memgov_tenant", default=None)
_ending: ContextVar[_Ending] = ContextVar("memgov_ending")
_assumed: ContextVar[Assumption | None] = ContextVar("memgov_assumed", default=None)


class TenantContextMissing(RuntimeError):
    """A tenant table was used outside a tenant context."""


class TenantMismatch(RuntimeError):
    """Code inside one tenant's context asked for another tenant."""


class AssumptionWrong(BaseException):
    """What the running work was begun with does not hold; nothing of it has been kept.

    No `Exception`, so that nobody who expects faults of the work takes it for one.
    """

    def __init__(self, about: bytes) -> None:
        super().__init__()
        self.about = about


@dataclass(frozen=True, slots=True)
class Assumption:
    """What was known of a tenant a moment ago, on which work is begun, and how to ask whether it still holds."""

    about: bytes
    tenant_id: UUID
    statement: Prepared
    parameters: Sequence[Any]
    holds: Callable[[tuple[Any, ...] | None], bool]
    """Of the first row of the answer."""

    def question(self) -> tuple[str, list[Any]]:
        """A statement and its parameters."""
        return self.statement(self.parameters)

    def confirm(self, row: tuple[Any, ...] | None) -> None:
        """Have it confirmed by the row, or raise `AssumptionWrong`."""
        if not self.holds(row):
            raise AssumptionWrong(self.about)
        _assumed.set(None)


def assume(assumption: Assumption | None) -> None:
    """Begin work on an assumption, until it is confirmed.  The next transaction of its tenant asks, in the message of
    its first statement, and has done nothing when it is wrong."""
    _assumed.set(assumption)


def confirm_assumed() -> None:
    """Ask now, if no transaction has: before anything that a transaction could not take back.

    Raises `AssumptionWrong`.
    """
    assumption = _assumed.get()
    if assumption is not None:
        assumption.confirm(read_one(assumption.tenant_id, *assumption.question()))


def current_tenant_id() -> UUID:
    """The tenant of the running code; raises `TenantContextMissing` outside a context."""
    tenant_id = _current.get()
    if tenant_id is None:
        raise TenantContextMissing("no tenant context: wrap the call in `with tenant_context(tenant_id):`")
    return tenant_id


def in_tenant_context() -> bool:
    """Whether the running code is inside a tenant's context, and so within somebody's transaction."""
    return _current.get() is not None


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
    database = connections[DEFAULT_DB_ALIAS]  # looked up once: each use of `connection` does it again
    ending = _Ending(commits=not database.in_atomic_block)
    token, end_token = _current.set(tenant_id), _ending.set(ending)
    try:
        with transaction.atomic(), _opened(database, tenant_id) as opening:
            yield
            if not transaction.get_rollback():
                ending.run(opening)
    finally:
        _ending.reset(end_token)
        _current.reset(token)


@contextmanager
def savepoint() -> Iterator[None]:
    """A part of a tenant's transaction that an exception takes back alone, with what the part left for its end."""
    current_tenant_id()
    ending = _ending.get()
    before = ending.marks()
    try:
        with transaction.atomic():
            yield
    except BaseException:
        ending.back_to(before)
        raise


@contextmanager
def _opened(database: BaseDatabaseWrapper, tenant_id: UUID) -> Iterator[_Opening]:
    """Send the opening of the transaction ahead of the first statement inside, in one message with it."""
    opening = _Opening(database, tenant_id)
    database.execute_wrappers.append(opening)
    try:
        yield opening
    finally:
        opening.done()


class _Opening:
    """Wraps the first statement that a block executes: BEGIN and SET LOCAL go before it, and the question whether
    what the work assumes still holds."""

    def __init__(self, database: BaseDatabaseWrapper, tenant_id: UUID) -> None:
        self._database = database
        self._naming = _naming(tenant_id)
        assumed = _assumed.get()
        self._assumed = assumed if assumed is not None and assumed.tenant_id == tenant_id else None

    def done(self) -> None:
        """Wrap no more."""
        if self in self._database.execute_wrappers:
            self._database.execute_wrappers.remove(self)

    def alone(self) -> None:
        """Open now, if anything is still to be asked before the first statement: that one will commit."""
        if self._assumed is not None and self in self._database.execute_wrappers:
            with self._database.cursor() as cursor:
                cursor.execute("SELECT 1")

    def __call__(
        self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        self.done()
        asked, values = self._assumed.question() if self._assumed else ("", [])
        before, opening = 1, self._naming
        raw = self._database.connection
        if raw.info.transaction_status == TransactionStatus.IDLE:
            # Or psycopg sends a BEGIN of its own first; Django ends this one as it would that.
            raw.autocommit = True
            before, opening = 2, f"BEGIN;\n{opening}"
        cursor = context["cursor"].cursor
        if many or isinstance(cursor, ServerCursor) or not isinstance(sql, str):
            with self._database.wrap_database_errors:
                self._answered(
                    raw.execute(f"{opening};\n{asked}" if asked else opening, values or None), before
                )
            return execute(sql, params, many, context)
        if asked:
            opening, sql, params = _joined(f"{opening};\n{asked}", values, sql, params)
        result = execute(f"{opening};\n{sql}", params, many, context)
        self._answered(cursor, before)
        if asked:
            cursor.nextset()
        return result

    def _answered(self, cursor: Any, before: int) -> None:
        """Pass over the answers to the opening, and hold what was assumed against its own."""
        for _ in range(before):
            cursor.nextset()
        if self._assumed is not None:
            self._assumed.confirm(cursor.fetchone())


def _joined(ahead: str, values: Sequence[Any], sql: str, params: Any) -> tuple[str, str, Any]:
    """Two statements whose parameters are given as one, in the way of the second's."""
    if params is None:
        return ahead, sql.replace("%", "%%"), values
    if not isinstance(params, Mapping):
        return ahead, sql, [*values, *params]
    names = [f"ahead_{at}" for at in range(len(values))]
    for name in names:
        ahead = _PLACE.sub(f"%({name})s", ahead, count=1)
    return ahead, sql, {**params, **dict(zip(names, values, strict=True))}


class _Ending:
    """What is done last in a transaction, and the statements that go to the server together with its COMMIT."""

    def __init__(self, *, commits: bool) -> None:
        self.calls: list[Callable[[], None]] = []
        self.statements: list[str] = []
        self.parameters: list[Any] = []
        self._commits = commits

    def marks(self) -> tuple[int, int, int]:
        """How much has been asked so far."""
        return len(self.calls), len(self.statements), len(self.parameters)

    def back_to(self, marks: tuple[int, int, int]) -> None:
        """Forget what was asked after."""
        calls, statements, parameters = marks
        del self.calls[calls:], self.statements[statements:], self.parameters[parameters:]

    def run(self, opening: _Opening) -> None:
        """Everything, in the order of asking: calls first, then statements."""
        for call in self.calls:
            call()
        if not self.statements:
            return
        opening.alone()
        if self._commits:
            self.statements.append("COMMIT")  # Django's own finds nothing left to commit, and sends nothing
        with connection.cursor() as cursor:
            cursor.execute(";\n".join(self.statements), self.parameters)


def _naming(tenant_id: UUID) -> str:
    """The statement that names the tenant; of a UUID, hence without anything to escape."""
    return f"SET LOCAL memgov.tenant_id = '{UUID(int=tenant_id.int)}'"


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
            cursor.execute(f"{_naming(tenant_id)};\n{sql}", parameters)
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
    _ending.get().calls.append(call)


def with_commit(sql: str, parameters: Sequence[Any]) -> None:
    """Execute one statement, of which nobody awaits a result, in one message with the COMMIT and its like.

    After everything else of the transaction; a fault of the statement takes the transaction back like any other.
    """
    current_tenant_id()
    ending = _ending.get()
    ending.statements.append(sql)
    ending.parameters.extend(parameters)
