"""A whole tenant as one file: JSON lines that `tenant_import` reads back exactly, or its memories as CSV.

What is in it is one instant of the database.  The file is written beside its name and takes it only when it is whole.
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from django.contrib.postgres.fields import ArrayField
from django.db.models import BooleanField, DateTimeField, Field, FloatField, IntegerField, JSONField

from memgov import clock
from memory.domain.exports import FORMAT, VERSION, cell, line_of
from memory.models.columns import columns_of, fields_of
from memory.selectors import export
from memory.services.errors import Invalid
from memory.services.export_parquet import parquet_needed, parquet_write
from memory.services.export_secrets import without_secrets
from memory.services.transfer_files import UNFINISHED
from memory.store import audit
from tenants.context import tenant_context
from tenants.models import Tenant
from tenants.principals import Principal

Progress = Callable[[int, int], None]
MEMORY: Final = "memory_memory"
FORMATS: Final = ("jsonl", "csv", "parquet")
_TELL_EVERY: Final = 500


@dataclass(slots=True)
class Exported:
    """Rows by table, and the secrets that were blanked out, which older rows can hold."""

    counts: Counter[str] = field(default_factory=Counter)
    secrets: int = 0
    sha256: str = ""


def tenant_export(
    actor: Principal,
    tenant: Tenant,
    path: Path,
    *,
    form: str = "jsonl",
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Exported:
    """Write the tenant to a file; with ``dry_run`` only read it all and say what would go out.

    Raises `Invalid` for a path that cannot be written.  The export is audited before it begins: the file has it.
    """
    if form not in FORMATS:
        raise Invalid(f"there is no export as {form}; there are {', '.join(FORMATS)}", field="format")
    write = {"jsonl": _as_lines, "csv": _as_csv, "parquet": _as_parquet}[form]
    if form == "parquet":
        parquet_needed()
    if dry_run:
        with open(os.devnull, "wb") as nowhere:
            return _read(tenant, nowhere, write, progress)
    with _whole(path) as file:
        event = audit.Event("tenant.exported", "tenant", str(tenant.id), after={"format": form})
        with tenant_context(tenant.id):
            audit.append(actor, [event], clock.now())
        return _read(tenant, file, write, progress)


Writer = Callable[[IO[bytes], Tenant, Iterator[tuple[str, dict[str, Any]]], "Exported"], None]


def _read(tenant: Tenant, file: IO[bytes], write: Writer, progress: Progress | None) -> Exported:
    done = Exported()
    with tenant_context(tenant.id):
        export.snapshot()
        counts = export.counts()
        tables = export.EXPORTED if write is _as_lines else (MEMORY,)
        total = sum(counts[table] for table in tables)
        write(file, tenant, _rows(tables, done, total, progress), done)
    return done


def _rows(
    tables: tuple[str, ...], done: Exported, total: int, progress: Progress | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    seen = 0
    for table in tables:
        for row in export.rows(table):
            done.secrets += without_secrets(table, row)
            done.counts[table] += 1
            seen += 1
            if progress and seen % _TELL_EVERY == 0:
                progress(seen, total)
            yield table, row


def _as_lines(
    file: IO[bytes], tenant: Tenant, rows: Iterator[tuple[str, dict[str, Any]]], done: Exported
) -> None:
    digest = hashlib.sha256()

    def put(document: dict[str, Any]) -> None:
        line = line_of(document)
        digest.update(line)
        file.write(line)

    put(_heading(tenant))
    for table, row in rows:
        put({"table": table, "row": row})
    done.sha256 = digest.hexdigest()
    file.write(line_of({"end": True, "counts": dict(done.counts), "sha256": done.sha256}))


def _heading(tenant: Tenant) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "at": clock.now().isoformat(),
        "tenant": {
            "id": str(tenant.id),
            "slug": tenant.slug,
            "name": tenant.name,
            "time_zone": tenant.time_zone,
            "created_at": tenant.created_at.isoformat(),
        },
        "columns": {table: columns_of(table) for table in export.EXPORTED},
        "left_out": export.LEFT_OUT,
    }


_NOT_FOR_PEOPLE: Final = frozenset({"value_hash", "claim", "single_valued", "may_repeat", "key_id"})


def _as_csv(
    file: IO[bytes], tenant: Tenant, rows: Iterator[tuple[str, dict[str, Any]]], done: Exported
) -> None:
    """The memories, for people and their spreadsheets; it cannot be imported as a tenant."""
    columns = [name for name in columns_of(MEMORY) if name not in _NOT_FOR_PEOPLE]
    lines = csv.writer(_Encoded(file), lineterminator="\r\n")
    lines.writerow(columns)
    for _table, row in rows:
        row["id"] = _shown(row)
        lines.writerow([cell(row[name]) for name in columns])


def _as_parquet(
    file: IO[bytes], tenant: Tenant, rows: Iterator[tuple[str, dict[str, Any]]], done: Exported
) -> None:
    """The memories, typed."""
    kinds = [(str(one.column), _kind(one)) for one in fields_of(MEMORY) if one.column not in _NOT_FOR_PEOPLE]
    parquet_write(file, kinds, ({**row, "id": _shown(row)} for _table, row in rows))


def _kind(column: Field[Any, Any]) -> str:
    named = {
        ArrayField: "texts", JSONField: "json", DateTimeField: "time", FloatField: "number", IntegerField: "whole",
        BooleanField: "flag",
    }  # fmt: skip
    return next((kind for type_, kind in named.items() if isinstance(column, type_)), "text")


def _shown(row: dict[str, Any]) -> str:
    """The id as the API has it."""
    return f"mem_{row['id'].replace('-', '')}"


class _Encoded:
    """What the CSV writer writes to."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(text.encode())


@contextmanager
def _whole(path: Path) -> Iterator[IO[bytes]]:
    """A file that is there only when all of it was written; for its owner's eyes.  Raises Invalid.

    Never follows a link or writes into a file that somebody else laid there.
    """
    part = path.with_name(path.name + UNFINISHED)
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        said = f"{part} is there already: another export is writing it, or one was killed. Remove it first"
        raise Invalid(said, code="export_under_way", field="file") from None
    except OSError as error:
        raise Invalid(f"{part} cannot be written: {error.strerror}", field="file") from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
