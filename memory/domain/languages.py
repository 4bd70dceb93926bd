"""Which language a short text is in, as far as stemming needs to know; and the stemmer of a script.

A guess from function words and letters, made for single sentences.  English is what is left when nothing speaks for
another language: to be wrong costs little, because what a guess adds to the terms of a text never takes any away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, get_args

from memory.domain.stop_words import ENGLISH_STOP_WORDS
from memory.domain.text import fold

Language = Literal["es", "pt", "fr", "de", "it", "nl", "tr", "sv", "da", "no", "fi", "hu", "ro"]
LANGUAGES: Final[tuple[str, ...]] = get_args(Language)
"""Those of Latin script that are told apart, beside English; of two that a text could be in, the first."""

COMPOUNDING: Final = frozenset(("da", "de", "fi", "hu", "nl", "no", "sv"))
"""Languages that write several nouns as one word."""

_WORDS: Final = {
    "da": "og at det som en et er ikke på for med af til den de vi jeg har kan skal men også når hvor hvem hvilken "
    "fra vores blev hvornår i",
    "de": "der das und ist nicht ein eine einen einem einer eines wir ich sie für auf von dem des zu zum zur bei "
    "nach aus wird werden wurde sind haben hat kann muss oder aber auch nur wenn wie wann wo wer welche "
    "welcher welches dass über unter durch gegen ohne um als noch unser unsere ihr ihre im vom beim mit den "
    "die in an am so was man will",
    "es": "el la los las una unos unas y es en del para por con que se su sus al como está son más cuando cuándo "
    "dónde quién cuál nuestro nuestra pero qué cómo a no me he",
    "fi": "ja on ei että joka ovat kun mutta myös tai sekä niin kuin meidän minä hän mitä missä milloin kuka mikä "
    "me he",
    "fr": "le la les des du une est et dans pour par sur avec nous vous ils elle que qui ne pas plus ou où sont au "
    "aux ce cette ces leur quand quel quelle notre nos on me",
    "hu": "az és nem hogy egy van ez meg csak mint vagy mikor hol milyen lesz volt a is be",
    "it": "il lo la le gli una è di del della dei delle nel nella per con che non si sono da al alla come quando "
    "dove chi quale nostro nostra anche in a i",
    "nl": "de het een en van wil per niet op voor met zijn wij naar bij uit wordt worden werd moet maar ook als "
    "wanneer waar wie welke dat dit deze onze hun in is of was we me",
    "no": "og at det som en et er ikke på for med av til den de vi jeg har kan skal men også når hvor hvem hvilken "
    "fra vår våre ble i",
    "pt": "o os uma é um da dos das na nos nas para por com que não se são ao à seu sua como quando onde quem qual "
    "nosso nossa mais a as do no me",
    "ro": "și în la cu pe nu este sunt din pentru că mai sau când unde cine a",
    "sv": "och att det som en ett är inte på för med av till den vi jag har kan ska måste men också när var vem "
    "vilken från vår våra blev vill i",
    "tr": "ve bir bu için ile ne çok olan olarak var yok değil ama gibi daha her nerede",
}  # fmt: skip
_LETTERS: Final = {
    "da": "æøå", "de": "äöüß", "es": "ñ¿¡", "fi": "äö", "fr": "çèêœ", "hu": "őű", "no": "æøå", "pt": "ãõ", "ro": "șță",
    "sv": "åäö", "tr": "şğı",
}  # fmt: skip
# Words of theirs that English has as well speak for neither.
_SPEAKS_FOR: Final[Mapping[str, tuple[str, ...]]] = {
    word: tuple(language for language, words in _WORDS.items() if word in words.split())
    for word in {word for words in _WORDS.values() for word in words.split()}
    if word not in ENGLISH_STOP_WORDS
}
_COMMON: Final = {language: frozenset(fold(words).split()) for language, words in _WORDS.items()}
_SHARED: Final = {
    language: ENGLISH_STOP_WORDS.intersection(words.split()) for language, words in _WORDS.items()
}
_TELLING_LETTER: Final = re.compile(f"[{''.join(sorted(set(''.join(_LETTERS.values()))))}]")
_WORD: Final = re.compile(r"[^\W\d_]+")

_SCRIPTS: Final = (
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), "el"),
    (re.compile("[\u0400-\u052f]"), "ru"),
    (re.compile("[\u0530-\u058f]"), "hy"),
    (re.compile("[\u0600-\u06ff\u0750-\u077f]"), "ar"),
    (re.compile("[\u0900-\u097f]"), "hi"),
    (re.compile("[\u0b80-\u0bff]"), "ta"),
)


def guessed(text: str) -> str | None:
    """The language that function words and letters speak for, or None: English, another script, or too little said."""
    lowered = text.casefold()
    words = set(_WORD.findall(lowered))
    telling = words & _SPEAKS_FOR.keys()
    letters = set() if text.isascii() else set(_TELLING_LETTER.findall(lowered))
    if not telling and not letters:
        return None
    scores = dict.fromkeys(LANGUAGES, 0)
    for word in telling:
        for language in _SPEAKS_FOR[word]:
            scores[language] += 1
    for language, own in _LETTERS.items():
        scores[language] += len(letters.intersection(own))
    best = max(LANGUAGES, key=lambda language: scores[language])
    english = words & ENGLISH_STOP_WORDS - _SHARED[best]
    return best if scores[best] > len(english) else None


def is_function_word(word: str, language: str | None) -> bool:
    """Whether a folded word is too common in its language to search by."""
    return word in _COMMON.get(language or "", ())


def language_of_script(word: str) -> str | None:
    """The language whose stemmer serves the script of a word; None for Latin ones and those without a stemmer."""
    if word.isascii():
        return None
    return next((language for letters, language in _SCRIPTS if letters.match(word)), None)
