"""Secrets told by a whole sentence: the value stands apart from the word that names it.

"Use … as the token", "the password? It's …", "changed from … to …", "log in as skipper / …", "opens with code …".
The looser the tie between name and value, the more made up the value must look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from memory.domain.sanitisation.model import Match

_NAME: Final = (
    r"(?:pass[ _-]?(?:word|phrase|code|key)|passwd|pwd|pw|pin|secret|(?:api|access|auth|service|bot)?[ _-]?(?:key"
    r"|token)|credentials?|log-?in|kennwort|passwort|mot de passe|contraseña|senha)"
)
_LOCKED: Final = (
    r"(?:wi-?fi|wlan|network|hotspot|vpn|router|account|safe|door|gate|locker|vault|lock|alarm|shed)"
)
_VALUE: Final = r"[\"'`“‘«(]?(?P<value>[^\s\"'`“”«»]{4,200})"
_BE: Final = r"(?:['’]s|\s+(?:(?:still|now)\s+)?(?:is|was|reads|remains|became)(?:\s+(?:still|now))?:?)"
_PLAIN_SIGNS: Final = frozenset("-_./:'’,@")
_STOPS_A_PHRASE: Final = re.compile(
    r"\b(?:is|are|was|were|be|been|must|should|can|may|will|not|no|has|have|had|stored|kept|needs?|the|of|words?)\b"
)


def chosen(value: str) -> bool:
    """Mixed like a password: three kinds of characters, a digit or a rare sign among them, and no path or address."""
    if "/" in value or "://" in value or len(value) < 6 or _is_plain_form(value):
        return False
    return _kinds(value) >= 3 and (_has_rare_sign(value) or any(character.isdigit() for character in value))


def strong(value: str) -> bool:
    """Mixed beyond what names and versions are: a rare sign, or both cases and digits in at least nine characters."""
    cases = any(c.isupper() for c in value) and any(c.islower() for c in value)
    mixed = cases and any(c.isdigit() for c in value) and len(value) >= 9
    return chosen(value) and (mixed or _has_rare_sign(value))


def _has_rare_sign(value: str) -> bool:
    return any(not (character.isalnum() or character in _PLAIN_SIGNS) for character in value)


def generated(value: str) -> bool:
    """One long run of letters in both cases with digits, as machines make them; a hash has one case only."""
    return (
        len(value) >= 16
        and not value.startswith("pk_")  # publishable by name
        and value.replace("_", "").replace("-", "").isalnum()
        and sum(character.isdigit() for character in value) >= 2
        and re.search(r"[a-z]\d|\d[a-z]", value) is not None
        and re.search(r"[A-Z]", value[1:]) is not None
        and "-" not in value.strip("-")
    )


def _is_plain_form(value: str) -> bool:
    """Versions, dates, times, names with a number behind them, templates and calls."""
    return bool(
        re.match(
            r"[A-Za-z]+[-_]?v?\d{1,3}$|[v\d][\d.:T+Z-]*$|[A-Z]+-?\d+[A-Z]?$|[<{$%\[(*#]|\S*[(){}<>\[\]]",
            value,
        )
    )


def _kinds(value: str) -> int:
    lower = any(character.islower() for character in value)
    upper = any(character.isupper() for character in value)
    digit = any(character.isdigit() for character in value)
    sign = any(not character.isalnum() for character in value.strip("'’"))
    return lower + upper + digit + sign


def _apart(value: str) -> bool:
    return (strong(value) and _has_rare_sign(value)) or generated(value)


def _any(value: str) -> bool:
    return bool(value)


_Form = tuple[str, re.Pattern[str], Callable[[str], bool]]


def _form(rule: str, pattern: str, fits: Callable[[str], bool]) -> _Form:
    return rule, re.compile(pattern, re.IGNORECASE), fits


_FORMS: Final[tuple[_Form, ...]] = (
    # a pronoun takes the name up again: "the password? It's …", "our Wi-Fi … and its key is …"
    _form("password", rf"\b{_NAME}\b[^\n]{{0,60}}?\bit{_BE}\s+{_VALUE}", chosen),
    _form(
        "key",
        rf"\b{_LOCKED}\b[^.\n]{{0,60}}?\b(?:its|whose)\s+(?:key|code|combination|password){_BE}\s+{_VALUE}",
        chosen,
    ),
    # old and new value
    _form("password", rf"\b{_NAME}\b[^.\n]{{0,30}}?\bfrom\s+{_VALUE}\s+to\s", chosen),
    _form("password", rf"\b{_NAME}\b[^.\n]{{0,30}}?\bfrom\s+\S{{4,200}}\s+to\s+{_VALUE}", chosen),
    # apposition and the value in front
    _form("key", rf"\b{_NAME}\b[^.\n]{{0,40}}?[,:(–—]\s*{_VALUE}", _apart),
    _form(
        "key",
        rf"(?<!\S)[\"'`“(]?(?P<value>[^\s\"'`“”]{{8,200}})[\"'`”)]?,?\s+(?:as|is|was|for)\s+"
        rf"(?:the|our|my|an?|his|her|its|their)\s+(?:[\w-]+\s+){{0,3}}?{_NAME}\b",
        _apart,
    ),
    # a pair of name and password after a word of signing in
    _form(
        "password",
        r"\b(?:log(?:s|ged)?[ -]?(?:in|on)|log in|sign(?:s|ed)?[ -]?(?:in|on)|creds?|credentials?|account)\b"
        r"[^.\n]{0,60}?(?<![\w/:.@-])[\w.@-]{1,64}(?:\s/\s|/|:)(?P<value>[^\s\"'`]{6,200})",
        strong,
    ),
    _form(
        "password",
        rf"\b(?:log(?:s|ged)?|sign(?:s|ed)?)\s+(?:in|on)\s+(?:\S{{1,64}}\s+)?(?:with|using)\s+{_VALUE}",
        strong,
    ),
    # what opens a lock: digits suffice here
    _form(
        "code",
        r"\b(?:open(?:s|ed)?|unlock(?:s|ed)?|get(?:s)?\s+in(?:to)?|enter(?:s)?|disarm(?:s|ed)?)\b[^.\n]{0,40}?"
        r"\b(?:with|by|using)\s+(?:the\s+)?(?:code|pin|combination)\s+(?P<value>\d{4,10})\b",
        _any,
    ),
    _form(
        "code",
        rf"\bcombination\b[^.\n]{{0,40}}?\b{_LOCKED}\b[^.\n]{{0,30}}?\bis\s+(?P<value>\d{{1,4}}(?:-\d{{1,4}}){{1,4}}"
        r"|\d{3,8})(?!\w)",
        _any,
    ),
    # options of commands that take a password
    _form(
        "password",
        r"\b(?:sshpass|login)\b[^\n|]{0,80}?\s-p\s*[\"']?(?P<value>[^\s\"']{4,200})",
        lambda value: _kinds(value) >= 2 and not _is_plain_form(value),
    ),
    _form(
        "password",
        r"\bpass[ _-]?phrase\b[^:\n]{0,40}:\s*[\"'“]?(?P<value>(?:[a-z]{2,12} ){3,9}[a-z]{2,12})[\"'”]?\s*[.!]?$",
        lambda value: not _STOPS_A_PHRASE.search(value),
    ),
)  # fmt: skip
_TOLD: Final = re.compile(
    r"pass|pwd|\bpw\b|pin\b|secret|key|token|cred|log|sign|account|combination|code|kennwort|contrase|senha",
    re.IGNORECASE,
)


def sentence_secrets(text: str) -> Iterator[Match]:
    """Values that a sentence makes a secret, with their places."""
    if not any(character.isdigit() for character in text) and "phrase" not in text.lower():
        return
    if not _TOLD.search(text):
        return
    for rule, pattern, fits in _FORMS:
        for match in pattern.finditer(text):
            value = match["value"].rstrip(".,;:?)]}…")
            if fits(value):
                start = match.start("value")
                yield Match((start, start + len(value)), rule)
