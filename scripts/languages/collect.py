"""Collects what people read from the sources: marked texts of Python and templates, and sentences of services."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_python
from django.utils.translation.template import templatize

from scripts.languages.declared import declared
from scripts.languages.sentences import CONTEXT, sentences

ROOT: Final = Path(__file__).resolve().parents[2]
PYTHON: Final = ("memory", "tenants", "memgov")
TEMPLATES: Final = ("templates",)
KEYWORDS: Final[dict[str, Any]] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
_PLACE: Final = re.compile(r"\{\d+\}")
Found = tuple[str, Any, list[str], str | None]


def _read(code: str, name: str) -> Iterator[tuple[str, Any]]:
    """The texts of a module with their context, or None: (context, text or (one, many))."""
    for _line, function, texts, _notes in extract_python(BytesIO(code.encode()), KEYWORDS, (), {}):
        spec = KEYWORDS[function]
        if isinstance(texts, str):
            yield "", texts
            continue
        given = list(texts or ())
        if (
            not given or given[0] is None
        ):  # a text that is worked out, such as `_(label)`; it is marked elsewhere
            continue
        if any(not isinstance(one, str) for one in given[: len(spec or (1,))]):
            if spec is None and isinstance(given[0], str):
                yield "", given[0]
                continue
            raise ValueError(f"{name}: {function}({given!r}) is not made of plain texts")
        if spec is None:
            yield "", given[0]
        elif spec == (1, 2):
            yield "", (given[0], given[1])
        elif len(spec) == 2:
            yield given[0], given[1]
        else:
            yield given[0], (given[1], given[2])


_TEXT: Final = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_CALL: Final = re.compile(rf"(?:^|\s)((?:n?p?gettext|_)\((?:u?{_TEXT}|[\s,]|\w+)+\))")


def _template(source: str, name: str) -> str:
    """A template as lines of Python: only the calls that mark a text."""
    lines = templatize(source, origin=name).splitlines()
    return "\n".join(call for line in lines for call in _CALL.findall(line))


def collect() -> Catalog:
    """Every text that is marked for translation, with the files it is in."""
    catalog = Catalog(project="memgov", charset="utf-8")
    for folder in PYTHON:
        for path in sorted((ROOT / folder).rglob("*.py")):
            _add(catalog, path, path.read_text(encoding="utf-8"))
    for folder in TEMPLATES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".html", ".txt"}:
                _add(catalog, path, _template(path.read_text(encoding="utf-8"), str(path)))
    for name, context, text in declared():
        catalog.add(text, locations=[(name, 0)], context=context or None)
    for name, text in sentences():
        catalog.add(text, locations=[(name, 0)], context=CONTEXT)
    return catalog


def _add(catalog: Catalog, path: Path, code: str) -> None:
    name = str(path.relative_to(ROOT))
    for context, text in _read(code, name):
        known = catalog.get(text if isinstance(text, str) else text[0], context or None)
        if known is not None and isinstance(known.id, str) != isinstance(text, str):
            raise ValueError(
                f"{name}: {text!r} is used with and without a plural; give one of them a context"
            )
        catalog.add(text, locations=[(name, 0)], context=context or None)
