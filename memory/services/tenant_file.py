"""Reading the file of an exported tenant: whether it is whole, which lines are broken, its rows by line."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from memory.domain.exports import BadLine, Row, header_in, object_in, row_in
from memory.models.columns import columns_of
from memory.selectors.export import EXPORTED
from memory.services.errors import Invalid
from memory.services.export_secrets import without_secrets

Progress = Callable[[int, int], None]
MOST_TOLD: Final = 100
LONGEST_LINE: Final = 64 * 1024 * 1024
_TELL_EVERY: Final = 2_000


@dataclass(slots=True)
class Checked:
    """What a file holds: rows by table, broken lines (number, why), and whether its end proves it whole."""

    header: dict[str, Any]
    lines: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    broken: list[tuple[int, str]] = field(default_factory=list)
    secrets: int = 0
    sha256: str = ""

    def tell(self, number: int, why: str) -> None:
        """Note a broken line."""
        self.broken.append((number, why))


def tenant_file_check(path: Path, *, scan: bool = False, progress: Progress | None = None) -> Checked:
    """Read the whole file once and change nothing; with ``scan`` also count the secrets in it.

    Raises `Invalid` for what is no export of a tenant, or of another version.
    """
    digest, size, read = hashlib.sha256(), _size(path), 0
    with path.open("rb") as file:
        first = file.readline(LONGEST_LINE)
        try:
            checked = Checked(header_in(first), lines=1)
        except BadLine as error:
            raise Invalid(f"{path}: {error}", code="not_an_export", field="file") from None
        _columns_known(path, checked.header["columns"])
        digest.update(first)
        read, end = len(first), None
        while line := file.readline(LONGEST_LINE):
            checked.lines += 1
            read += len(line)
            if end is not None:
                checked.tell(checked.lines, "it stands after the end")
            end = _take(line, checked, scan=scan) or end
            if end is None:
                digest.update(line)
            if progress and checked.lines % _TELL_EVERY == 0:
                progress(read, size)
    checked.sha256 = digest.hexdigest()
    _ended(checked, end)
    return checked


def _take(line: bytes, checked: Checked, *, scan: bool) -> dict[str, Any] | None:
    """Count a line; the document of the last one."""
    try:
        document = object_in(line)
        if document.get("end") is True:
            return document
        row = row_in(line)
        if row.table not in EXPORTED:
            raise BadLine(f"there is no table {row.table[:60]!r}")
    except BadLine as error:
        checked.tell(checked.lines, str(error))
        return None
    checked.counts[row.table] += 1
    if scan:
        checked.secrets += without_secrets(row.table, row.columns)
    return None


def _ended(checked: Checked, end: dict[str, Any] | None) -> None:
    if end is None:
        checked.tell(checked.lines + 1, "the end is missing: the file was cut off")
    elif end.get("sha256") != checked.sha256:
        checked.tell(
            checked.lines, "the lines before do not give the digest that the end names: they were changed"
        )


def _columns_known(path: Path, columns: dict[str, Any]) -> None:
    """Raises `Invalid` when the file has what this memgov has no place for."""
    for table, names in columns.items():
        unknown = set(names) - set(columns_of(table)) if table in EXPORTED else set()
        if table not in EXPORTED or unknown:
            what = f"{table}.{sorted(unknown)[0]}" if unknown else table
            said = f"{path} was written by a newer memgov: it has {what}; nothing was imported"
            raise Invalid(said, code="newer_export", field="file")


def rows_from(path: Path, after: int) -> Iterator[tuple[int, Row | str]]:
    """The rows beyond a line, with their numbers (the first line is 1); what is wrong with a broken one."""
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
            if number <= max(1, after):
                continue
            try:
                if object_in(line).get("end") is True:
                    return
                row = row_in(line)
            except BadLine as error:
                yield number, str(error)
                continue
            yield number, row if row.table in EXPORTED else f"there is no table {row.table[:60]!r}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise Invalid(f"{path}: {error.strerror}", field="file") from None
