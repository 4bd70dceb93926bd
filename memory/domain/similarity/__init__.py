"""Near duplicates: whether two short texts state one fact, and which texts are worth comparing.

Pure: texts and numbers in, verdicts out. `docs/near-duplicates.md` has the rules in words, and the figures.
"""

from memory.domain.similarity.blocking import block_keys, candidate_pairs, cluster
from memory.domain.similarity.canonical import canonical, same_canonical
from memory.domain.similarity.judge import Judgement, Verdict, judge, likeness
from memory.domain.similarity.language import guess_language
from memory.domain.similarity.wording import stronger_wording

__all__ = [
    "Judgement",
    "Verdict",
    "block_keys",
    "candidate_pairs",
    "canonical",
    "cluster",
    "guess_language",
    "judge",
    "likeness",
    "same_canonical",
    "stronger_wording",
]
