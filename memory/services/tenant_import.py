"""An exported tenant into a new one, row by row as it was: ids, versions, counters, links, pins, manifests, the chain.

Only commands call this.  Lines are taken in order, some hundreds in a transaction together with how far it got, so that
an import that was interrupted goes on where it stood.  Until the end the tenant is suspended: nobody reads half of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError, OperationalError, transaction
from django.db.transaction import TransactionManagementError
from django.utils.text import slugify

from memgov import clock
from memory.domain.exports import Row
from memory.domain.months import month_of
from memory.domain.policy import Policy
from memory.models import Job, Memory
from memory.models.columns import fields_of
from memory.models.memory import LIVE_STATUSES
from memory.services.audit_verify import audit_verify
from memory.services.embedding import vectors_of
from memory.services.errors import Conflict, Invalid
from memory.services.export_secrets import without_secrets
from memory.services.people import address_of
from memory.services.tenant_file import MOST_TOLD, Checked, Progress, rows_from, tenant_file_check
from memory.services.tenant_purge import tenant_purge
from memory.store import audit, months, search_index, tenant_rows
from tenants.context import tenant_context
from tenants.models import Tenant, User
from tenants.principals import system

KIND: Final = "tenant_import"
BATCH: Final = 400
_LINKS: Final = ("superseded_by", "merged_into")
# The database's trouble, not the row's: given again, the file goes on where it stood.
_NOT_THE_ROW: Final = (OperationalError, TransactionManagementError)
# A month is a table of everybody's: a file cannot make any number of them.
_MONTHS_WITHIN: Final = timedelta(days=3_660)
_INDEXED_AT_ONCE: Final = 200


@dataclass(slots=True)
class Imported:
    """What was added by table, the lines that were not (number, why), and whether the audit chain verifies."""

    slug: str
    dry_run: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    skipped: list[tuple[int, str]] = field(default_factory=list)
    secrets: int = 0
    known: bool = False
    resumed_after: int = 0
    chain_holds: bool | None = None

    @property
    def added(self) -> int:
        """Rows that are new."""
        return sum(self.counts.values())


def tenant_import(
    path: Path,
    *,
    slug: str = "",
    dry_run: bool = False,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Import a file under its own slug or another.  The same file again adds nothing.

    Raises `Invalid` for a file that is not whole (unless ``skip_broken``: then what can be read comes in, and each line
    that cannot is named), and `Conflict` when the slug is another tenant's.  After an error nothing is left behind.
    """
    checked = tenant_file_check(path, scan=dry_run, progress=progress)
    slug = slug or str(checked.header["tenant"].get("slug", ""))
    if slugify(slug) != slug or not slug:
        raise Invalid(f"{slug!r} cannot be part of an address: use a-z, 0-9 and hyphens", field="slug")
    if checked.broken and not skip_broken:
        raise Invalid(_broken(path, checked), code="broken_lines", field="file")
    run = _Run(path, checked, slug, skip_broken, progress)
    if dry_run:
        run.find()  # a slug that is taken is told now
        return Imported(slug, True, Counter(checked.counts), checked.broken[:MOST_TOLD], checked.secrets)
    return run.whole()


def _broken(path: Path, checked: Checked) -> str:
    number, why = checked.broken[0]
    more = f" (and {len(checked.broken) - 1} more)" if len(checked.broken) > 1 else ""
    return f"{path}, line {number}: {why}{more}; nothing was imported. --skip-broken imports the rest"


