"""Differences between two policy documents, as paths and in words. Works on plain dumped documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_ABSENT = object()


def changes(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    """Every leaf that differs as (path in words, old, new); an absent side is None."""
    yield from _walk("", old, new)


def _walk(path: str, old: object, new: object) -> Iterator[tuple[str, object, object]]:
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in [*old, *(name for name in new if name not in old)]:
            label = str(name) if ":" in str(name) or str(name) == "*" else str(name).replace("_", " ")
            yield from _walk(f"{path} {label}".strip(), old.get(name, _ABSENT), new.get(name, _ABSENT))
    elif isinstance(new, Mapping) and old is _ABSENT and new:
        yield from _walk(path, {}, new)
    elif isinstance(old, Mapping) and new is _ABSENT and old:
        yield from _walk(path, old, {})
    else:
        yield path, None if old is _ABSENT else old, None if new is _ABSENT else new


def in_words(path: str, old: object, new: object) -> str:
    """One line such as `decay floor 0.15 → 0.25`; lists show only what was added and taken away."""
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        gone = [f"−{item}" for item in old if item not in new]
        come = [f"+{item}" for item in new if item not in old]
        if gone or come:
            return f"{path} {' '.join(gone + come)}"
    return f"{path} {_shown(old)} → {_shown(new)}"


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "nothing"
    return str(value) if value != "" else "nothing"
