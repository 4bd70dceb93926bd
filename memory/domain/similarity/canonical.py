"""One way of writing for texts that differ in nothing but marks, case, width and spaces.

Without a language only what holds for every language is evened out; with "en" also figures and short forms.
What could carry meaning stays: signs, operators, emoji, the case of opaque tokens, ß, digits between commas.
"""

import re
import unicodedata
from functools import lru_cache

from memory.domain.similarity.formats import even_out
from memory.domain.similarity.phrases import plain_words
from memory.domain.similarity.short_forms import CAPITAL_SHORT_FORMS, SHORT_NAMES

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0e\ufe0f\ufeff]")
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SAME_MARKS = str.maketrans(
    dict.fromkeys("’‘‛`´′", "'")
    | dict.fromkeys("“”„«»″", '"')
    | dict.fromkeys("‐‑‒–—−", "-")
    | {"。": ".", "、": ","}
)
_BYTE_RATE = re.compile(r"(?<=[\dKMGT ])B(?:ps|/s)\b|(?<=[KMGT])Bps\b")
_MILLIONS = re.compile(r"(?<=\d)M(?![\w])")
_OPAQUE = re.compile(r"(?<![\w/.\-])(?=\w*\d)(?=\w*[a-z])\w+[A-Z]\w*(?![\w/.\-])")
_MIN_OPAQUE = 8
_CAPITALS = re.compile(
    r"(?<![\w.\-/])("
    + "|".join(re.escape(k) for k in sorted(CAPITAL_SHORT_FORMS, key=len, reverse=True))
    + r")(?![\w\-/])"
)
# "Team A", "phase I": letters as names, which in small letters would be an article and a person.
_LETTER = re.compile(r"(?<=[a-z] )(A|I(?= (?:is|was|has|will)\b|[.,;:]|\Z))(?![\w'#+])")
# "LH 432": the code of a line and its number.
_CODE = re.compile(r"(?<=[a-z] )([A-Z]{2}) (\d{2,4})(?![\w.,:/%])")
_ACCENT = re.compile("([A-Za-z])[\u0300-\u036f]+")
_OTHER_WITH_ACCENT = ("ros\u00e9", "expos\u00e9", "r\u00e9sum", "p\u00e2t\u00e9", "lam\u00e9", "piqu\u00e9")
_BULLET = re.compile(r"\A\s*(?:[*|\u2022\u00b7]|\d{1,2}\)) +")
_SHORT_NAME = re.compile(rf"\b({'|'.join(SHORT_NAMES)})(?= [A-Z][a-z'])")
# "War II", "Chapter IV": V and X alone, and IV, can be other things, so a word must say that they count.
_ROMAN = re.compile(
    r"(?<=[a-z] )(?:VIII|III|VII|II|VI|IX)(?![\w.])"
    r"|(?:(?<=hapter )|(?<=hase )|(?<=ype )|(?<=art )|(?<=tage )|(?<=olume ))(?:IV|V|X)(?![\w.])"
)
_ROMAN_VALUES = dict(zip("II III IV V VI VII VIII IX X".split(), range(2, 11), strict=True))
# "on Sat": in small letters these are other words.
_CAPITAL_DAY = re.compile(r"(?<=[\w,;\-/(] )(Sat|Sun)\b|(?<=[\-/])(Sat|Sun)\b|\b(Sat|Sun)(?=,? \d)")
_WORDY_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)|(?<=s)'(?=\s)")
_SEPARATOR = re.compile(r"(?<![=<>!:+\-*/])[:=](?![=<>:/])(?!\d)|(?<=\D)[:=](?=\d)(?<![=<>!:+\-*/][:=])")
_JOINING_DASH = re.compile(r"(?<=[^\W\d_])[-_](?=[^\W\d_])")
_LOOSE_DASH = re.compile(r"(?<=\s)-(?=\s)|^-(?=\s)")
_PAUSE = re.compile(r"[.,;!…]+(?=\s|$)|[\"'()\[\]{}]|,(?=[^\d\s])")
_SPACED_SLASH = re.compile(r"(?<=\w)\s*/\s+(?=\w)|(?<=\w)\s+/\s*(?=\w)")
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff66-\uff9f"
_SPACE_IN_UNSPACED = re.compile(f"(?<=[{_UNSPACED}])\\s+(?=[{_UNSPACED}])")
_DOTTED_NAME = re.compile(r"(?<=[^\W\d_])\.(?=[^\W\d_])")
_SEPARATING = (
    ("'", _WORDY_APOSTROPHE, ""),
    ("/", _SPACED_SLASH, "/"),
    ("-", _JOINING_DASH, " "),
    ("_", _JOINING_DASH, " "),
    ("-", _LOOSE_DASH, " "),
    (".", _DOTTED_NAME, " "),
)


