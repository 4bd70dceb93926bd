"""The tenant's vocabulary, kept in memory by its version: a plain write looks it up without a query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from uuid import UUID

from memory.domain.normalise import normalise_subject
from memory.domain.registry import DEFAULT_REGISTRY, PredicateRule, Registry
from memory.domain.values import Normaliser
from memory.models import PredicateSetting, SubjectAlias
from tenants.context import current_tenant_id, tenant_context

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Words:
    """Aliases of subjects and rules of predicates; version 0 is the product's own."""

    version: int = 0
    aliases: Mapping[str, str] = field(default_factory=lambda: _NONE)
    registry: Registry = DEFAULT_REGISTRY


NO_WORDS = Words()
_KEPT = 256
_latest: dict[UUID, Words] = {}


def words_at(tenant_id: UUID, version: int) -> Words:
    """A tenant's vocabulary at its present version.  Two queries when this process has not seen it."""
    known = _latest.get(tenant_id, NO_WORDS)
    if known.version != version:
        known = _load(tenant_id, version) if version else NO_WORDS
        if len(_latest) >= _KEPT:
            _latest.clear()
        _latest[tenant_id] = known
    return known


def words_known(tenant_id: UUID) -> Words:
    """The vocabulary as this process last met it, for showing what was just read or written.  No query."""
    return _latest.get(tenant_id, NO_WORDS)


def name_now(subject: str) -> str:
    """What a subject is called by now: of memories that were held or gone when its name became an alias.  Inside the
    tenant's context, after `active_policy`.  No query."""
    return normalise_subject(subject, words_known(current_tenant_id()).aliases) if subject else subject


def predicate_now(predicate: str) -> str:
    """The same of a predicate."""
    return words_known(current_tenant_id()).registry.canonical(predicate) if predicate else predicate


def forget_words(tenant_id: UUID) -> None:
    """Have this process look the vocabulary up again."""
    _latest.pop(tenant_id, None)


def _load(tenant_id: UUID, version: int) -> Words:
    with tenant_context(tenant_id):
        aliases = dict(SubjectAlias.objects.values_list("alias", "subject"))
        rules = map(rule_of, PredicateSetting.objects.order_by("name"))
        return Words(version, MappingProxyType(aliases), Registry(rules))


def rule_of(row: PredicateSetting) -> PredicateRule:
    """A setting as a rule of the domain."""
    return PredicateRule(
        name=row.name,
        single_valued=row.single_valued,
        volatile=row.volatile,
        normaliser=Normaliser(row.normaliser),
        ages=row.ages,
        half_life_days=row.half_life_days,
        aliases=tuple(row.aliases),
    )
