"""Secrets of one candidate: within each text and its readings, and told by the name of a field or key.

`predicate = "password", value = "…"` holds a secret although neither text does on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from memory.domain.sanitisation.model import Match, View
from memory.domain.sanitisation.secret_context import looks_made_up, secret_name
from memory.domain.sanitisation.secrets import merged, scan_secrets

_NO_SECRET_SURVIVES: Final = ("leet", "rot13", "reversed", "spaced", "untagged")


def secrets_in(text: str, readings: Sequence[View]) -> tuple[Match, ...]:
    """Secrets of a text and of its readings, with their places in the text as given."""
    found = list(scan_secrets(text))
    for view in readings:
        if view.name == "original" or view.name in _NO_SECRET_SURVIVES:
            continue
        if found and view.whole == (0, len(text)):
            continue  # already known, and this reading would redact everything
        for match in scan_secrets(view.text):
            found.append(Match(view.source_span(*match.span), match.rule))
    return merged(found)


def named_by_field(fields: Mapping[str, str]) -> Iterator[tuple[str, Match]]:
    """The value of a triple whose subject or predicate names a secret."""
    value = fields.get("value", "")
    names = (fields.get("predicate", ""), fields.get("subject", ""))
    yield from (("value", match) for match in _if_named(names, value))


def named_by_key(metadata: Mapping[str, object], path: str) -> Iterator[tuple[str, str, Match]]:
    """Texts in metadata under a key that names a secret, as (path, text, match)."""
    for key, inner in metadata.items():
        if isinstance(inner, str):
            for match in _if_named((str(key),), inner):
                yield f"{path}.{key}", inner, match
        elif isinstance(inner, Mapping):
            yield from named_by_key(inner, f"{path}.{key}")
        elif isinstance(inner, (list, tuple)):
            nested = {f"{key}[{index}]": each for index, each in enumerate(inner)}
            for place, text, match in named_by_key(nested, path):
                yield place, text, match


def _if_named(names: tuple[str, ...], value: str) -> Iterator[Match]:
    stripped = value.strip()
    if not stripped or " " in stripped:
        return
    rules = [rule for name in names if (rule := secret_name(name)) is not None]
    if not rules:
        return
    is_code = rules[0] in ("pin", "code") and stripped.isdigit() and len(stripped) >= 4
    if is_code or looks_made_up(stripped):
        start = value.index(stripped)
        yield Match((start, start + len(stripped)), rules[0])
