"""What services and rules say, in the reader's language.

They say it in English, because the API does, with the values in it already. `locale/sentences.txt` lists every such
sentence with `{0}`, `{1}`… for its values; `scripts/messages.py` collects them where they are raised. Here a sentence
is known again by the words around the values, and said with these in another language. A value is left as it is: it may
be the name that somebody gave an agent. Only at a place marked `{0!}` stand words of ours, which are said as well; at
`{0*}` a list of them, with commas.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from django.conf import settings
from django.utils.formats import get_format
from django.utils.translation import get_language, pgettext

CONTEXT: Final = "said by a service"
LISTED: Final = settings.BASE_DIR / "locale" / "sentences.txt"
_PLACE: Final = re.compile(r"\{(\d+)[!*]?\}")
_OURS: Final = re.compile(r"\{(\d+)[!*]\}")
_LISTS: Final = re.compile(r"\{(\d+)\*\}")
_QUANTITY: Final = re.compile(r"(-?\d+(?:\.\d+)?)(?: (days|tokens|entries|%))?")
_FIELD: Final = re.compile(r"[a-z_]{2,30}")
# What a sentence holds may be one itself (`{error}; nothing was changed`); hostile text shall not make that endless.
_DEEPEST: Final = 3
_LONGEST: Final = 4000


class Sentence(NamedTuple):
    """A sentence with places for values, and how it is known again."""

    text: str
    words: Sequence[str]
    ours: frozenset[int]
    """The places of words that are ours."""
    lists: frozenset[int]
    """Those of them that hold several."""

    def values(self, text: str) -> list[str] | None:
        """What stands at the places; None where the text is another sentence.

        Each piece of words is looked for once, from where the one before it ended: a pattern would try every way to
        share a long text among the places.
        """
        first, *middle, last = self.words
        at, end = len(first), len(text) - len(last)
        if at > end or not text.startswith(first) or not text.endswith(last):
            return None
        found = []
        for word in middle:
            place = text.find(word, at, end)
            if place < 0:
                return None
            found.append(text[at:place])
            at = place + len(word)
        return [*found, text[at:end]]


@cache
def listed() -> tuple[Sentence, ...]:
    """Every sentence with a value in it; those with the most words of their own are tried first."""
    lines = LISTED.read_text(encoding="utf-8").splitlines()
    texts = [line.replace("\\n", "\n") for line in lines if _PLACE.search(line)]
    texts.sort(key=lambda text: -len(_PLACE.sub("", text)))
    return tuple(
        Sentence(
            _OURS.sub(r"{\1}", text), _PLACE.split(text)[::2], _places(_OURS, text), _places(_LISTS, text)
        )
        for text in texts
    )


def _places(marked: re.Pattern[str], text: str) -> frozenset[int]:
    return frozenset(map(int, marked.findall(text)))


def said(text: str, depth: int = 0) -> str:
    """The sentence in the active language; as it is where it is not known, or in English."""
    if get_language() == settings.LANGUAGE_CODE or depth > _DEEPEST or not 1 < len(text) < _LONGEST:
        return text
    if quantity := _QUANTITY.fullmatch(text):
        figure, words = quantity.groups()
        return figure.replace(".", get_format("DECIMAL_SEPARATOR")) + (
            f" {pgettext(CONTEXT, words)}" if words else ""
        )
    whole = pgettext(CONTEXT, text)
    if whole != text:
        return whole
    for sentence in listed():
        values = sentence.values(text)
        if values is not None:
            return _filled(sentence, values, depth)
    field, colon, rest = text.partition(": ")
    if colon and _FIELD.fullmatch(field) and (told := said(rest, depth + 1)) != rest:
        return f"{pgettext('code', field.replace('_', ' '))}: {told}"
    return text


def _filled(sentence: Sentence, values: Sequence[str], depth: int) -> str:
    shown = list(values)
    for at in sentence.ours:
        parts = values[at].split(", ") if at in sentence.lists else [values[at]]
        shown[at] = ", ".join(said(part, depth + 1) for part in parts)
    return _PLACE.sub(lambda place: shown[int(place[1])], pgettext(CONTEXT, sentence.text))
