"""Near duplicates: whether two short texts state one fact, and which texts are worth comparing.

Pure: texts and numbers in, verdicts out. `docs/near-duplicates.md` has the rules in words, and the figures.
"""

from memory.domain.similarity.canonical import canonical, same_canonical
from memory.domain.similarity.judge import Judgement, Verdict, judge
from memory.domain.similarity.language import guess_language

__all__ = ["Judgement", "Verdict", "canonical", "guess_language", "judge", "same_canonical"]
