"""From the bytes of a mount manifest to its entries, or to everything that is wrong with it, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memory.domain.ids import parse_id
from memory.domain.mount.document import MountDocument, MountEntryDocument
from memory.domain.mount.yaml_lines import Located, Path, Problem, read_yaml
from memory.domain.normalise import canonical_text
from memory.domain.scopes import matches, parse_scope
from memory.domain.types import Kind

_CODES = {"extra_forbidden": "unknown_field", "missing": "missing_field"}
_WORDS = {
    "extra_forbidden": "there is no such field here",
    "missing": "is missing",
    "string_type": "must be text (put it in quotes)",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "model_type": "must be names with values",
    "model_attributes_type": "must be names with values",
}


@dataclass(frozen=True, slots=True)
class Declared:
    """One entry of the file: `memory_id`, or `content` with its `scope` and `kind`.  `place` counts from 0."""

    line: int
    place: int
    order: int
    memory_id: UUID | None
    content: str
    scope: str | None
    kind: Kind
    paths: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MountFile:
    """A file as it was read.  With any problem nothing of it may be applied; `entries` are those without one."""

    sha256: str
    name: str
    scopes: tuple[str, ...]
    entries: tuple[Declared, ...]
    problems: tuple[Problem, ...]

    def covers(self, scope: str) -> bool:
        """Whether the file may speak for the scope; without `scopes` it may for all."""
        return not self.scopes or any(matches(pattern, parse_scope(scope)) for pattern in self.scopes)


def parse_mount(document: bytes) -> MountFile:
    """Read the file.  Every problem is found at once: syntax, fields, scopes, duplicates."""
    digest = sha256(document).hexdigest()
    located = read_yaml(document)
    problems = list(located.problems)
    if not isinstance(located.value, Mapping):
        if not problems:
            problems.append(Problem(1, "unreadable", "holds no mount manifest: expected names with values"))
        return MountFile(digest, "", (), (), tuple(problems))
    errors = _errors(located.value)
    problems += [_told(error, located) for error in errors]
    broken = {
        error["loc"][1] for error in errors if error["loc"][:1] == ("entries",) and len(error["loc"]) > 1
    }
    header = _header(located.value, errors)
    file = MountFile(
        digest, header.name if header else "", tuple(header.scopes or ()) if header else (), (), ()
    )
    entries = list(_entries(located, file, broken, problems))
    entries = list(_once(entries, problems))
    return MountFile(digest, file.name, file.scopes, tuple(entries), tuple(sorted(set(problems))))


def _errors(value: Mapping[str, Any]) -> list[ErrorDetails]:
    try:
        MountDocument.model_validate(value)
    except ValidationError as error:
        return error.errors(include_url=False)
    return []


def _header(value: Mapping[str, Any], errors: list[ErrorDetails]) -> MountDocument | None:
    """The names before the entries, where they are right on their own."""
    known = {name: value[name] for name in ("version", "name", "scopes") if name in value}
    try:
        return MountDocument.model_validate({**known, "entries": []})
    except ValidationError:
        return None


def _told(error: ErrorDetails, located: Located) -> Problem:
    path: Path = tuple(part for part in error["loc"] if isinstance(part, int | str))
    line = located.line_of(path)
    kind = error["type"]
    message = _WORDS.get(kind) or error["msg"].removeprefix("Value error, ")
    place = _place(path)
    code = "out_of_scope" if "nothing can be mounted into" in message else _CODES.get(kind, "invalid")
    return Problem(line, code, f"{place}: {message}" if place else message)


def _place(path: Path) -> str:
    """`entry 3, order`: where in the file, for a reader."""
    if path[:1] == ("entries",) and len(path) > 1 and isinstance(path[1], int):
        rest = ".".join(str(part)[:80] for part in path[2:])
        return f"entry {path[1] + 1}, {rest}" if rest else f"entry {path[1] + 1}"
    return ".".join(str(part)[:80] for part in path)


def _entries(
    located: Located, file: MountFile, broken: set[int | str], problems: list[Problem]
) -> Iterator[Declared]:
    given = located.value.get("entries")
    for place, raw in enumerate(given if isinstance(given, list) else []):
        if place in broken:
            continue
        one, line = MountEntryDocument.model_validate(raw), located.line_of(("entries", place))
        scope = one.scope or (_only(file.scopes) if one.content is not None else None)
        if one.content is not None and scope is None:
            problems.append(Problem(line, "missing_field", "a content needs its scope"))
        elif scope is not None and not file.covers(scope):
            problems.append(Problem(line, "out_of_scope", f"{scope} is not among the file's scopes"))
        else:
            yield Declared(
                line=line,
                place=place,
                order=one.order,
                memory_id=parse_id("mem", one.id) if one.id else None,
                content=one.content or "",
                scope=scope,
                kind=one.kind or Kind.FACT,
                paths=tuple(dict.fromkeys(one.applies_to.paths)),
                tags=tuple(dict.fromkeys(one.applies_to.tags)),
            )


def _only(scopes: tuple[str, ...]) -> str | None:
    """The one scope that a content without its own belongs to."""
    return scopes[0] if len(scopes) == 1 and not scopes[0].endswith("*") else None


def _once(entries: list[Declared], problems: list[Problem]) -> Iterator[Declared]:
    """Each memory and each sentence once."""
    seen: dict[object, int] = {}
    for one in entries:
        key = one.memory_id or (one.scope, canonical_text(one.content))
        if key in seen:
            problems.append(Problem(one.line, "duplicate", f"says the same as the entry in line {seen[key]}"))
            continue
        seen[key] = one.line
        yield one
