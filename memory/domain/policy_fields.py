"""The policy document as a list of single settings, for forms: what each is called, may hold, and means.

Made from the schema of the document, so that a setting that is added there has its field.  Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

from memory.domain.policy import TENANT_WIDE, Policy, policy_schema

Path = tuple[str, ...]
Kind = Literal["number", "count", "switch", "choice", "several", "words", "text"]
NOTHING: Final = object()
"""Where a document holds nothing."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One leaf of the document.  `least` and `most` are bounds, `above` says that `least` itself is too little."""

    path: Path
    kind: Kind
    about: str = ""
    least: float | None = None
    most: float | None = None
    above: bool = False
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def name(self) -> str:
        """The path with dots, such as `decay.floor`."""
        return ".".join(self.path)

    def bounds(self) -> str:
        """The bounds in words, "" where they are wide."""
        if self.least is None or self.most is None or self.most > 100_000:
            return ""
        return f"{'above ' if self.above else ''}{self.least:g} to {self.most:g}"


@lru_cache(maxsize=1)
def settings() -> tuple[Setting, ...]:
    """Every setting, in the order of the document, without the overrides per scope."""
    schema = policy_schema()
    usual = Policy().model_dump(mode="json")
    parts = {name: part for name, part in schema["properties"].items() if name not in _NO_FIELDS}
    return tuple(_walk({"properties": parts}, usual, (), schema["$defs"]))


_NO_FIELDS: Final = frozenset({"scopes", "schema_version"})


def settings_of_scopes() -> tuple[Setting, ...]:
    """The settings that may differ from scope to scope."""
    return tuple(one for one in settings() if one.path[0] not in TENANT_WIDE)


def _walk(part: Mapping[str, Any], usual: Any, path: Path, defs: Mapping[str, Any]) -> Iterator[Setting]:
    whole = {**_resolved(part, defs), **{k: v for k, v in part.items() if k == "description"}}
    if "properties" in whole:
        for name, inner in whole["properties"].items():
            yield from _walk(inner, usual.get(name), (*path, name), defs)
    elif "additionalProperties" in whole and isinstance(usual, Mapping):
        for name, below in usual.items():
            inner = {**whole["additionalProperties"], "description": whole.get("description", "")}
            yield from _walk(inner, below, (*path, str(name)), defs)
    else:
        yield _leaf(whole, path, defs)


def _resolved(part: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    return defs[part["$ref"].rpartition("/")[2]] if "$ref" in part else part


def _leaf(part: Mapping[str, Any], path: Path, defs: Mapping[str, Any]) -> Setting:
    optional = "anyOf" in part
    inner = next(one for one in part["anyOf"] if one.get("type") != "null") if optional else part
    items = _resolved(inner.get("items", {}), defs)
    kinds: dict[str, Kind] = {"number": "number", "integer": "count", "boolean": "switch", "string": "text"}
    kind: Kind = "several" if "enum" in items else "words" if items else kinds[inner["type"]]
    if "enum" in inner:
        kind = "choice"
    return Setting(
        path=path,
        kind=kind,
        about=" ".join(part.get("description", "").split()),
        least=inner.get("minimum", inner.get("exclusiveMinimum")),
        most=inner.get("maximum"),
        above="exclusiveMinimum" in inner,
        choices=tuple(items.get("enum") or inner.get("enum") or ()),
        optional=optional,
    )


def at(document: Mapping[str, Any], path: Sequence[str]) -> Any:
    """What the document holds at a path, or `NOTHING`."""
    found: Any = document
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return NOTHING
        found = found[name]
    return found


def with_value(document: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """The document with a value at a path; `NOTHING` takes it away, with what becomes empty by that."""
    name, rest = path[0], path[1:]
    changed = dict(document)
    if rest:
        inner = with_value(changed.get(name) or {}, rest, value)
        if inner:
            changed[name] = inner
        else:
            changed.pop(name, None)
    elif value is NOTHING:
        changed.pop(name, None)
    else:
        changed[name] = value
    return changed


def effective(document: Mapping[str, Any], pattern: str = "") -> dict[str, Any]:
    """The whole document as it holds for the tenant, or for what an override's pattern covers.

    An override of a wider pattern holds below a narrower one.
    """
    policy = Policy.model_validate(document)
    if not pattern:
        return policy.model_dump(mode="json")
    return policy.for_pattern(pattern).model_dump(mode="json")


def as_text(setting: Setting, value: Any) -> str:
    """The value as a form field shows it."""
    if value is None or value is NOTHING:
        return ""
    if setting.kind == "words":
        return "\n".join(value)
    if setting.kind == "switch":
        return "on" if value else "off"
    return str(value) if setting.kind != "number" else f"{value:.12g}"


def from_text(setting: Setting, given: Sequence[str]) -> Any:
    """The value that a form field's texts mean.  ValueError says what was expected."""
    if setting.kind == "several":
        unknown = [one for one in given if one not in setting.choices]
        if unknown:
            raise ValueError(f"choose among {', '.join(setting.choices)}")
        return [one for one in setting.choices if one in given]
    text = given[0].strip() if given else ""
    if setting.kind == "words":
        return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if setting.kind == "text":
        return text.replace("\r\n", "\n")
    if not text and setting.optional:
        return None
    return _scalar(setting, text)


def _scalar(setting: Setting, text: str) -> Any:
    if setting.kind == "switch" and text in ("on", "off"):
        return text == "on"
    if setting.kind == "choice" and text in setting.choices:
        return text
    if setting.kind in ("switch", "choice"):
        raise ValueError(f"choose among {', '.join(setting.choices or ('on', 'off'))}")
    return _number(setting, text)


def _number(setting: Setting, text: str) -> float | int:
    what = "a whole number" if setting.kind == "count" else "a number"
    bounds = f", {setting.bounds()}" if setting.bounds() else ""
    try:
        if not text.isascii() or len(text) > 30 or "_" in text:
            raise ValueError(text)
        number: float | int = int(text) if setting.kind == "count" else float(text)
    except ValueError:
        raise ValueError(f"write {what}{bounds}") from None
    low = setting.least is not None and (
        number < setting.least or (setting.above and number == setting.least)
    )
    high = setting.most is not None and number > setting.most
    if low or high or number != number:
        raise ValueError(f"has to be {setting.bounds() or f'at least {setting.least:g}'}")
    return number
