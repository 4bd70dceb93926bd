"""Statements that identify a person or tell of their private life, by grammar: name, family, work, health, belief.

Sanitisation redacts personal data that has a form, such as a phone number. An audit also has to tell that a
store keeps whose wife has a birthday. English only; nothing is removed on the ground of these rules.
"""

from __future__ import annotations

import re
from typing import Final

from memory.domain.english import bare

_ONE: Final = (
    r"(?:(?:the\ )?(?:user|customer|client|patient)|i|he|she|(?-i:[A-Z])[\w'’-]+(?:\ (?-i:[A-Z])[\w'’-]+)?)"
)
_WHOSE: Final = r"(?:(?:the\ )?user['’]s|customer['’]s|my|his|her|their|user\ and)"
_KIN: Final = (
    r"(?:wife|husband|spouse|girlfriend|boyfriend|fianc[ée]e?|mother|father|mom|mum|dad|parents?|sons?|daughters?|child"
    r"|children|kids?|brothers?|sisters?|siblings?|grand(?:mother|father|parents|son|daughter|child(?:ren)?)|aunt|uncle"
    r"|nephew|niece|cousins?)"
)
_POST: Final = (
    r"(?:manager|engineer|developer|designer|teacher|nurse|doctor|lawyer|student|director|consultant|analyst|accountant"
    r"|architect|professor|researcher|scientist|assistant|officer|chef|driver|writer|editor|founder|ceo|cto|cfo|owner"
    r"|lead|head|specialist|technician|administrator|intern|freelancer|salesperson|pilot|electrician|plumber)"
)
_ILL: Final = (
    r"(?:allerg(?:y|ic)|diabet\w+|asthma\w*|cancer|depress(?:ed|ion)|anxi(?:ety|ous)|adhd|autis\w+|dyslexi\w+|migraines?"
    r"|epilep\w+|pregnan\w+|insomnia|disab(?:led|ility)|hiv|surgery|therapy|medication|diagnos\w+|phobia|suicid\w+)"
)

_RULES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (f"personal.{name}", re.compile(pattern, re.IGNORECASE | re.VERBOSE))
    for name, pattern in (
        (
            "name",
            rf"""^(?:(?:my|{_WHOSE})\ )?(?:full\ |first\ |last\ |real\ |user\ ?)?
            (?:name|nickname|surname)\ *(?:is|:|=)\ *\S
            |^{_ONE}\ (?:is|was)\ (?:named|called)\ \S|\bgoes\ by\ (?:the\ name\ )?(?-i:[A-Z])""",
        ),
        (
            "family",
            rf"""\b(?:has|have|had)\ (?:an?\ |one\ |two\ |three\ |four\ |\d\ )?(?:\w+\ )?{_KIN}\b
            |\b{_WHOSE}\ (?:\w+\ )?{_KIN}\b|\b{_KIN}['’]s\b
            |\bis\ (?:married|divorced|engaged|widowed|single)\b|\bmarital\ status\b""",
        ),
        (
            "work",
            rf"""^(?:{_ONE}\ )?(?:works?|worked|is\ employed)\ (?:as|at|for)\ \S
            |^(?:{_ONE}\ )?is\ (?:an?|the)\ (?:[\w-]+\ ){{0,3}}{_POST}\ (?:at|of|for|in|with)\ (?-i:[A-Z])
            |^(?:occupation|employer|job(?:\ title)?|profession)\ *[:=]\ *\S|\b(?:salary|income)\ (?:is|of)\b""",
        ),
        (
            "home_or_birth",
            rf"""^(?:{_ONE}\ )?(?:lives?|resides?|was\ born|is\ from|grew\ up)\ (?:in|at|on)?\ ?(?-i:[A-Z\d])
            |\b{_WHOSE}\ (?:home\ )?(?:address|birthday|birth\ date|nationality)\b
            |^(?:age|birthday|gender|nationality|address|phone|email)\ *[:=]\ *\w|\b\d+\ years\ old\b
            |\b(?:moved\ to|hometown\ is)\ (?-i:[A-Z])""",
        ),
        (
            "health",
            rf"""\b(?:has|have|had|suffers?|suffering|is|was|takes?|diagnosed)\b[^.;]{{0,40}}\b{_ILL}\b
            |\bis\ (?:afraid|scared|terrified)\ (?:to|of)\b|\b(?:allergic|allergy)\ to\b""",
        ),
        (
            "character_or_belief",
            r"""\bmbti\b|\b[IE][NS][TF][JP]\b|\b(?:religion|political\ views?|sexual\ orientation|ethnicity)\b
            |\bis\ (?:an?\ )?(?:christian|catholic|protestant|muslim|jewish|hindu|buddhist|atheist|vegan|vegetarian
            |republican|democrat|gay|lesbian|bisexual|transgender)\b|\bvotes?\ for\b""",
        ),
    )
)


def private_life(text: str) -> str | None:
    """The rule by which a text tells of a person's identity or private life, else None."""
    line = bare(text)
    return next((rule for rule, pattern in _RULES if pattern.search(line)), None)
