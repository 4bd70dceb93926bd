"""A language that nobody speaks: every letter of a translated text has a mark, so that what has none is not translated.

It is made of the catalogues that German is made of, ours and those of the libraries that bring their own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import allauth
import django
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from scripts.languages.catalogues import path_of

PLAIN: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
MARKED: Final = "ȧƀƈḓḗƒɠħīĵķŀḿƞǿƥɋřşŧŭṽẇẋẏẑȦƁƇḒḖƑƓĦĪĴĶĿḾȠǾƤɊŘŞŦŬṼẆẊẎẐ"
_LETTERS: Final = str.maketrans(PLAIN, MARKED)
# Places for values, tags, entities and escapes stay as they are.
_KEPT: Final = re.compile(r"%\(\w+\)[sdf]|%[sd%]|\{\w*\}|</?\w[^>]*>|&\w+;")
DATE_FORMATS: Final = "date format"


def marked(text: str) -> str:
    """The text with a mark on every letter."""
    parts, end = [], 0
    for kept in _KEPT.finditer(text):
        parts += [text[end : kept.start()].translate(_LETTERS), kept[0]]
        end = kept.end()
    return "".join([*parts, text[end:].translate(_LETTERS)])


def _sources() -> list[Path]:
    found = [path_of("de", "po")]
    root = Path(django.__file__).parent
    found += [root / "conf/locale/de/LC_MESSAGES/django.po"]
    found += [root / f"contrib/{app}/locale/de/LC_MESSAGES/django.po" for app in ("auth", "humanize")]
    return [*found, Path(allauth.__file__).parent / "locale/de/LC_MESSAGES/django.po"]


def write_pseudo(folder: Path, code: str) -> Path:
    """The compiled catalogue of the language `code` (`en_XA`) in a folder for `LOCALE_PATHS`."""
    made = Catalog(locale="en")
    for source in _sources():
        with source.open("rb") as file:
            for message in read_po(file, locale="de"):
                if message.id and message.context != DATE_FORMATS:
                    said = (
                        marked(message.id) if isinstance(message.id, str) else tuple(map(marked, message.id))
                    )
                    made.add(message.id, said, context=message.context, flags=message.flags - {"fuzzy"})
    target = folder / code / "LC_MESSAGES" / "django.mo"
    target.parent.mkdir(parents=True)
    with target.open("wb") as file:
        write_mo(file, made)
    return folder
