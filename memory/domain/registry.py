"""What is known about predicates: one value or many, volatile or not, how values compare, whether they age.

The built-in rules, and a registry that a tenant widens with its own. Storing those is not done here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memory.domain.normalise import normalise_predicate
from memory.domain.values import Normaliser


@dataclass(frozen=True, slots=True)
class PredicateRule:
    """One predicate. `volatile` facts lose confidence with age; `ages=False` never leaves the fresh band."""

    name: str
    single_valued: bool = False
    volatile: bool = False
    normaliser: Normaliser = Normaliser.TEXT
    ages: bool = True
    half_life_days: float | None = None
    aliases: tuple[str, ...] = ()


def _one(name: str, normaliser: Normaliser = Normaliser.TEXT, *aliases: str, **more: bool) -> PredicateRule:
    return PredicateRule(
        name,
        single_valued=True,
        normaliser=normaliser,
        aliases=aliases,
        volatile=more.get("volatile", False),
        ages=more.get("ages", True),
    )


_T = Normaliser.TEXT
BUILT_IN: Final[tuple[PredicateRule, ...]] = (
    _one("plan", _T, "subscription", "subscription_plan", "pricing_plan", "tier"),
    _one("timezone", Normaliser.TIMEZONE, "time_zone", "tz"),
    _one("language", Normaliser.LANGUAGE, "preferred_language", "locale_language"),
    _one("name", _T, "full_name", "display_name", "first_name", ages=False),
    _one("email", Normaliser.EMAIL, "email_address", "e_mail"),
    _one("phone", _T, "phone_number"),
    _one("employer", _T, "company", "works_at", "works_for"),
    _one("city", _T, "lives_in", "residence", "home_city", "location", "moved_to"),
    _one("country", _T, "home_country"),
    _one("address", _T, "home_address", "postal_address"),
    _one("role", _T, "job_title", "position", "occupation"),
    _one("project", _T, "assigned_project", "current_project", "project_assignment", volatile=True),
    _one("team", _T, "department"),
    _one("manager", _T, "reports_to"),
    _one("status", _T, "state", volatile=True),
    _one("birthday", Normaliser.DATE, "date_of_birth", "birth_date", "born_on", ages=False),
    _one("birthplace", _T, "born_in", "place_of_birth", ages=False),
    _one("currency", _T),
    _one("budget", Normaliser.CURRENCY, volatile=True),
    _one("price", Normaliser.CURRENCY, "cost", volatile=True),
    _one("salary", Normaliser.CURRENCY),
    _one("age", Normaliser.NUMBER, volatile=True),
    _one("version", _T, "current_version", "installed_version", "release", volatile=True),
    _one("port", Normaliser.NUMBER),
    _one("region", _T, "deploy_region"),
    _one("owner", _T, "owned_by"),
    _one("deadline", Normaliser.DATE, "due_date", volatile=True),
    _one("theme", _T, "colour_scheme", "color_scheme"),
    _one("editor", _T),
    _one("marital_status", _T),
)

# Names that claim to be the only one: `favourite_editor`, `default_branch`, `primary_contact`.
_ONLY_ONE = re.compile(r"(?:favou?rite|preferred|primary|default|main|current|latest)_\w+")


_KEPT: Final = 4096


class Registry:
    """Rules by predicate name and alias; the tenant's rules come before the built-in ones.

    An unknown predicate is multi-valued: two values then live side by side, which a reader can see and a
    reviewer can settle. The other default would retire a true fact without anyone noticing.
    """

    def __init__(self, tenant_rules: Iterable[PredicateRule] = ()) -> None:
        self._rules: dict[str, PredicateRule] = {}
        self._met: dict[str, PredicateRule] = {}
        for rule in (*BUILT_IN, *tenant_rules):
            self._rules.update(dict.fromkeys(rule.aliases, rule))
            self._rules[rule.name] = rule
        # Where a tenant's rule takes the place of a built-in one, that one's aliases lead to it too: another spelling
        # is no way around what the tenant decided.
        self._rules = {name: self._rules[rule.name] for name, rule in self._rules.items()}

    def rules(self) -> tuple[PredicateRule, ...]:
        """Every rule once, as it holds for this tenant."""
        return tuple(dict.fromkeys(self._rules.values()))

    def names(self) -> frozenset[str]:
        """Every name and alias that a rule is known by."""
        return frozenset(self._rules)

    def canonical(self, predicate: str) -> str:
        """The name under which a predicate is stored: normalised, aliases resolved."""
        name = normalise_predicate(predicate)
        rule = self._rules.get(name)
        return rule.name if rule else name

    def lookup(self, predicate: str) -> PredicateRule:
        """The rule of a predicate in any spelling; for an unknown one, multi-valued and stable."""
        met = self._met.get(predicate)
        if met is None:
            if len(self._met) >= _KEPT:
                self._met.clear()
            met = self._met[predicate] = self._looked_up(predicate)
        return met

    def _looked_up(self, predicate: str) -> PredicateRule:
        name = normalise_predicate(predicate)
        rule = self._rules.get(name)
        if rule is not None:
            return rule
        return PredicateRule(name, single_valued=bool(_ONLY_ONE.fullmatch(name)))


DEFAULT_REGISTRY: Final = Registry()
