"""Secrets that have no shape of their own: told by a word that names one and a value that looks like one.

"The password rotates monthly" names a secret and holds none, so the value decides: it must stand where a
value stands (after "is", "=", ":") and look made up rather than like a word of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from memory.domain.sanitisation.model import Match

_NAMES: Final = (
    r"(?:pass[ _-]?(?:word|phrase|code|key|wd)|pass(?=\s*[:=])|pwd|pw|pin(?:[ _-]?(?:code"
    r"|number))?"
    r"|secret(?:[ _-]?(?:access[ _-]?)?(?:key|token|value|id))?|client[ _-]secret|api[ _-]?(?:key|token"
    r"|secret)"
    r"|access[ _-]?(?:key|token|code)|auth(?:entication|orization)?[ _-]?(?:key|token|code|secret)"
    r"|(?:private|signing|encryption|master|license|licence|storage|account|service|shared|webhook|deploy"
    r"|bot|bearer|(?:totp|otp|2fa|mfa|hotp)(?:[ _-]seed)?|pre-?shared"
    r"|refresh|session|security|recovery|unlock|door|alarm|gate|safe|entry|login|backup|verification"
    r"|activation"
    r"|one[ -]time|wi-?fi|wlan|wpa|network|psk|vpn|root|admin|db|database|user|ssh|gpg|hmac|jwt|csrf"
    r"|sas)[ _-]?"
    r"(?:key|token|code|secret|pass|password|passcode|phrase|pin|pw|pwd)|token|credentials?|creds"
    r"|seed[ _-]phrase|(?:totp|otp|2fa|mfa|hotp)[ _-]?seed"
    r"|recovery[ _-]phrase|mnemonic|kennwort|passwort|mot de passe|contraseña|clave|senha|parola d'ordine)"
)
_WHOLE_NAME: Final = re.compile(rf"(?:^|\s){_NAMES}(?:\s+\d+)?$", re.IGNORECASE)
_QUOTE: Final = r"[\"'`“”‘’«»]?"
# name … is VALUE, with a few words that tie the name to its owner in between: "for the printer", "on node 2".
_PROSE: Final = re.compile(
    rf"\b(?P<name>{_NAMES})s?\b(?P<between>(?:\s+(?!is\b|was\b|are\b|to\b)[\w'’.@()-]+){{0,8}}?)"
    rf"(?:\s+\([^()\n]{{1,40}}\))?(?:\s*(?:=>|[:=→])\s*(?:[|>][+-]?\s+)?"
    rf"|,?\s+(?:is|was|are|were|be|reads|equals|becomes|remains|lautet|ist|est|es|é|è)\s+(?:now\s+|still"
    rf"\s+|(?:set|changed|reset|updated|rotated|switched)\s+to\s+"
    rf"|currently\s+|simply\s+|just\s+|probably\s+|called\s+)?|\s+(?:set\s+|changed\s+|reset\s+|updated"
    rf"\s+)?to\s+)"
    rf"(?P<quote>{_QUOTE})(?P<value>[^\s\"'`“”«»]+(?:(?<=\w)['’](?=\w)[^\s\"'`“”«»]+)*)",
    re.IGNORECASE,
)
_BESIDE: Final = re.compile(
    rf"\b(?P<name>{_NAMES})\b[\s(]+(?P<quote>{_QUOTE})(?P<value>[^\s\"'`“”«»]+)", re.IGNORECASE
)
_ASSIGNED: Final = re.compile(
    r"(?P<name>[A-Za-z0-9_.-]{0,48}(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api_?key|apikey"
    r"|access_?key|private_?key"
    r"|_key|auth|credential|signing_?key)[A-Za-z0-9_]*)[\"']?\s*(?:=|:=|=>|:)\s*(?P<quote>[\"'`]?)"
    r"(?P<value>[^\s\"'`,;]{4,})",
    re.IGNORECASE,
)
_OPTION: Final = re.compile(
    r"(?:--?(?:password|passwd|pass|token|secret|api-?key|auth-token)[= ]|\B-p(?=\S))(?P<quote>[\"']?)"
    r"(?P<value>[^\s\"']{4,})"
)
_ACCOUNT: Final = re.compile(r"(?<=\s-u\s)[\"']?[\w.@-]+:(?P<value>[^\s\"']{4,})")
_PHRASE: Final = re.compile(
    r"\b(?:seed|recovery|mnemonic|backup)\s+(?:phrase|words?|mnemonic)\b[^:\n]{0,40}?(?:\bis\b|\bare\b"
    r"|:)\s*[\"'“]?"
    r"(?P<value>(?:[a-z]{3,8}[ ,]+){11,23}[a-z]{3,8})",
    re.IGNORECASE,
)
_QUOTED_PHRASE: Final = re.compile(
    rf"\b(?P<name>{_NAMES})\b[^\"“'`\n.]{{0,50}}?(?:\bis\b|\bwas\b|\bto\b|[:=])\s*[\"“'`]"
    rf"(?P<value>[^\"”'`\n]{{4,60}})[\"”'`]",
    re.IGNORECASE,
)
_LONGEST_WORD: Final = 20
# A value that can hardly be anything but a password, in a line that speaks of a way in, wherever it stands there.
_WAY_IN: Final = re.compile(
    r"\b(?:pass(?:word|phrase|code|wd)?s?|pw|pwd|log(?:s|ged)?[ -]?(?:in|on)|login|sign(?:s|ed)?[ -]?(?:in|on)"
    r"|credentials?|creds|unlock(?:s|ed)?|opens?|joined|wi-?fi|wlan|root|admin|superuser|vault|safe|vpn)\b",
    re.IGNORECASE,
)
_CHOSEN: Final = re.compile(
    r"(?<![\w/@.:=#$%&?-])(?=\S*[a-z])(?=\S*\d)(?=\S{0,40}?[!#$%^&*~?])(?P<value>[A-Za-z0-9][\w!#$%^&*~?+@-]{4,38}"
    r"[\w!#$%^&*~+])(?![\w/=(])"
)
_LINE: Final = re.compile(r"[^\n]+")
_COMBINATION: Final = re.compile(
    r"\bcombination\b[^.\n]{0,40}?(?:\bis\b|:)\s*(?P<value>\d{1,3}(?:[- ]\d{1,3}){2,3})\b", re.IGNORECASE
)
_NAMED: Final = re.compile(rf"\b{_NAMES}s?\b|pass|pwd|secret|key|token|auth|-u\s|-p", re.IGNORECASE)
_PLACEHOLDER: Final = re.compile(
    r"^(?:[<{$%\[(*#].*|.*[>}\])]$|\*+|x{3,}|\.{3,}|…|(?:your|my|the|some|example|placeholder|changeme"
    r"|redacted|null|none"
    r"|true|false|todo|tbd|undefined|required|optional|os\.environ.*|process\.env.*|env[.:].*|vault:.*"
    r"|secrets?[./].*"
    r"|![a-z]+|https?://.*|(?:\.{0,2}|~)/.*)$|your[_-].*|\S+\(\S*)",
    re.IGNORECASE,
)
_ONE_SCRIPT_WORD: Final = re.compile(r"^[A-Za-zÀ-ÿ]+(?:-[A-Za-zÀ-ÿ]+)?$")
_DATE_OR_VERSION: Final = re.compile(
    r"^(?:v?\d+(?:\.\d+){1,3}|\d{1,3}(?:,\d{3})+|\d{4}-\d\d(?:-\d\d)?(?:T.*)?"
    r"|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}|\d{1,2}:\d\d(?::\d\d)?"
    r"|\d+(?:st|nd|rd|th|s|ms|h|d|w|m|min|days?|hours?|%|bits?|-bit|kb|mb|-digit|-character|-day|-hour"
    r"|-month)"
    r"|[\w./-]+:v?\d+(?:\.\d+)+|[A-Z]{2,}-\d+|[A-Z]{2,5}\d{1,3}|[a-z]+\d)$",
    re.IGNORECASE,
)
# What stands between is a property of the secret: "key id: …", "hashed token prefix: …".
_ABOUT_IT: Final = re.compile(
    r"^\s*(?:names?|ids?|hint)\b|\b(?:ids?|prefix|hint|hash|count|length|type|version|fingerprint|digest|format|endpoint|url"
    r"|policy)\s*$",
    re.IGNORECASE,
)
# "The token limit is …", `secret_name: …`: the last noun is the head, and it names something else.
_OTHER_HEADS: Final = (
    r"(?:policy|policies|limits?|type|types|length|format|manager|generator|provider|rotation|expiry|expiration"
    r"|lifetime|usage|count|standard|scheme|algorithm|version|model|budget|endpoint|field|store|storage|service"
    r"|name|names|file|path|hint|check|rules?|reset|budget|size|prefix|class|backends?|validators?|header|url|uri"
    r"|min|max|ttl|timeout|ref|required|enabled|scopes?|length|expires|len|env)"
)
_OTHER_HEAD: Final = re.compile(rf"^\s+{_OTHER_HEADS}\b", re.IGNORECASE)
_OTHER_HEAD_JOINED: Final = re.compile(
    rf"(?:[_.-]|(?<=[a-z])(?=[A-Z])){_OTHER_HEADS.replace('(?:', '(?:in|', 1)}$|backends?$|Name$|(?:^|[_.-])auth$",
    re.IGNORECASE,
)
# "… are 8f2k-91qm and 44tz-70bx": the next values of a list
_NEXT_VALUE: Final = re.compile(r"(?:,|,?\s+(?:and|or|und|et|y|e))\s+[\"'`]?(?P<value>[^\s\"'`,;]{5,60})")
_CODE_NAMES: Final = re.compile(r"pin|code|passcode", re.IGNORECASE)
_IDENTIFIER: Final = re.compile(
    r"^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[A-Za-z_]+(?:[._/][A-Za-z_]+)+$|^[a-z]+(?:[A-Z][a-z]+)+$"
)
_IDENTIFIER_PATH: Final = re.compile(r"^[A-Za-z_]{2,}(?:\.[A-Za-z_]{2,})+$")
_WORDS_JOINED: Final = re.compile(r"^[A-Za-z]{3,}(?:[-_.~+][A-Za-z0-9]{2,}){2,}$")


def context_secrets(text: str) -> Iterator[Match]:
    """Values named as secrets by the words or the syntax beside them."""
    yield from _ways_in(text)
    if not _NAMED.search(text):
        return
    for pattern in (_PROSE, _BESIDE, _ASSIGNED):
        for match in pattern.finditer(text):
            yield from _judged(match)
    for pattern, rule in ((_OPTION, "password"), (_ACCOUNT, "password")):
        for match in pattern.finditer(text):
            if looks_made_up(match["value"]):
                yield Match(match.span("value"), rule)
    for match in _PHRASE.finditer(text):
        yield Match(match.span("value"), "recovery_phrase")
    for match in _QUOTED_PHRASE.finditer(text):
        if not _PLACEHOLDER.match(match["value"]):
            yield Match(match.span("value"), _rule(match["name"]))


def _ways_in(text: str) -> Iterator[Match]:
    for match in _COMBINATION.finditer(text):
        yield Match(match.span("value"), "pin")
    for line in _LINE.finditer(text) if _CHOSEN.search(text) else ():
        if _WAY_IN.search(line.group()):
            for match in _CHOSEN.finditer(text, line.start(), line.end()):
                yield Match(match.span("value"), "password")


def _judged(match: re.Match[str]) -> Iterator[Match]:
    start, end = match.span("value")
    value = match["value"].rstrip(".,;:!?)]}…")
    if match["value"].endswith("!") and not match["value"].endswith("!!") and match["quote"]:
        value = match["value"]
    end = start + len(value)
    if not _is_secret_value(match, value):
        return
    yield Match((start, end), _rule(match["name"]))
    following = _NEXT_VALUE.match(match.string, end)
    while following is not None:
        each = following["value"].rstrip(".,;:!?)]}…")
        if not looks_made_up(each) or _kinds(each) < 2:
            break
        start, end = following.start("value"), following.start("value") + len(each)
        yield Match((start, end), _rule(match["name"]))
        following = _NEXT_VALUE.match(match.string, end)


def _is_secret_value(match: re.Match[str], value: str) -> bool:
    if _PLACEHOLDER.match(value) or _names_something_else(match, value):
        return False
    name = match["name"]
    if _ABOUT_IT.search(match.groupdict().get("between") or ""):
        return False
    if value.isdigit():
        return bool(_CODE_NAMES.search(name)) and 4 <= len(value) <= 10
    if match.re is _BESIDE:
        return looks_made_up(value) and (_kinds(value) >= 3 or _generated(value))
    if match["quote"] and len(value) >= 4 and match.string[match.end("value") :][:1] in "\"'`”’»":
        return not _IDENTIFIER.match(value)
    return looks_made_up(value)


def _generated(value: str) -> bool:
    """A long run of letters and digits without a break, such as 32 hexadecimal digits."""
    return len(value) >= _LONGEST_WORD and value.isalnum() and _kinds(value) >= 2


def _names_something_else(match: re.Match[str], value: str) -> bool:
    """Whether the name is only part of another noun, as in "token limit" and `auth_backend`."""
    if match.re is _ASSIGNED:
        other = _OTHER_HEAD_JOINED.search(match["name"]) is not None
        return other and (len(value) < 16 or _IDENTIFIER_PATH.match(value) is not None)
    return match.re is _PROSE and _OTHER_HEAD.match(match["between"]) is not None


def looks_made_up(value: str) -> bool:
    """Whether a token looks chosen or generated rather than like a word, a number, a name or a path."""
    if len(value) < 5 or _PLACEHOLDER.match(value) or _DATE_OR_VERSION.match(value):
        return False
    if _ONE_SCRIPT_WORD.match(value):
        # a word: only long runs of letters in mixed case are not
        return len(value) >= 16 and _switches(value) >= 4
    if _IDENTIFIER.match(value) or value.isdigit():
        return False
    if _WORDS_JOINED.match(value):
        return True
    return _kinds(value) >= 2 or len(value) >= 20


def _kinds(value: str) -> int:
    """How many kinds of characters a value mixes: lower case, upper case, digits, signs."""
    lower = any(character.islower() for character in value)
    upper = any(character.isupper() for character in value[1:])
    digit = any(character.isdigit() for character in value)
    sign = any(not character.isalnum() for character in value.strip("'’"))
    return lower + upper + digit + sign


def _switches(value: str) -> int:
    return sum(1 for one, two in pairwise(value) if one.isupper() != two.isupper())


def secret_name(name: str) -> str | None:
    """The rule for a field or key that names a secret ("db_password", "apiKey"), else None."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|[_\-.\[\]]+", " ", name).strip()
    return _rule(spaced) if _WHOLE_NAME.search(spaced) else None


def _rule(name: str) -> str:
    lowered = name.lower().replace(" ", "_").replace("-", "_")
    for part, rule in (
        ("pin", "pin"),
        ("code", "code"),
        ("token", "token"),
        ("key", "key"),
        ("secret", "secret"),
    ):
        if part in lowered:
            return rule
    return "password"
