"""Which of two wordings of one fact is kept as the text; the other stays listed beside it."""

from typing import Literal

from memory.domain.similarity.analysis import analyse

_CLEARLY_SURER = 0.1  # a smaller lead in confidence does not outweigh a more telling text
_MAX_CHARACTERS = 2_000


def stronger_wording(
    a_content: str, a_confidence: float, b_content: str, b_confidence: float
) -> Literal["a", "b"]:
    """Return which wording to keep; `a` is the one that was there first and wins a tie.

    The clearly surer one; else the one that tells more (figures, then content words); else the one with less
    around the same fact. Confidences are 0 to 1, best already weighed by trust.
    """
    if abs(a_confidence - b_confidence) > _CLEARLY_SURER:
        return "a" if a_confidence > b_confidence else "b"
    figures_a, words_a = _telling(a_content)
    figures_b, words_b = _telling(b_content)
    strength_a = (figures_a, words_a, -len(a_content), a_confidence)
    strength_b = (figures_b, words_b, -len(b_content), b_confidence)
    return "b" if strength_b > strength_a else "a"


def _telling(text: str) -> tuple[int, int]:
    content = analyse(text[:_MAX_CHARACTERS]).content
    return sum(not stem.isalpha() for stem in content), len(content)
