"""The two clients: the same methods, one waiting and one to be awaited."""

from __future__ import annotations

from types import TracebackType

from typing_extensions import Self

from memgov_client.binding import Listed, Method
from memgov_client.calls import blast as reach
from memgov_client.calls import deleting, reading, watching, working, writing
from memgov_client.calls import memories as known
from memgov_client.carriers import AsyncCarrier, SyncCarrier


class Operations:
    """Every call of the API."""

    whoami = Method(watching.whoami)

    write = Method(writing.write)
    write_later = Method(writing.write_later)
    write_many = Method(writing.write_many)
    write_many_later = Method(writing.write_many_later)
    check = Method(writing.check)

    memory = Method(known.memory)
    memories = Listed(known.memories_page)
    memories_page = Method(known.memories_page)
    revisions = Listed(known.revisions_page)
    revisions_page = Method(known.revisions_page)
    edit = Method(known.edit)
    verify = Method(known.verify)
    delete = Method(known.delete)
    delete_many = Method(deleting.delete_many)
    undo_deletion = Method(deleting.undo_deletion)
    derived = Method(known.derived)
    restore_look = Method(known.restore_look)
    restore = Method(known.restore)

    retrieve = Method(reading.retrieve)
    digest = Method(reading.digest)
    manifest = Method(reading.manifest)
    report_usage = Method(reading.report_usage)

    put_working = Method(working.put_working)
    get_working = Method(working.get_working)
    list_working = Method(working.list_working)
    delete_working = Method(working.delete_working)
    complete_task = Method(working.complete_task)
    roll_back_task = Method(working.roll_back_task)
    undo_rollback = Method(working.undo_rollback)
    end_session = Method(working.end_session)

    promote = Method(watching.promote)
    promotion = Method(watching.promotion)
    promotions = Listed(watching.promotions_page)
    promotions_page = Method(watching.promotions_page)
    answer_promotion = Method(watching.answer_promotion)
    withdraw_promotion = Method(watching.withdraw_promotion)

    blast = Method(reach.blast)
    quarantine_blast = Method(reach.quarantine_blast)
    undo_quarantine = Method(reach.undo_quarantine)

    health = Method(watching.health)
    audit = Listed(watching.audit_page)
    audit_page = Method(watching.audit_page)
    job = Method(watching.job)
    schema = Method(watching.schema)


class Client(SyncCarrier, Operations):
    """Calls that wait.  Use it as a context manager, or `close` it; one client serves many threads.

    ``url`` and ``key`` come from MEMGOV_URL and MEMGOV_KEY when they are not given.  ``timeout`` is in seconds and
    for one attempt; `RetryPolicy` says how patient the whole call is.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(AsyncCarrier, Operations):
    """The same calls, to be awaited; lists are walked with `async for`."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
