"""Search terms: how a text becomes the words that BM25 counts, the same for memories and for queries.

Pure functions of the text. No database, no scoring and no judgement about meaning: near duplicates are
judged in `memory.domain.similarity`. Changing what is produced here makes the stored index stale, so raise
`TERMS_VERSION` with every such change.
"""

import re
import sys
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import Stemmer  # type: ignore[import-not-found]

from memory.domain.stop_words import ENGLISH_STOP_WORDS

TERMS_VERSION = 2
MAX_TERMS = 1024  # a memory of 8,000 characters, the longest one allowed, stays searchable to its end
MAX_QUERY_TERMS = 32
MAX_TERM_LENGTH = 64
_CACHED = 40

_SNOWBALL = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
# Written with vowel signs, which are no letters.
_MARKED = ("hi", "ta")
_CONTRACTED = ("s", "re", "ve", "ll", "d", "m", "t")

# Scripts written without spaces: Thai, Lao, Myanmar, Khmer, kana, Han, Hangul. Hangul has spaces but its
# particles are glued to the noun, so that pairs of syllables find more than whole words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)


def _combining_marks() -> str:
    """Return the marks as a character class: `\\w` leaves them out, which would cut Indic words apart."""
    marks = [c for c in map(chr, range(min(sys.maxunicode, 0x1FFFF))) if unicodedata.category(c)[0] == "M"]
    runs: list[list[str]] = []
    for mark in marks:
        if runs and ord(mark) == ord(runs[-1][1]) + 1:
            runs[-1][1] = mark
        else:
            runs.append([mark, mark])
    return "".join(f"{first}-{last}" for first, last in runs)


