"""Deterministic memories and questions: the same for every system, on every machine, in every run.

Pure: no clock, no chance, no I/O.  A memory is a triple with the sentence that says it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

USERS = 20
"""Users of the one tenant that memories are spread over; a read asks for one user's."""

NEW_FROM = 1_000_000
"""Memories from this number on are never filled in: they are what timed writes write."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One memory as a writer offers it: a triple, or a plain text without subject.  `lifetime` is seconds from now."""

    user: str
    subject: str
    predicate: str
    value: str
    text: str
    lifetime: float | None = None
    origin: str = "user_explicit"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of one user, and the text of the memory that answers it."""

    user: str
    text: str
    answer: str


_PREDICATES: tuple[tuple[str, str, tuple[str, ...]], ...] = tuple(
    (name, words, tuple(values.split("|")))
    for name, words, values in (
        ("preferred_channel", "prefers to be contacted by", "email|phone|chat|text message|post|fax|portal"),
        (
            "billing_contact",
            "has the billing contact",
            "north desk|harbour desk|second floor desk|night desk",
        ),
        ("plan_tier", "is on the plan tier", "bronze|silver|gold|platinum|trial|legacy"),
        ("timezone", "works in the timezone", "UTC|CET|PST|IST|JST|BRT|EST"),
        ("deploy_region", "deploys production to region", "eu-west-1|us-east-2|ap-south-1|eu-central-1"),
        ("language", "writes support tickets in", "English|German|French|Arabic|Spanish|Japanese"),
        ("renewal_month", "renews the contract in", "January|March|May|July|September|November"),
        ("diet", "orders lunch that is", "vegan|halal|kosher|vegetarian|gluten-free"),
        ("framework", "builds the frontend with", "React|Vue|Svelte|Angular|htmx"),
        (
            "oncall",
            "puts on call this quarter",
            "the platform team|the data team|the storage team|a contractor",
        ),
        ("database", "stores orders in", "PostgreSQL|MySQL|Oracle|DynamoDB|CockroachDB"),
        ("sla", "expects incident replies within", "15 minutes|one hour|four hours|one day"),
        ("currency", "is invoiced in", "EUR|USD|GBP|CHF|JPY"),
        ("meeting_day", "holds the weekly review on", "Monday|Tuesday|Wednesday|Thursday|Friday"),
        ("editor", "writes code in", "Vim|Emacs|PyCharm|Zed|Kate"),
        ("travel_class", "books flights in", "economy|premium economy|business"),
        ("backup", "keeps backups for", "7 days|30 days|90 days|one year"),
        ("vendor", "buys hardware from", "the first supplier|the second supplier|the local shop"),
        ("sign_in", "signs in with", "SAML|OIDC|passkeys|smart cards"),
        ("office", "has the head office in", "Lisbon|Nairobi|Osaka|Austin|Tallinn|Lima"),
    )
)
_FIRST = (
    "Acme Borealis Cobalt Dune Ember Fjord Garnet Harbor Indigo Juniper Kestrel Lumen Mistral Nimbus Onyx Pylon "
    "Quartz Raven Sable Tundra"
).split()
_SECOND = "Foods Labs Logistics Health Motors Energy Media Bank Textiles Robotics".split()


def _draw(*parts: object) -> int:
    return zlib.crc32("|".join(map(str, parts)).encode())


def fact(number: int, user: str = "") -> Fact:
    """The memory of this number; the owner follows from the number unless it is named."""
    predicate, words, values = _PREDICATES[number % len(_PREDICATES)]
    company = number // len(_PREDICATES)
    name = f"{_FIRST[company % len(_FIRST)]} {_SECOND[company // len(_FIRST) % len(_SECOND)]} {company}"
    value = values[_draw("value", number) % len(values)]
    return Fact(user or f"u{company % USERS}", name, predicate, value, f"{name} {words} {value}.")


def facts(start: int, count: int) -> Iterator[Fact]:
    """So many memories from this number on."""
    return (fact(number) for number in range(start, start + count))


def question(number: int, size: int) -> Question:
    """A question about one of the first `size` memories."""
    wanted = fact(_draw("question", number) % size)
    asked = f"{wanted.subject}: what is the {wanted.predicate.replace('_', ' ')}?"
    return Question(wanted.user, asked, wanted.text)