class _Run:
    """One import under way."""

    def __init__(
        self, path: Path, checked: Checked, slug: str, skip_broken: bool, progress: Progress | None
    ) -> None:
        self._path, self._checked = path, checked
        self._skip_broken, self._progress = skip_broken, progress
        self._months: set[Any] = set()
        self.result = Imported(slug)

    def find(self) -> tuple[Tenant, Job] | None:
        """The tenant that an earlier run of the same file made.  Raises `Conflict` when it is another one's."""
        tenant = Tenant.objects.filter(slug=self.result.slug).first()
        if tenant is None:
            return None
        with tenant_context(tenant.id):
            job = Job.objects.filter(kind=KIND, result__sha256=self._checked.sha256).first()
        if job is None:
            said = (
                f"there is a tenant {tenant.slug!r} already; an import makes a new one: name it with --slug"
            )
            raise Conflict(said, code="tenant_exists", field="slug")
        return tenant, job

    def whole(self) -> Imported:
        """Find or make the tenant, and bring in what is not there yet."""
        found = self.find()
        tenant, job = found or self._make()
        if job.status == "done":
            self.result.known = True
            self.result.chain_holds = audit_verify(tenant.id).report.ok
            return self.result
        self.result.resumed_after = job.done
        try:
            self._rows(tenant, job)
            self._link(tenant)
            self._index(tenant)
        except Invalid:
            tenant_purge(tenant)
            raise
        self._end(tenant, job)
        return self.result

    def _make(self) -> tuple[Tenant, Job]:
        """The tenant under its old id, if that is free here, suspended until all is in."""
        known = self._checked.header["tenant"]
        wanted = UUID(str(known["id"]))
        same = {} if Tenant.objects.filter(id=wanted).exists() else {"id": wanted}
        with transaction.atomic():
            tenant = Tenant.objects.create(
                slug=self.result.slug,
                name=str(known.get("name") or self.result.slug)[:200],
                time_zone=str(known.get("time_zone") or "UTC"),
                created_at=datetime.fromisoformat(str(known["created_at"])),
                status=Tenant.Status.SUSPENDED,
                **same,
            )
            with tenant_context(tenant.id):
                job = Job(kind=KIND, status="running", actor_name="import", total=self._checked.lines,
                          result={"sha256": self._checked.sha256})  # fmt: skip
                job.save()
        return tenant, job

    def _rows(self, tenant: Tenant, job: Job) -> None:
        for lines in _batches(rows_from(self._path, job.done)):
            rows = self._readable(lines)
            self._months_of(rows)
            with tenant_context(tenant.id):
                for table, group in groupby(rows, key=lambda one: one[1].table):
                    self._insert(table, list(group))
                job.done = lines[-1][0]
                Job.objects.filter(id=job.id).update(done=job.done, touched_at=clock.now())
            if self._progress:
                self._progress(job.done, self._checked.lines)

    def _readable(self, lines: Sequence[tuple[int, Row | str]]) -> list[tuple[int, Row]]:
        found = []
        for number, row in lines:
            if isinstance(row, str):
                self._skip(number, row)
            else:
                try:
                    _fits(row)
                except (KeyError, TypeError, ValueError) as error:
                    self._skip(number, f"{row.table}: {type(error).__name__}: {str(error)[:200]}")
                else:
                    found.append((number, row))
        return found

    def _insert(self, table: str, rows: list[tuple[int, Row]]) -> None:
        ready = [self._ready(row) for _number, row in rows]
        try:
            with transaction.atomic():
                tenant_rows.insert(table, ready)
        except _NOT_THE_ROW:
            raise
        except DatabaseError:
            self._one_by_one(table, rows, ready)
            return
        self.result.counts[table] += len(ready)

    def _one_by_one(self, table: str, rows: list[tuple[int, Row]], ready: list[dict[str, Any]]) -> None:
        """Find the row that does not fit; without `skip_broken` it ends the import."""
        for (number, _row), columns in zip(rows, ready, strict=True):
            try:
                with transaction.atomic():
                    tenant_rows.insert(table, [columns])
            except _NOT_THE_ROW:
                raise
            except DatabaseError as error:
                self._skip(number, _why(error))
            else:
                self.result.counts[table] += 1

    def _skip(self, number: int, why: str) -> None:
        if not self._skip_broken:
            raise Invalid(
                f"{self._path}, line {number}: {why}; nothing was imported", code="broken_lines", field="file"
            )
        if len(self.result.skipped) < MOST_TOLD:
            self.result.skipped.append((number, why))

    def _ready(self, row: Row) -> dict[str, Any]:
        """The columns as they are to be stored."""
        columns = {**_missing(row), **row.columns}
        self.result.secrets += without_secrets(row.table, columns)
        if row.table == "memory_memory":
            columns |= dict.fromkeys(_LINKS)  # tied when all are there
        if row.table == "tenants_membership":
            columns["user_id"] = str(_person(str(columns["email"]), str(columns.get("name") or "")).id)
        return columns

    def _months_of(self, rows: Sequence[tuple[int, Row]]) -> None:
        """Make the months that manifests of the batch belong to."""
        for _number, row in rows:
            if row.table == "memory_manifest":
                try:
                    month = month_of(datetime.fromisoformat(str(row.columns["at"])))
                except (KeyError, ValueError):
                    continue
                near = abs((month - clock.now().date()).days) < _MONTHS_WITHIN.days
                if near and month not in self._months:  # others go where rows without a month go
                    self._months.add(month)
                    months.add(month)

    def _link(self, tenant: Tenant) -> None:
        links: list[tuple[str, str | None, str | None]] = []
        for _number, row in rows_from(self._path, 1):
            if isinstance(row, Row) and row.table == "memory_memory" and any(map(row.columns.get, _LINKS)):
                links.append(
                    (str(row.columns.get("id")), row.columns.get(_LINKS[0]), row.columns.get(_LINKS[1]))
                )
        for at in range(0, len(links), BATCH):
            self._linked(tenant, links[at : at + BATCH])

    def _linked(self, tenant: Tenant, links: list[tuple[str, str | None, str | None]]) -> None:
        try:
            with tenant_context(tenant.id):
                tenant_rows.link(links)
        except _NOT_THE_ROW:
            raise
        except DatabaseError as error:
            if not self._skip_broken:
                raise Invalid(f"{self._path}: {_why(error)}; nothing was imported", field="file") from None
            for one in links if len(links) > 1 else ():
                self._linked(tenant, [one])

    def _index(self, tenant: Tenant) -> None:
        """Make the live memories findable; vectors are made outside the transaction."""
        last = UUID(int=0)
        while True:
            with tenant_context(tenant.id):
                live = Memory.objects.filter(status__in=LIVE_STATUSES, id__gt=last).order_by("id")
                memories = list(live[:_INDEXED_AT_ONCE])
            if not memories:
                return
            vectors = vectors_of([memory.content for memory in memories])
            with tenant_context(tenant.id):
                search_index.index_many(zip(memories, vectors, strict=True))
            last = memories[-1].id

    def _end(self, tenant: Tenant, job: Job) -> None:
        """Open the tenant, with an event in its chain that says how it came here."""
        now = clock.now()
        self.result.chain_holds = audit_verify(tenant.id).report.ok
        after = {
            "rows": self.result.added,
            "skipped": len(self.result.skipped),
            "sha256": self._checked.sha256,
        }
        with tenant_context(tenant.id):
            Job.objects.filter(id=job.id).update(status="done", finished_at=now, touched_at=now)
            Tenant.objects.filter(id=tenant.id).update(status=Tenant.Status.ACTIVE)
            event = audit.Event("tenant.imported", "tenant", str(tenant.id), after=after)
            audit.append(system(tenant.id, "cli.import"), [event], now)


def _batches(lines: Iterator[tuple[int, Row | str]]) -> Iterator[list[tuple[int, Row | str]]]:
    batch: list[tuple[int, Row | str]] = []
    for line in lines:
        batch.append(line)
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _fits(row: Row) -> None:
    """What no constraint refuses and later code fails on.  Raises `KeyError`, `TypeError` or `ValueError`."""
    if row.table == "tenants_membership":
        address_of(str(row.columns["email"]))
    if row.table == "memory_policyversion":
        Policy.model_validate(row.columns["document"])


def _missing(row: Row) -> dict[str, Any]:
    """What an older memgov did not have yet, as a new row would have it."""
    return {
        str(one.column): one.get_default()
        for one in fields_of(row.table)
        if one.column not in row.columns and one.has_default()
    }


def _person(email: str, name: str) -> User:
    """The person with this address here; a new one has no password and sets one by mail."""
    address = email.strip().lower()
    known = User.objects.filter(email=address).first()
    return known or User.objects.create_user(address, None, name=name[:200])


def _why(error: DatabaseError) -> str:
    """What the database says, without the values that it repeats."""
    said = getattr(getattr(error.__cause__, "diag", None), "message_primary", None)
    return str(said or error).splitlines()[0][:300]
