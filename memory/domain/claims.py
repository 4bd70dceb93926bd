"""Free text that states one attribute of one subject, read as a claim: liking, residence, employer, project.

So that `Hates Chinese food` replaces `Loves Chinese food` without anyone having to write triples. Whole
sentences of a few plain English forms only: a sentence that says more, or says it otherwise, is no claim, and
then nothing is replaced on its account.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from memory.domain.english import bare
from memory.domain.values import canonical_text


@dataclass(frozen=True, slots=True)
class Claim:
    """`key` names what has one value at a time; `value` is comparable, not for display."""

    key: tuple[str, ...]
    value: str


_NAME: Final = r"(?-i:[A-Z])[\w'’.-]*"
_WHO: Final = (
    rf"(?:(?!(?:now|recently|just|currently|no)\b)(?P<who>the\ user|user|i|{_NAME}(?:\ {_NAME})?)\ )?"
)
_NOW: Final = r"(?:(?:has|have|had|is|was|now|recently|just|no\ longer)\ )*"
_PROJECT: Final = r"(?:the\ )?project\ (?P<value>[\w.-]+(?:\ [\w.-]+)?)"
_NAMED: Final = r"(?P<value>(?-i:[A-Z])[\w'’.&-]*(?:[ -](?:(?-i:[A-Z])[\w'’.&-]*|de|of|the|am|upon|and|&))*)"


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"{_WHO}{pattern}[.!]*", re.IGNORECASE | re.VERBOSE)


_ATTRIBUTES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "project",
        _form(
            rf"(?:is|was|{_NOW}(?:moved|assigned|switched|transferred|reassigned))"
            rf"\ (?:now\ )?(?:on|to)\ {_PROJECT}"
        ),
    ),
    ("city", _form(rf"{_NOW}(?:lives?|resides?|based|living)\ (?:now\ )?in\ {_NAMED}")),
    ("city", _form(rf"{_NOW}(?:moved|relocated)\ (?:from\ [\w\ '’-]+?\ )?to\ (?!project\b){_NAMED}")),
    ("employer", _form(rf"{_NOW}(?:works?|employed|working)\ (?:now\ )?(?:at|for|by)\ {_NAMED}")),
)
_LIKING = _form(
    r"""(?:now\ )?(?P<verb>loves?|likes?|enjoys?|adores?|hates?|dislikes?|detests?|loathes?
    |(?:does\ not|doesn't|doesn’t|do\ not|don't|don’t|no\ longer)\ (?:like|likes|enjoy|enjoys|love|loves)
    |(?:cannot|can't|can’t)\ stand)\ (?P<value>[^.,;:!?]{2,80}?)"""
)
_AGAINST = re.compile(r"^(?:hate|dislike|detest|loathe|does|do|no|can)", re.IGNORECASE)
_QUALIFIED = re.compile(
    r"\b(?:but|when|if|unless|except|only|sometimes|because|or|and|than|to)\b", re.IGNORECASE
)


def claim_key(text: str) -> str:
    """What a free text has one value of, as 32 hexadecimal digits to look it up by; empty when it is no claim."""
    claim = claim_of(text)
    return blake2b("\x1f".join(claim.key).encode(), digest_size=16).hexdigest() if claim else ""


def same_claims(text: str, other: str) -> bool:
    """Whether two texts give the same value to the same attribute of the same subject."""
    mine = claim_of(text)
    return mine is not None and mine == claim_of(other)


@lru_cache(maxsize=4096)
def claim_of(text: str) -> Claim | None:
    """The claim that the whole text makes, None for anything richer."""
    line = bare(text)
    liking = _LIKING.fullmatch(line)
    if liking and not _QUALIFIED.search(liking["value"]):
        side = "against" if _AGAINST.match(liking["verb"]) else "for"
        return Claim((_subject(liking), "liking", canonical_text(liking["value"])), side)
    for attribute, form in _ATTRIBUTES:
        match = form.fullmatch(line)
        if match and "no longer" not in line.casefold():
            return Claim((_subject(match), attribute), canonical_text(match["value"]))
    return None


def rival_claims(text: str, other: str) -> bool:
    """Whether two texts give different values to the same attribute of the same subject."""
    mine, theirs = claim_of(text), claim_of(other)
    return mine is not None and theirs is not None and mine.key == theirs.key and mine.value != theirs.value


def _subject(match: re.Match[str]) -> str:
    """No subject, `user` and `the user` are the one whom the scope is about."""
    who = canonical_text(match["who"] or "user").removeprefix("the ")
    return "user" if who == "i" else who
