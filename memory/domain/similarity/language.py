"""Which language a short text is in, cheaply: by its script, then by its function words.

Only good enough to keep English rules away from other languages. Unsure is `None`, and costs nothing but a
merge that is not made.
"""

import re
from functools import lru_cache

from memory.domain.similarity.language_hints import (
    FOREIGN_WORDS,
    PLAIN_ENGLISH,
    SCRIPTS,
    STRONG_ENGLISH,
    WEAK_ENGLISH,
)

_WORD = re.compile(r"(?<![\w'/])[^\W\d_]+(?:'[^\W\d_]+)?(?![\w/])")
_ENOUGH = 0.5
_SAMPLE = 600  # characters: the rest of a long text adds nothing


@lru_cache(maxsize=16_384)
def guess_language(text: str) -> str | None:
    """Return a two-letter code, or None when nothing in the text tells. Another alphabet stands for its
    commonest language ("ru" for Cyrillic), which is all that is needed here."""
    return _weighed(text)[0]


@lru_cache(maxsize=16_384)
def _weighed(text: str) -> tuple[str | None, float]:
    """Return the code, and where it is None how much speaks for English; 0 where something speaks against it."""
    sample = text[:_SAMPLE]
    if not sample.isascii() and (code := _by_script(sample)):
        return code, 0.0
    words = _WORD.findall(sample.lower().replace("’", "'"))
    english = _english_score(words)
    foreign, code = max((sum(w in hints for w in words), name) for name, hints in FOREIGN_WORDS.items())
    accented = 0.4 * sum(not word.isascii() for word in words)
    if foreign and foreign + accented >= english:
        return code, 0.0
    if english >= _ENOUGH and english > accented:
        return "en", english
    return None, 0.0 if foreign or accented else english


def common_language(a: str, b: str, language_a: str | None, language_b: str | None) -> str | None:
    """Return the language both texts can be read in; a text of no known language without accents fits any.

    Two such texts are English when together they show as much of it as one would have to.
    """
    code_a = short_code(language_a) or guess_language(a)
    code_b = short_code(language_b) or guess_language(b)
    if code_a is None and code_b is None:
        return (
            "en" if _weighed(a)[1] + _weighed(b)[1] >= _ENOUGH and _weighed(a)[1] and _weighed(b)[1] else None
        )
    if code_a == code_b:
        return code_a
    if code_a is None and _unaccented(a):
        return code_b
    return code_a if code_b is None and _unaccented(b) else None


def _unaccented(text: str) -> bool:
    return text.isascii() or all(character.isascii() for character in text if character.isalpha())


def short_code(language: str | None) -> str | None:
    """Return `en` for `en-GB` or `EN`."""
    return re.split("[-_]", language)[0].lower() if language else None


def _english_score(words: list[str]) -> float:
    strong = sum(word in STRONG_ENGLISH for word in words)
    weak = sum(word in WEAK_ENGLISH for word in words)
    plain = sum(word in PLAIN_ENGLISH or word.removesuffix("s") in PLAIN_ENGLISH for word in words)
    shaped = sum(len(word) > 4 and word.endswith(("ed", "ing", "ly", "ship", "ness")) for word in words)
    return strong + 0.3 * weak + 0.6 * plain + 0.25 * min(shaped, 1)


def _by_script(sample: str) -> str | None:
    """Return the language of the script that most letters outside ASCII are in, if it is no Latin."""
    letters = [c for c in sample if c.isalpha()]
    counts: dict[str, int] = {}
    for letter in letters:
        if letter > "\u036f":
            for first, last, code in SCRIPTS:
                if first <= letter <= last:
                    counts[code] = counts.get(code, 0) + 1
                    break
    if not counts or sum(counts.values()) < 0.3 * len(letters):
        return None
    return "ja" if "ja" in counts else max(counts, key=lambda code: counts[code])
