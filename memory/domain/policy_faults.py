"""What is wrong with a policy document, each fault at its place in the document and not only as one sentence.

Pure: plain values in, faults out.  The line of a place is looked up by whoever has the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from pydantic import ValidationError

from memory.domain.policy import TENANT_WIDE, Policy, overlay
from memory.domain.scopes import parse_pattern

Path = tuple[str | int, ...]
MOST_SCOPES: Final = 200
_MOST_FAULTS: Final = 50


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: where in the document, and what."""

    path: Path
    message: str

    @property
    def place(self) -> str:
        """The path as people write it: `scopes.project:*.decay.floor`."""
        return ".".join(map(str, self.path))


def faults(document: Mapping[str, Any]) -> list[Fault]:
    """Everything that keeps the document from being a policy, in the order of the document."""
    whole = {name: value for name, value in document.items() if name != "scopes"}
    found = list(_of_validation(whole, ()))
    base = {} if found else whole
    found += _of_overrides(document.get("scopes", {}), base)
    if not found:
        found = list(_of_validation(document, ()))
    return found[:_MOST_FAULTS]


def _of_overrides(scopes: Any, base: Mapping[str, Any]) -> Iterator[Fault]:
    if not isinstance(scopes, Mapping):
        yield Fault(("scopes",), "expected scope patterns, each with what differs there")
        return
    if len(scopes) > MOST_SCOPES:
        yield Fault(("scopes",), f"{len(scopes)} patterns, at most {MOST_SCOPES} are allowed")
        return
    for pattern, overrides in scopes.items():
        yield from _of_one(str(pattern), overrides, base)


def _of_one(pattern: str, overrides: Any, base: Mapping[str, Any]) -> Iterator[Fault]:
    place = ("scopes", pattern)
    try:
        canonical = parse_pattern(pattern)
    except ValueError as error:
        yield Fault(place, str(error))
        return
    if canonical != pattern:
        yield Fault(place, f"write it as {canonical!r}")
    if not isinstance(overrides, Mapping):
        yield Fault(place, "expected what differs in this scope, as names with values")
        return
    fixed = sorted(TENANT_WIDE & set(map(str, overrides)))
    for name in fixed:
        yield Fault((*place, name), "holds for the whole tenant and cannot be set per scope")
    mine = {name: value for name, value in overrides.items() if str(name) not in fixed}
    yield from _of_validation(overlay(base, mine), place)


def _of_validation(document: Mapping[str, Any], under: Path) -> Iterator[Fault]:
    try:
        Policy.model_validate(dict(document))
    except ValidationError as error:
        for one in error.errors(include_url=False, include_input=False):
            path = tuple(part for part in one["loc"] if part != "[key]")
            yield Fault((*under, *path), _message(one["type"], one["msg"], path))


def _message(kind: str, said: str, path: Path) -> str:
    if kind == "extra_forbidden":
        near = get_close_matches(str(path[-1]), sorted(_names()), 1)
        return "there is no such setting" + (f"; did you mean {near[0]}?" if near else "")
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        return "has to be names with values"
    return said.removeprefix("Value error, ").replace("Input should be", "has to be", 1)


def _names() -> set[str]:
    """Every name that a document may hold."""

    def walk(part: Mapping[str, Any]) -> Iterator[str]:
        for name, value in part.items():
            yield name
            if isinstance(value, Mapping):
                yield from walk(value)

    return set(walk(Policy().model_dump(mode="json")))
