"""Terms for the search in the language of a text: what the index holds of a memory, and what a query asks for.

The index always holds the plain terms of `memory.domain.text`, cut as English, and the words that irregular forms are
of.  A text that is in another language adds its words as that language stems them, and the parts of its compounds; a
query asks for a word in every way in which it may have been stemmed.  So nothing has to be known of the other side, and
nothing that was found before is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memory.domain.languages import COMPOUNDING, guessed, is_function_word, language_of_script
from memory.domain.stop_words import ENGLISH_STOP_WORDS
from memory.domain.text import (
    MAX_QUERY_TERMS,
    MAX_TERM_LENGTH,
    MAX_TERMS,
    WORD,
    fold,
    query_terms,
    stem,
    terms,
)
from memory.domain.word_forms import WORD_OF

# Shorter words are no compounds, and shorter parts no words to look for.
_COMPOUND_LENGTH: Final = 10
_PART_LENGTH: Final = 5
_REST_LENGTH: Final = 4
_MOST_COMPOUNDS: Final = 40
# So many function words of a language, and a query is in it.
_TELLING: Final = 2
# How words begin in these languages; an end that begins otherwise is none.
_ONSET: Final = re.compile(
    "(?:[bdfgklpt]r|[bfgkps]l|[bfhkmnst]j|[ct]h|[gk]n|[dkstz]w|kv|pf|qu|s[chkmnpt]|sch[lmnrw]?|s[pt]r|[b-df-hj-np-tvwxz])?"
    "[^b-df-hj-np-tvwxz]"
)


def index_terms(text: str) -> list[str]:
    """The terms that a memory is found by, repeats included, at most `MAX_TERMS`."""
    found = terms(text)
    more = [WORD_OF[term] for term in found if term in WORD_OF]
    language = guessed(text)
    if language is None and text.isascii():
        return [*found, *more][:MAX_TERMS]
    have = {*found, *more}
    for word in WORD.findall(fold(text)):
        low = word.casefold()
        own = None if is_function_word(low, language) else _stemmed(low, language)
        if own is not None and own not in have:
            more.append(own)
    if language in COMPOUNDING:
        more += (part for part in _parts(fold(text), language) if part not in have)
    return [*found, *more][:MAX_TERMS]


def asked(text: str, languages: Iterable[str] = ()) -> list[tuple[str, ...]]:
    """The words of a query, each as the terms that stand for it, at most `MAX_QUERY_TERMS` terms in all.

    `languages` are those in which it may be asked, beside English and the one that it shows itself.
    """
    own = guessed(text)
    wanted: Sequence[str | None] = [*dict.fromkeys((*([own] if own else []), *languages))]
    groups, common = _forms(query_terms(text)), set()
    if not wanted and text.isascii():
        return _within(list(map(tuple, groups.values())), MAX_QUERY_TERMS)
    for word in WORD.findall(fold(text)):
        low = word.casefold()
        english = stem(low, "en")
        if low in ENGLISH_STOP_WORDS:
            continue
        if english not in groups:
            continue
        ways = (_stemmed(low, language) for language in wanted or (None,))
        groups[english].update((way, None) for way in ways if way is not None)
        if is_function_word(low, own):
            common.add(english)
    # One such word may be a word of English (`env var`, `man page`), and a query of nothing else asks for it.
    if _TELLING <= len(common) < len(groups):
        groups = {word: forms for word, forms in groups.items() if word not in common}
    return _within(list(map(tuple, groups.values())), MAX_QUERY_TERMS)


def _forms(plain: Iterable[str]) -> dict[str, dict[str, None]]:
    """By the plain term, the terms of each word; a word and a form of it are asked for once."""
    groups: dict[str, dict[str, None]] = {}
    for term in plain:
        word = WORD_OF.get(term, term)
        known = next((asked for asked, forms in groups.items() if word in forms), None)
        if known is None:
            groups[term] = dict.fromkeys((term, word))
        else:
            groups[known][term] = None
    return groups


def _within(groups: Sequence[tuple[str, ...]], most: int) -> list[tuple[str, ...]]:
    """Of too many terms, each word's first ones."""
    kept = [list(group[:1]) for group in groups[:most]]
    room = most - len(kept)
    for group, ways in zip(groups, kept, strict=False):
        more = group[1 : 1 + room]
        ways.extend(more)
        room -= len(more)
    return [tuple(ways) for ways in kept]


def _stemmed(word: str, language: str | None) -> str | None:
    """The word as its script's language stems it, or else the given one; None where neither has something to say."""
    by_script = language_of_script(word)
    if by_script is None and language is None:
        return None
    return stem(word, by_script or language)


def _parts(folded: str, language: str | None) -> list[str]:
    """What long words may be put together from: every beginning and end that leaves a word's worth of rest.

    `Lieferungslager` is then found by `Lieferung` and by `Lager`, without a dictionary.
    """
    long = (
        word.casefold()
        for word in WORD.findall(folded)
        if _COMPOUND_LENGTH <= len(word) <= MAX_TERM_LENGTH and word.isalpha()
    )
    parts: dict[str, None] = {}
    for word in [*dict.fromkeys(long)][:_MOST_COMPOUNDS]:
        for cut in range(_PART_LENGTH, len(word) - _REST_LENGTH + 1):
            parts.update(_both(word[:cut], language))
        for cut in range(_REST_LENGTH, len(word) - _PART_LENGTH + 1):
            if _ONSET.match(word, cut):
                parts.update(_both(word[cut:], language))
    return list(parts)


def _both(part: str, language: str | None) -> dict[str, None]:
    """A part as its language and as English stems it: short queries show no language."""
    return {stem(part, language): None, stem(part, "en"): None}
