"""How much the wording of a passage resembles sentences that direct a reader: a look beside the rules.

The rules know forms; this weighs single words and pairs of words, and runs of up to three *shapes* (small words as they
are, others as a verb, a past form, a name, a number, an address or an ending).  Each has a weight learnt from the lists
in `scripts/wording/` by logistic regression (`scripts/learn_wording.py`).  The score of a passage with n runs is

    s = bias + (sum of the weights of its known runs) / sqrt(n)

in log-odds: 0 is as likely one as the other.  What is not known counts in n: an unfamiliar subject is held less often.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from memory.domain.sanitisation.tokens import Sentence, Token
from memory.domain.sanitisation.words import SMALL_WORDS, is_known_verb, is_past

_WORDS_IN_A_ROW: Final = (1, 2)
_SHAPES_IN_A_ROW: Final = (1, 2, 3)
_ENDINGS: Final = ("ing", "ed", "ly", "tion", "ment", "ness", "s")
_LONGER_THAN_ITS_ENDING: Final = 2
_FEWEST_WORDS: Final = 4
_SURER: Final = 1.0
_LATIN_ENDS: Final = 0x250
_TYPOGRAPHIC: Final = "‘’“”–—…•€→"


class Weights(NamedTuple):
    """What was learnt: log-odds of each run, of no run at all, and from where on a passage is held."""

    runs: Mapping[str, float]
    bias: float
    threshold: float


@cache
def _weights() -> Weights:
    kept = json.loads(files(__package__).joinpath("wording_weights.json").read_text("utf-8"))
    return Weights(kept["runs"], kept["bias"], kept["threshold"])


def wordings(sentences: Sequence[Sentence], *, decoded: bool = False) -> Iterator[tuple[int, int]]:
    """The spans of sentences that are worded like a direction.

    What had to be decoded first takes more, because decoding gives back much that nobody wrote.
    """
    weights = _weights()
    if decoded:
        weights = weights._replace(threshold=weights.threshold + _SURER)
    for sentence in sentences:
        if _directs(sentence.tokens, weights):
            yield sentence.tokens[0].start, sentence.tokens[-1].end


def _directs(tokens: Sequence[Token], weights: Weights) -> bool:
    words = sum(token.kind == "word" for token in tokens)
    if words < _FEWEST_WORDS or not all(_legible(token.text) for token in tokens):
        return False
    return score(runs(tokens), weights) >= weights.threshold


def _legible(text: str) -> bool:
    """Whether it is written in ordinary letters and signs; what is not has a reading of its own."""
    return text.isascii() or all(
        (ord(sign) < _LATIN_ENDS and sign.isprintable()) or sign in _TYPOGRAPHIC for sign in text
    )


def score(found: set[str], weights: Weights) -> float:
    """Log-odds that a passage with these runs directs."""
    known = math.fsum(weights.runs.get(run, 0.0) for run in found)
    return weights.bias + known / math.sqrt(max(1, len(found)))


def runs(tokens: Sequence[Token]) -> set[str]:
    """Words, pairs of words and, marked by "~", shapes in a row, with the begin and the end of the passage."""
    bullet = next((index for index, token in enumerate(tokens) if token.kind != "sign"), 0)
    words = ["^", *(_word(token, first=not index) for index, token in enumerate(tokens[bullet:])), "$"]
    shapes = [_shape(word) for word in words]
    return {
        *(" ".join(row) for length in _WORDS_IN_A_ROW for row in _rows(words, length)),
        *("~" + " ".join(row) for length in _SHAPES_IN_A_ROW for row in _rows(shapes, length)),
    }


def _rows(parts: Sequence[str], length: int) -> Iterator[Sequence[str]]:
    return (parts[start : start + length] for start in range(len(parts) - length + 1))


def _word(token: Token, *, first: bool) -> str:
    """Names, numbers and addresses count as such, not by what they are."""
    if token.kind == "word":
        return "<name>" if token.is_name and not first and token.text != "I" else token.low
    if token.kind == "number":
        return "<number>"
    if token.kind == "entity":
        return "<address>" if "://" in token.text or "@" in token.text else "<thing>"
    return token.text


def _shape(word: str) -> str:
    if word in SMALL_WORDS or not word[0].isalpha():
        return word
    if is_known_verb(word):
        return "<verb>"
    if is_past(word):
        return "<past>"
    ending = next(
        (e for e in _ENDINGS if word.endswith(e) and len(word) > len(e) + _LONGER_THAN_ITS_ENDING), ""
    )
    return f"<{ending or 'word'}>"
