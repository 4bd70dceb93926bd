"""The catalogues in `locale/`: brought up to date with the sources, compiled, and looked through for faults."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT: Final = Path(__file__).resolve().parents[2]
LOCALE: Final = ROOT / "locale"
# In the place of dates that would differ from run to run.
_NO_DAY: Final = datetime(2000, 1, 1, tzinfo=UTC)
_PLACES: Final = re.compile(r"%\(\w+\)[sdf]|%[sd%]|\{\w*\}")
_TAGS: Final = re.compile(r"</?\w+[^>]*>")


def languages() -> list[str]:
    """The languages with a catalogue."""
    return sorted(path.parts[-3] for path in LOCALE.glob("*/LC_MESSAGES/django.po"))


def path_of(language: str, ending: str) -> Path:
    """The file of a catalogue: `po` is written by people, `mo` made of it."""
    return LOCALE / language / "LC_MESSAGES" / f"django.{ending}"


def read(language: str) -> Catalog:
    """The catalogue as it is kept."""
    with path_of(language, "po").open("rb") as file:
        return read_po(file, locale=language)


def updated(language: str, sources: Catalog) -> bytes:
    """The catalogue with what the sources hold now: new texts without a translation, gone ones left out."""
    catalog = read(language)
    catalog.update(sources, no_fuzzy_matching=True, update_header_comment=False, update_creation_date=False)
    catalog.obsolete.clear()
    for message in catalog:
        if not any("%" in place for place in _PLACES.findall(str(message.id))):
            message.flags.discard("python-format")  # "95% confidence" is no place for a character
    # No dates and no versions of tools: two people who run this get the same file.
    name = catalog.locale.english_name if catalog.locale else language
    catalog.header_comment = f"# {name} of memgov's pages and mails."
    file = BytesIO()
    write_po(file, catalog, width=110, omit_header=True, include_lineno=False, sort_by_file=True)
    head = (
        f"{catalog.header_comment}\n"
        'msgid ""\nmsgstr ""\n'
        f'"Language: {language}\\n"\n"MIME-Version: 1.0\\n"\n'
        '"Content-Type: text/plain; charset=utf-8\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n'
        f'"Plural-Forms: {catalog.plural_forms}\\n"\n\n'
    )
    return head.encode() + file.getvalue()


def compiled(language: str) -> bytes:
    """The catalogue as the product loads it."""
    catalog, file = read(language), BytesIO()
    catalog.creation_date = catalog.revision_date = _NO_DAY
    write_mo(file, catalog)
    return file.getvalue()


def faults(catalog: Catalog) -> Iterator[str]:
    """What a reader would stumble over: no translation, one that was guessed, and places for values that differ."""
    for message in catalog:
        if not message.id:
            continue
        name = message.id if isinstance(message.id, str) else message.id[0]
        said = (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
        if not said or not all(said):
            yield f"not translated: {name!r}"
        elif message.fuzzy:
            yield f"guessed: {name!r}"
        else:
            yield from _differing(message, name, said)


def _differing(message: Message, name: str, said: tuple[str, ...]) -> Iterator[str]:
    known = [
        sorted(_PLACES.findall(one)) for one in ((message.id,) if isinstance(message.id, str) else message.id)
    ]
    for text in said:
        if sorted(_PLACES.findall(text)) not in known:
            yield f"other places for values: {name!r} → {text!r}"
        if isinstance(message.id, str) and _TAGS.findall(text) != _TAGS.findall(name):
            yield f"other tags: {name!r} → {text!r}"
        if name.strip() == name and text.strip() != text:
            yield f"space at an end: {name!r} → {text!r}"
