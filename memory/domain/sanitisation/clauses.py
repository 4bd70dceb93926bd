"""Questions about a run of tokens: where a finite verb stands, what governs a verb, how an object begins.

A shallow look at English, enough to tell a noun from a verb at the head of a clause. No verdicts here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memory.domain.sanitisation.tokens import Token
from memory.domain.sanitisation.verbs import word_set
from memory.domain.sanitisation.words import (
    DETERMINERS,
    MODALS,
    OBJECT_PRONOUNS,
    PREPOSITIONS,
    RELATIVES,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
    is_auxiliary,
    is_known_verb,
    is_past,
    is_plain_verb,
    is_third_person,
    is_time_noun,
)

# Third persons that are hardly ever the plural of a noun.
_VERBAL_S: Final = word_set(
    """
    closes opens starts ends runs works takes costs moves lives goes uses needs leads means makes comes
    leaves falls fails rises drops grows stays lasts covers shows returns sits stands hits sends gets gives
    keeps plays reads seems feels wants likes likes contains holds expires loads rotates wins loses visits
    helps ships belongs consists exists depends relates lies resides differs happens occurs appears remains
    begins
    """
)
# Past forms that are base forms or nouns as well: "a blank set of rules".
_PAST_AND_BASE: Final = word_set(
    "set cut put cost hit hurt let read spread quit shut ground bound left saw felt found"
)
_BASE_AFTER: Final = word_set(
    """
    to do does did don't doesn't didn't let lets make makes made help helps helped helping letting making
    see watch
    """
)
_PRONOUNS: Final = word_set("i we they you who that which he she it")


def at(tokens: Sequence[Token], index: int) -> Token | None:
    return tokens[index] if 0 <= index < len(tokens) else None


def begins_object(tokens: Sequence[Token], index: int) -> bool:
    """Whether a noun phrase that can only be an object begins at `index`: "the file", "them", an address."""
    token = at(tokens, index)
    if token is None:
        return False
    if token.kind == "entity":
        return True
    after = at(tokens, index + 1)
    if token.low in DETERMINERS:
        if (
            after is not None
            and is_time_noun(after.low)
            and token.low not in ("a", "an", "its", "their", "your")
        ):
            return False
        if token.low in ("that", "no", "this", "such") and after is not None:
            return not (is_auxiliary(after.low) or after.low in ("longer", "as", "way"))
        return True
    return token.low in OBJECT_PRONOUNS and token.low != "you"


def finite_from(tokens: Sequence[Token], index: int) -> int | None:
    """Where the first finite verb of the main clause stands from `index` on, if one is seen."""
    position = index
    while position < len(tokens):
        token = tokens[position]
        if position > index and (token.low in RELATIVES or token.low in SUBORDINATORS):
            position = _past_relative(tokens, position)
            continue
        if token.kind == "word" and _is_finite(tokens, position, index):
            return position
        position += 1
    return None


def _past_relative(tokens: Sequence[Token], index: int) -> int:
    """The position after the verb of a relative or subordinate clause that begins at `index`."""
    for position in range(index + 1, min(index + 6, len(tokens))):
        low = tokens[position].low
        if is_auxiliary(low) or is_past(low) or is_third_person(low):
            after = at(tokens, position + 1)
            return position + (2 if after is not None and is_past(after.low) else 1)
    return index + 1


def _is_finite(tokens: Sequence[Token], position: int, first: int) -> bool:
    token = tokens[position]
    if is_auxiliary(token.low):
        return True
    before = at(tokens, position - 1)
    after = at(tokens, position + 1)
    if before is not None and before.low in DETERMINERS:
        return False
    if token.low in _PAST_AND_BASE and not (
        before is not None and (before.is_name or before.low.endswith("s"))
    ):
        return False
    if is_past(token.low):
        # "the deleted rows" has a noun after it, "rows deleted by" has not
        if position == first:
            return (
                after is None or after.kind != "word" or after.low in PREPOSITIONS or after.low in DETERMINERS
            )
        return before is not None and before.kind != "sign" and before.low not in PREPOSITIONS
    if token.low in _VERBAL_S:
        return True
    if not is_third_person(token.low):
        return False
    if is_plain_verb(_stem(token.low)):
        return True
    if position == first:
        return False
    follows = after is not None and (
        after.low in DETERMINERS
        or after.low in OBJECT_PRONOUNS
        or after.is_name
        or after.kind in ("number", "entity")
    )
    return follows and before is not None and before.kind != "sign" and before.low not in PREPOSITIONS


def _stem(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if is_plain_verb(word[:-2]) else word[:-1]


def governed(tokens: Sequence[Token], end: int) -> bool:
    """Whether a base form at `end` may hang on an earlier "to", modal or plural subject: "they read and send"."""
    for position in range(end):
        low = tokens[position].low
        after = at(tokens, position + 1)
        if low in MODALS or (low == "to" and after is not None and _infinitive(after)):
            return True
        if low in _BASE_AFTER and low != "to" and position:
            return True
        if low in _PRONOUNS and after is not None and is_known_verb(after.low):
            return True
        if position and is_known_verb(low) and _plural_subject(tokens, position):
            return True
    return False


def _infinitive(token: Token) -> bool:
    """Whether "to" before this word makes an infinitive: "to recharge", unlike "to the desk", "to Lyon"."""
    plain = token.kind == "word" and not token.is_name and token.low not in DETERMINERS
    return plain and token.low not in OBJECT_PRONOUNS and not token.low.endswith(("ing", "s"))


def _plural_subject(tokens: Sequence[Token], verb: int) -> bool:
    """Whether the word before a base form is a plural that can be its subject: "the reviewers read"."""
    before = tokens[verb - 1]
    after = at(tokens, verb + 1)
    if before.kind != "word" or not before.low.endswith("s") or before.low.endswith("ss"):
        return False
    return (
        after is None or after.low in DETERMINERS or after.low in PREPOSITIONS or after.low in SUBORDINATORS
    )


def has_subject_before(tokens: Sequence[Token], index: int) -> bool:
    """Whether a pronoun that is a subject stands before `index`."""
    return any(tokens[position].low in SUBJECT_PRONOUNS for position in range(index))
