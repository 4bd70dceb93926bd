"""Whether two short texts state the same fact: `same`, `review` or `different`.

`same` needs more than likeness: either the canonical writings are equal, or, in English, all content words
are the same and no guard objects. Likeness of vectors alone never merges; it only asks for a review.
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import Literal

from memory.domain.similarity.alignment import MAX_LEFT, Alignment, align
from memory.domain.similarity.analysis import Analysis, analyse
from memory.domain.similarity.canonical import canonical, same_canonical
from memory.domain.similarity.guards import HARD, reasons, states_nothing
from memory.domain.similarity.language import common_language
from memory.domain.text import terms

Verdict = Literal["same", "review", "different"]

REVIEW_COSINE = 0.6  # for English; the built-in model was trained on it
REVIEW_COSINE_FOREIGN = 0.85
REVIEW_JACCARD = 0.6
REVIEW_CONTAINMENT = 0.8
_MAX_CHARACTERS = 2_000  # longer texts are no single facts: only equal ones are merged
_FEW_DIGITS = frozenset("0123456789")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reasons: `exact`, `canonical`, `content`, `similar`, or the guards that objected."""

    verdict: Verdict
    reasons: tuple[str, ...]
    jaccard: float
    containment: float


def judge(
    a: str,
    b: str,
    cosine: float | None,
    *,
    language_a: str | None = None,
    language_b: str | None = None,
    explain: bool = True,
) -> Judgement:
    """Judge two texts. `cosine` is that of their vectors, or None when there is no embedder.

    Without `explain` the verdict is the same, but the guards are not asked why two texts differ that differ anyway.

    Languages are two-letter codes or None to have them guessed. Only English has rules of its own: elsewhere
    nothing but an equal canonical writing is `same`.
    """
    if a == b:
        return Judgement("same", ("exact",), 1.0, 1.0)
    if same_canonical(a, b):
        return Judgement("same", ("canonical",), 1.0, 1.0)
    language = common_language(a, b, language_a, language_b)
    if language == "en" and max(len(a), len(b)) <= _MAX_CHARACTERS:
        return _judge_english(a, b, cosine, explain=explain)
    return _judge_without_rules(a, b, cosine, language)


def likeness(a: str, b: str, cosine: float | None) -> Verdict:
    """The verdict by the words, and where they say `different`, by the vectors if these are close.

    For the write path: either view is enough to ask a person, neither keeps the other quiet.
    """
    close = cosine is not None and cosine >= REVIEW_COSINE
    found = judge(a, b, None, explain=close)
    if found.verdict == "different" and close and HARD.isdisjoint(found.reasons):
        return judge(a, b, cosine).verdict
    return found.verdict


def _judge_english(a: str, b: str, cosine: float | None, *, explain: bool) -> Judgement:
    if canonical(a, "en") == canonical(b, "en"):
        return Judgement("same", ("canonical",), 1.0, 1.0)
    left, right = analyse(a), analyse(b)
    if left.content.isdisjoint(right.content) and (cosine is None or cosine < REVIEW_COSINE):
        return Judgement("different", ("content",), 0.0, 0.0)
    jaccard, containment = _overlap(left.content, right.content)
    alike = _alike(jaccard, containment, cosine, REVIEW_COSINE)
    if not explain and not alike and len(left.content ^ right.content) > MAX_LEFT:
        return Judgement("different", ("content",), jaccard, containment)
    aligned = align(left, right)
    same = _same_content(aligned, left, right)
    if not explain and not alike and not same:
        return Judgement("different", ("content",), jaccard, containment)
    objections = reasons(left, right, aligned)
    if not objections and same:
        return Judgement("same", ("content",), jaccard, containment)
    if HARD.isdisjoint(objections) and alike:
        return Judgement("review", ("similar", *objections), jaccard, containment)
    return Judgement("different", objections or ("content",), jaccard, containment)


def _same_content(aligned: Alignment, a: Analysis, b: Analysis) -> bool:
    """Nothing but scaffolding is left over, or beside a mere note words that add nothing; something else is shared."""
    more_a = [unit for unit in aligned.left_a if not unit.scaffold]
    more_b = [unit for unit in aligned.left_b if not unit.scaffold]
    if more_a and more_b:
        return False
    if (more_a or more_b) and not states_nothing(b if more_a else a):
        return False
    if any(not unit.light or unit.negated for unit in (*more_a, *more_b)):
        return False
    return any(not x.scaffold or not y.scaffold for x, y in aligned.pairs)


def _judge_without_rules(a: str, b: str, cosine: float | None, language: str | None) -> Judgement:
    words_a, words_b = terms(canonical(a), language), terms(canonical(b), language)
    jaccard, containment = _overlap(set(words_a), set(words_b))
    if _figures(words_a) != _figures(words_b):
        return Judgement("different", ("number",), jaccard, containment)
    if _alike(jaccard, containment, cosine, REVIEW_COSINE_FOREIGN):
        return Judgement("review", ("similar",), jaccard, containment)
    return Judgement("different", ("content",), jaccard, containment)


def _figures(words: list[str]) -> list[str]:
    return sorted(word for word in words if not _FEW_DIGITS.isdisjoint(word))


def _overlap(a: Set[str], b: Set[str]) -> tuple[float, float]:
    if not a or not b:
        return 0.0, 0.0
    shared = len(a & b)
    return shared / len(a | b), shared / min(len(a), len(b))


def _alike(jaccard: float, containment: float, cosine: float | None, threshold: float) -> bool:
    """With a vector the vector decides; without one the words do, more cautiously for one-sided additions."""
    if cosine is not None:
        return cosine >= threshold
    return jaccard >= REVIEW_JACCARD or (containment >= REVIEW_CONTAINMENT and jaccard >= REVIEW_JACCARD / 2)