@lru_cache(maxsize=16_384)
def canonical(text: str, language: str | None = None) -> str:
    """Return the canonical writing. Equal results mean equal facts; unequal ones mean nothing.

    A text of marks alone comes back as it is, so that "!!!" and "???" do not become the same empty text.
    """
    if language == "en":
        text = rewritten(text)
    flat = _flattened(folded(text) if language != "en" else text)
    return flat or text


def same_canonical(a: str, b: str, language: str | None = None) -> bool:
    """Tell whether two texts are one text in canonical writing."""
    return a == b or canonical(a, language) == canonical(b, language)


def even_marks(text: str) -> str:
    """Return the NFKC view without invisible characters, with one kind of quote and dash, case kept."""
    if text.isascii():
        return text.replace("`", "'")
    text = _SUPERSCRIPT.sub(lambda m: "^" + m[0], text)
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text).translate(_SAME_MARKS)).translate(
        _SAME_MARKS
    )


def folded(text: str) -> str:
    """Return `even_marks` in small letters, except where case is what tells two tokens apart."""
    text = even_marks(text)
    if not any(character.isdigit() for character in text):
        return text.lower()
    text = _BYTE_RATE.sub("bytes per second", text)
    return _lower_around_opaque(text) if _OPAQUE.search(text) else text.lower()


def _plain_letters(text: str) -> str:
    """Take the accents off letters, as many who write English do; not where they make another word."""
    if text.isascii() or any(word in text.lower() for word in _OTHER_WITH_ACCENT):
        return text
    return unicodedata.normalize("NFC", _ACCENT.sub(r"\1", unicodedata.normalize("NFD", text)))


@lru_cache(maxsize=16_384)
def rewritten(text: str) -> str:
    """Return an English text in small letters with figures and short forms written one way."""
    text = _LETTER.sub(r"\1#", _BULLET.sub("", _plain_letters(even_marks(text))))
    text = _CODE.sub(r"\1\2", text)
    if "I" in text or "V" in text or "X" in text:
        text = _ROMAN.sub(lambda m: str(_ROMAN_VALUES[m[0]]), text)
    if "Sat" in text or "Sun" in text:
        text = _CAPITAL_DAY.sub(lambda m: "saturday" if m[0] == "Sat" else "sunday", text)
    text = _SHORT_NAME.sub(lambda m: SHORT_NAMES[m[1]], text)
    text = _CAPITALS.sub(lambda m: CAPITAL_SHORT_FORMS[m[1]], text)
    return even_out(plain_words(folded(_MILLIONS.sub(" million", text))))


def _lower_around_opaque(text: str) -> str:
    pieces, at = [], 0
    for match in _OPAQUE.finditer(text):
        token = match[0]
        pieces.append(text[at : match.start()].lower())
        pieces.append(token if len(token) >= _MIN_OPAQUE else token.lower())
        at = match.end()
    return "".join([*pieces, text[at:].lower()])


def _flattened(text: str) -> str:
    """Take away the marks that only separate: a colon, a full stop, quotes, a dash inside a word."""
    for mark, pattern, replacement in _SEPARATING:
        if mark in text:
            text = pattern.sub(replacement, text)
    text = _PAUSE.sub(" ", _SEPARATOR.sub(" ", text))
    if not text.isascii():
        text = _SPACE_IN_UNSPACED.sub("", text)
    return " ".join(text.split())
