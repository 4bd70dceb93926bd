"""Obligations and permissions: modals whose subject is the reader, whoever acts, or a class of people.

Who is bound decides. "Agents must …", "every reply has to …", "nobody may …" direct a reader; "Tom has to
renew his passport", "the team agreed that reviewers must sign off" and "the parcel should be here by now"
state something about the world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from memory.domain.sanitisation.clauses import at
from memory.domain.sanitisation.subjects import (
    READERS,
    REPORTING,
    binds_a_class,
    is_personal,
    is_product,
    is_reader,
    is_reported,
    is_supposition,
    subject_of,
    subject_start,
)
from memory.domain.sanitisation.tokens import Sentence, Token
from memory.domain.sanitisation.verbs import word_set
from memory.domain.sanitisation.words import (
    FREQUENCY,
    is_known_verb,
)

Found = tuple[int, int]

_STRONG: Final = word_set("must shall mustn't shan't should shouldn't ought")
_PARTICIPLES: Final = {
    "required": "to", "supposed": "to", "expected": "to", "obliged": "to", "instructed": "to", "requested": "to",
    "advised": "to", "encouraged": "to", "asked": "to", "urged": "to", "told": "to", "obligated": "to", "bound": "to",
    "forbidden": "to", "permitted": "to", "allowed": "to", "authorised": "to", "authorized": "to", "free": "to",
    "entitled": "to", "cleared": "to", "prohibited": "from", "barred": "from", "exempt": "from", "invited": "to",
    "welcome": "to", "reminded": "to", "ordered": "to", "directed": "to", "not": "to",
}  # fmt: skip
_OTHERS: Final = word_set(
    """
    visitors customers guests pupils students members residents drivers pilots passengers players patients parents
    children tenants dogs lorries trucks cars vehicles cyclists swimmers hikers travellers tourists citizens users
    clients applicants buyers sellers suppliers runners candidates swimmers climbers borrowers lodgers owners
    """
)
_BE: Final = word_set("is are was were be 're 's isn't aren't am being been")
_IMPERSONAL: Final = word_set(
    """
    important essential crucial necessary mandatory imperative vital advisable recommended best compulsory
    obligatory forbidden prohibited required critical paramount acceptable permissible preferable advised
    wise
    """
)


def obligations(sentence: Sentence) -> Iterator[tuple[str, Found]]:
    """("obligation" or "permission", span) for each clause that binds or frees a reader."""
    if sentence.is_question:
        return
    tokens = sentence.tokens
    for index, token in enumerate(tokens):
        if token.kind != "word":
            continue
        found = _modal(tokens, index) or _participle(tokens, index) or _impersonal(tokens, index)
        if found is not None:
            start = subject_start(tokens, index)
            yield found, (tokens[start].start, tokens[-1].end)
            return


def _modal(tokens: Sequence[Token], index: int) -> str | None:
    low = tokens[index].low
    if low in _STRONG:
        return _strong(tokens, index, index + 1)
    after = at(tokens, index + 1)
    if low in ("had", "'d") and after is not None and after.low == "better":
        return _strong(tokens, index, index + 2)
    if low in ("need", "needs", "have", "has", "'ve") and after is not None and after.low == "to":
        return _need(tokens, index, index + 2)
    if low in ("is", "are") and _is_to(tokens, index):
        return _is_to_be(tokens, index)
    if low in ("will", "would", "'ll", "won't") and is_reader(tokens, index):
        return "obligation" if _follows_verb(tokens, index + 1) else None
    if low in ("may", "can", "cannot", "can't", "need") and index:
        return _permission(tokens, index)
    return None


def _strong(tokens: Sequence[Token], modal: int, verb: int) -> str | None:
    if modal == 0 or tokens[modal - 1].low in ("the", "a", "this") or at(tokens, verb) is None:
        return None
    if is_reader(tokens, modal):
        return "obligation"
    bare_product = modal == 1 and is_product(tokens, modal)
    if bare_product and not is_reported(tokens, modal):
        return "obligation"
    if is_supposition(tokens, modal, verb) or is_reported(tokens, modal) or is_personal(tokens, modal):
        return None
    return None if _binds_others(tokens, modal, verb) else "obligation"


def _binds_others(tokens: Sequence[Token], modal: int, verb: int) -> bool:
    """ "Visitors must wear closed shoes" is a rule of a house for those who come; "visitors must be told" binds the
    reader."""
    passive = any(token.low == "be" for token in tokens[verb : verb + 2])
    return not passive and bool({token.low for token in subject_of(tokens, modal)} & _OTHERS)


def _need(tokens: Sequence[Token], modal: int, verb: int) -> str | None:
    if is_reader(tokens, modal) or (is_product(tokens, modal) and not is_reported(tokens, modal)):
        return "obligation"
    if is_reported(tokens, modal) or is_personal(tokens, modal):
        return None
    return "obligation" if binds_a_class(tokens, modal) else None


def _is_to(tokens: Sequence[Token], index: int) -> bool:
    after = at(tokens, index + 1)
    if after is None:
        return False
    position = index + 2 if after.low in ("not", "never", "always", "only") else index + 1
    to, verb = at(tokens, position), at(tokens, position + 1)
    return to is not None and to.low == "to" and verb is not None and is_known_verb(verb.low)


def _is_to_be(tokens: Sequence[Token], index: int) -> str | None:
    if is_reader(tokens, index) or is_product(tokens, index) or binds_a_class(tokens, index):
        return "obligation"
    subject = subject_of(tokens, index)
    # "the goal is to halve the queue" defines; "invoices are to be paid" directs
    passive = any(token.low == "be" for token in tokens[index + 1 : index + 4])
    return "obligation" if passive and subject and not is_personal(tokens, index) else None


def _permission(tokens: Sequence[Token], modal: int) -> str | None:
    low = tokens[modal].low
    subject = {token.low for token in subject_of(tokens, modal)}
    if subject & (READERS - {"you", "system", "systems", "tool", "tools", "model", "models", "machine"}):
        return "permission"
    if "you" in subject and low == "may":
        return "permission"
    if subject & {"nobody", "noone", "none", "no", "anyone"} and low == "may":
        return None if is_reported(tokens, modal) else "permission"
    return None


def _participle(tokens: Sequence[Token], index: int) -> str | None:
    word = tokens[index].low
    link = _PARTICIPLES.get(word)
    after = at(tokens, index + 1)
    if link is None or word == "not" or after is None or after.low != link or index < 2:
        return None
    verb = index - 1
    while verb > 0 and tokens[verb].low in (FREQUENCY | {"not", "hereby", "fully"}):
        verb -= 1
    if tokens[verb].low not in _BE | {"been"} or tokens[verb].low in ("was", "were"):
        return None
    if tokens[verb].low == "been":
        verb -= 1
    if is_reader(tokens, verb) or is_product(tokens, verb):
        return "obligation"
    if is_reported(tokens, verb):
        return None
    return "obligation" if binds_a_class(tokens, verb) else None


def _impersonal(tokens: Sequence[Token], index: int) -> str | None:
    if tokens[index].low != "it" or index + 3 >= len(tokens) or _believed(tokens, index):
        return None
    position = index + 1
    if tokens[position].low not in ("is", "'s", "will", "remains"):
        return None
    for offset in range(1, 4):
        token = at(tokens, position + offset)
        if token is not None and token.low in _IMPERSONAL:
            then = at(tokens, position + offset + 1)
            return "obligation" if then is not None and then.low in ("to", "that", "for", "not") else None
    return None


def _believed(tokens: Sequence[Token], index: int) -> bool:
    """ "Believes it is important to …" tells of someone's belief."""
    return index > 0 and any(token.low in REPORTING for token in tokens[max(0, index - 3) : index])


def _follows_verb(tokens: Sequence[Token], index: int) -> bool:
    token = at(tokens, index)
    while token is not None and (token.low in FREQUENCY or token.low == "not"):
        index += 1
        token = at(tokens, index)
    return token is not None and (is_known_verb(token.low) or token.low == "be")