_LETTER = rf"(?:(?![{_UNSPACED}])(?:[^\W_]|[{_combining_marks()}]))"
_JOINT = r"(?:://|::|_+|[./\\@:\-'])"
_CHUNK = re.compile(rf"[{_UNSPACED}]+|{_LETTER}+(?:{_JOINT}{_LETTER}+)*(?:\+\+|#)?")
_ASCII_CHUNK = re.compile(rf"[A-Za-z0-9]+(?:{_JOINT}[A-Za-z0-9]+)*(?:\+\+|#)?")
WORD = re.compile(rf"{_LETTER}+")
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]+")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_ACCENT = re.compile("(?<=[A-Za-z\u0370-\u03ff])[\u0300-\u036f]+")
# Vowel signs and the stretching line of Arabic, the points of Hebrew: written or not as the writer likes.
_OPTIONAL_SIGN = re.compile("[\u0640\u064b-\u065f\u0670\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PLAIN_WORD = re.compile(r"[A-Za-z]?[a-z]+\Z")
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MEASURE = re.compile(r"(\d+(?:\.\d+)*)([a-z%]+)\Z")
_NUMBERED = re.compile(r"([a-z]+)(\d+(?:\.\d+)*)\Z")
_DECIMAL = re.compile(r"\d+(?:\.\d+)+\Z")
_SPLIT = re.compile(_JOINT)
_LIGHT_JOINTS = frozenset("_-'")

_stemmers = threading.local()


def terms(text: str, language: str | None = "en", limit: int = MAX_TERMS) -> list[str]:
    """Return the search terms of a text in order, repeats included, at most `limit`.

    `language` is a two-letter code: it picks the stemmer for Latin and Cyrillic words, and for "en" the stop
    words. Without one nothing is stemmed or left out. A query must be cut with the language of the index.
    """
    found: list[str] = []
    folded = fold(text)
    for match in (_ASCII_CHUNK if folded.isascii() else _CHUNK).finditer(folded):
        chunk = match[0]
        found.extend(
            _short_chunk_terms(chunk, language) if len(chunk) <= _CACHED else _chunk_terms(chunk, language)
        )
        if len(found) >= limit:
            return found[:limit]
    return found


def query_terms(text: str, language: str | None = "en", limit: int = MAX_QUERY_TERMS) -> list[str]:
    """Return the distinct terms of a query in order; of too many, those that look rarest are kept."""
    distinct = list(dict.fromkeys(terms(text, language)))
    if len(distinct) <= limit:
        return distinct
    kept = sorted(range(len(distinct)), key=lambda at: (-_rarity(distinct[at]), at))[:limit]
    return [distinct[at] for at in sorted(kept)]


def _rarity(term: str) -> int:
    """Guess how rare a term is by its looks: figures and joined names first, then long words."""
    special = any(c.isdigit() for c in term) or not term.isalnum()
    return (100 if special and len(term) > 1 else 0) + len(term)


def fold(text: str) -> str:
    """Undo what must not matter to search: compatibility forms, accents, optional signs, thousands marks."""
    if text.isascii():
        return _THOUSANDS.sub("", text) if "," in text else text
    plain = _INVISIBLE.sub("", text).replace("’", "'")
    plain = _ACCENT.sub("", unicodedata.normalize("NFKD", plain))
    plain = _OPTIONAL_SIGN.sub("", plain)
    return _THOUSANDS.sub("", unicodedata.normalize("NFKC", plain))


def _chunk_terms(chunk: str, language: str | None) -> tuple[str, ...]:
    return tuple(_run_terms(chunk) if _UNSPACED_START.match(chunk) else _word_terms(chunk, language))


# Words repeat: the cache makes cutting a text some six times cheaper. Long chunks stay out to bound its size.
_short_chunk_terms = lru_cache(maxsize=65_536)(_chunk_terms)


def _run_terms(run: str) -> Iterator[str]:
    """Cut a run of an unspaced script into pairs; a lone Han character is a word of its own as well."""
    if len(run) == 1:
        yield run
        return
    for at in range(len(run) - 1):
        yield run[at : at + 2]
    for han in _HAN.finditer(run):
        if len(han[0]) == 1:
            yield han[0]


def _word_terms(chunk: str, language: str | None) -> list[str]:
    """Return the terms of one chunk without spaces: a word, or a name or path whole and in its parts."""
    if _PLAIN_WORD.match(chunk):
        return _kept([chunk.casefold()], language)
    if "'" in chunk:
        chunk = _without_contraction(chunk, language)
    parts = [part for part in _SPLIT.split(chunk) if part]
    if len(parts) == 1:
        return _kept([chunk.casefold(), *_inner_parts(chunk)], language)
    folded = [part.casefold() for part in parts]
    if _DECIMAL.match(chunk) or _NUMBERED.match(chunk.casefold()):
        return _kept([chunk.casefold(), *_figures(chunk.casefold())], language)
    light = all(c in _LIGHT_JOINTS or c.isalnum() or unicodedata.category(c)[0] == "M" for c in chunk)
    whole = "".join(folded) if light else chunk.casefold()
    inner = [small for part in parts for small in _inner_parts(part)]
    pieces = [whole, *folded, *inner]
    return _kept(dict.fromkeys(piece for piece in pieces if len(piece) > 1 or piece.isdigit()), language)


def _without_contraction(chunk: str, language: str | None) -> str:
    head, _, tail = chunk.rpartition("'")
    if language == "en" and tail.casefold() in _CONTRACTED:
        return chunk.replace("'", "") if tail.casefold() == "t" else head
    return chunk


def _inner_parts(part: str) -> list[str]:
    """Return the words inside CamelCase, and number and unit of things like `25MB` or `python3`."""
    lowered = part.casefold()
    if figures := _figures(lowered):
        return figures
    if not part.isascii() or part.islower() or part.isupper() or part.isdigit():
        return []
    words = [word.casefold() for word in _CAMEL_PART.findall(part)]
    return [word for word in words if len(word) > 1] if len(words) > 1 else []


def _figures(lowered: str) -> list[str]:
    if measure := _MEASURE.match(lowered):
        return [measure[1], measure[2]] if len(measure[2]) > 1 else [measure[1]]
    if numbered := _NUMBERED.match(lowered):
        return [numbered[1], numbered[2]] if len(numbered[1]) > 1 else [numbered[2]]
    return []


def _kept(pieces: list[str] | dict[str, None], language: str | None) -> list[str]:
    """Stem what is a word, and leave the stop words out."""
    if language == "en":
        return [stem(piece, language) for piece in pieces if piece not in ENGLISH_STOP_WORDS]
    return [stem(piece, language) for piece in pieces]


def stem(word: str, language: str | None) -> str:
    """A folded word as the stemmer of the language leaves it; unchanged where there is none."""
    algorithm = _SNOWBALL.get(language or "")
    if algorithm is not None and (word.isalpha() or language in _MARKED):
        word = str(_stemmer(algorithm).stemWord(word))
    return word[:MAX_TERM_LENGTH]


def _stemmer(algorithm: str) -> Stemmer.Stemmer:
    """Return this thread's stemmer: one object must not be used by two threads at once."""
    stemmer = getattr(_stemmers, algorithm, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(algorithm)
        setattr(_stemmers, algorithm, stemmer)
    return stemmer
