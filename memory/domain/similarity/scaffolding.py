"""Which words of an English sentence only hold the fact up: "The user told us that", "in our project".

A word counts as scaffolding by its position, never by itself: *user* in "user database" is part of the fact.
"""

import re

from memory.domain.similarity import lexicon as lx
from memory.domain.similarity.verbs import lemma

_BREAKS = frozenset(",;:.=?!")
_SMALL = (
    lx.BE_NOW
    | lx.BE_PAST
    | lx.HAVE
    | lx.NEGATIONS
    | frozenset(lx.MODALS)
    | frozenset(lx.ROLES)
    | lx.STOP
    | {"'s", "only"}
)
_REPORTING = frozenset(lemma(word) for word in lx.REPORTING)
_VERBS = frozenset(lemma(word) for word in lx.VERBS) | _REPORTING
_EVENT_VERBS = frozenset(lemma(word) for word in lx.EVENT_VERBS)
_LIGHT = frozenset(lemma(word) for word in lx.LIGHT)
_OPENING = 1
_CLOCK = re.compile(r"\d\d:\d\d\Z")
_DATE = re.compile(r"(?:\d{4}|yyyy)-\d\d(?:-\d\d)?\Z")
_MONTHS = frozenset(lx.MONTHS)
_HEARERS = frozenset({"us", "me", "you"})


def time_kind(token: str) -> str:
    """Return `day`, `month`, `part`, `clock` or `date` for a word that tells a time, and "" for others."""
    one = token.removesuffix("s")
    if one in lx.WEEKDAYS:
        return "day"
    if token in _MONTHS:
        return "month"
    if one in lx.TIME_NOUNS:
        return "part"
    if _CLOCK.match(token):
        return "clock"
    return "date" if _DATE.match(token) else ""


def scaffolds(tokens: list[str]) -> frozenset[int]:
    """Return the positions of the tokens that are scaffolding."""
    return frozenset(at for at in range(len(tokens)) if _is_scaffold(tokens, at))


def _is_scaffold(tokens: list[str], at: int) -> bool:
    token = tokens[at]
    before = tokens[at - 1] if at else ""
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    if token in lx.ADVERBS:
        return True
    if token == "always":
        return before in {"", ".", "please", "you", "we", ","}
    stem = lemma(token)
    if stem in lx.PEOPLE:
        return (before in lx.DETERMINERS or before in _BREAKS | {""} or before == "a") and _ends_subject(
            after
        )
    if stem in lx.ACTORS:
        return before in lx.DETERMINERS | {"a"} and at <= _OPENING and _ends_subject(after)
    if stem in lx.PLACES or token in lx.PLACES:
        opening = at == 2 and tokens[0] in {"in", "at", "for", "within", "on"}
        return before in lx.DETERMINERS and (opening or _ends_subject(after))
    if stem in _REPORTING:
        return _reports(tokens, at, after)
    if token == "according":
        return after == "to"
    later = tokens[at + 2] if at + 2 < len(tokens) else ""
    return _is_light(stem, token, before, after, later)


def _is_light(stem: str, token: str, before: str, after: str, later: str) -> bool:
    """Tell whether a word adds nothing between its neighbours: "the timeout value is", "is located in"."""
    if token in lx.LIGHT_NOUNS:
        return before.isalpha() and before not in _SMALL and (after in _BREAKS or after in lx.BE_NOW)
    if token in lx.STATIVE:
        return before in lx.BE_NOW | lx.ADVERBS | {":"} and after == lx.STATIVE[token]
    return stem in _EVENT_VERBS and after in {"in", "on", "at", "every"} and bool(time_kind(later))


def is_light(tokens: list[str], at: int) -> bool:
    """Tell whether a word adds nothing where another wording of the fact leaves it out: "the position of"."""
    following = tokens[at + 1] if at + 1 < len(tokens) else ""
    if tokens[at] in lx.LIGHT_VERBS:
        return True
    return (tokens[at] in lx.LIGHT or lemma(tokens[at]) in _LIGHT) and _ends_subject(following)


def _ends_subject(after: str) -> bool:
    """Tell whether a noun ends here: what follows is no further noun that it would qualify."""
    return after in _SMALL or after in _BREAKS or after in lx.ADVERBS or after == "" or lemma(after) in _VERBS


def _reports(tokens: list[str], at: int, after: str) -> bool:
    """Tell whether a verb of saying leads to the fact: "mentioned that", "told us that", "note:"."""
    if after in {"that", ":", "having"}:
        return True
    if after in _HEARERS:
        return at + 2 < len(tokens) and tokens[at + 2] == "that"
    return lemma(after) in _REPORTING and at + 2 < len(tokens) and tokens[at + 2] == "that"
