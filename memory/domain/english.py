"""English grammar that the recognisers of admission share: closed word classes and sentence shapes.

Closed classes only (modals, auxiliaries, pronouns, interjections) and a few open sets that a rule needs. Text
in another language does not match these patterns and so passes them.
"""

from __future__ import annotations

import re
from typing import Final

DAYS: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"

# What makes a sentence a standing rule rather than a report of the moment: duty, recurrence, condition.
_STANDING = re.compile(
    rf"""\b(?:must|should|shall|ought\ to|ha(?:ve|s)\ to|needs?\ to|required?|requires|requirement
    |never|always|do\ not|don't|don’t|avoid|ensure|make\ sure|policy|rule|convention|by\ default
    |if|whenever|unless|every|(?<!for\ )each|daily|weekly|monthly|nightly|hourly|usually|typically|generally|normally
    |regularly|often|on\ {DAYS}|since\ \d{{4}}|for\ \d+\ years)\b""",
    re.IGNORECASE | re.VERBOSE,
)

# Verbs that begin a standing instruction; a command for the moment begins with others.
STANDING_VERBS: Final = frozenset(
    "use prefer avoid keep never always dont don't ensure require treat format name put place store".split()
)

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*\s+")
WORD: Final = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")


_QUOTED = re.compile(r"(?<!\w)(['\"“‘«])[^'\"”’»]{1,80}['\"”’»](?!\w)")


def standing(text: str) -> bool:
    """Whether the text states a duty, a habit or a condition, which stays true after the moment.

    What stands in quotes is a title or a word that is spoken of, not the sentence's own.
    """
    return bool(_STANDING.search(_QUOTED.sub(" ", text)))


def words(text: str) -> list[str]:
    """The words in lower case, apostrophes straight."""
    return [word.replace("’", "'") for word in WORD.findall(text.casefold())]


def sentences(text: str) -> list[str]:
    """A rough split into sentences, in any script that closes them with a mark."""
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def bare(text: str) -> str:
    """The text without list bullets, headings and quote marks in front of it."""
    return re.sub(r"^(?:\s*(?:[-*•>]|#{1,6})\s+)+", "", text).strip()
