"""What the tenant's words mean: aliases of subjects and rules of predicates, changed by admins, audited.

Memories that stand under a name that becomes an alias, of a subject or a predicate, are renamed with it, or nobody
could ever correct them again (decision 0022).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from memgov import clock
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.normalise import BadText, Normaliser, TooLong, normalise_predicate, normalise_subject
from memory.domain.registry import PredicateRule, Registry
from memory.domain.scopes import parse_scope
from memory.models import Memory, PredicateSetting, SubjectAlias
from memory.selectors.policies import ActivePolicy, active_policy
from memory.selectors.rivals import rivals_in
from memory.selectors.vocabulary import rule_of
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.changes import Changes
from memory.services.errors import Conflict, Invalid, NotFound
from memory.services.vocabulary_rows import Brought, bring_along, contest
from memory.store import audit, memories, vocabulary
from tenants.context import tenant_context
from tenants.principals import Principal

MOST_RENAMED = 2000


@dataclass(frozen=True, slots=True)
class Renamed:
    """An alias with what became of the memories that stood under it."""

    alias: SubjectAlias
    renamed: int
    merged: int
    contested: int


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A rule with what became of the memories that stood under its names."""

    setting: PredicateSetting
    brought: Brought


@denials_audited
def alias_set(
    actor: Principal,
    alias: str,
    subject: str,
    reason: str = "",
    *,
    expected: int | None = None,
    keep: bool = True,
) -> Renamed:
    """Let `alias` mean `subject`, and rename what stands under it.

    With `keep` false all of it is done and taken back, to say what would happen.  `expected` is the version of the
    vocabulary that the caller saw.  Raises `Invalid` for names that are none or that lead back to the alias,
    `Conflict` when more memories stand under it than one transaction should rename, or the vocabulary moved on.
    """
    require_role(actor, ADMINS, "change the vocabulary")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        active = active_policy()  # before the change: kept by version, and this one may be taken back
        _next_version(expected)
        known = dict(
            SubjectAlias.objects.exclude(alias=_name(alias, "alias")).values_list("alias", "subject")
        )
        name, target = _name(alias, "alias"), _name(subject, "subject", known)
        if name == target:
            raise Invalid("the subject leads back to the alias; nothing was changed", field="subject")
        row = vocabulary.put_alias(name, target, actor.name, now)
        changes = Changes(actor, now, active)
        done = _rename(changes, row, name, target)
        changes.add(
            "alias.set", "alias", show_id("als", row.id), reason=reason,
            after={"content": name, "subject": target, "renamed": done.renamed},
        )  # fmt: skip
        changes.finish()
        if not keep:
            transaction.set_rollback(True)
    return done


def _next_version(expected: int | None) -> None:
    """Take the vocabulary for a change, which must still be what the caller saw."""
    version = vocabulary.raise_version()
    if expected is not None and version != expected + 1:
        raise Conflict(
            "somebody changed the vocabulary meanwhile; nothing was changed, look at it again",
            code="vocabulary_moved",
        )


@denials_audited
def alias_remove(actor: Principal, alias: str, reason: str = "", *, expected: int | None = None) -> None:
    """Let a name stand for itself again.  Memories stay where they are.  Raises `NotFound`."""
    require_role(actor, ADMINS, "change the vocabulary")
    name = _name(alias, "alias")
    with tenant_context(actor.tenant_id):
        _next_version(expected)
        row = SubjectAlias.objects.filter(alias=name).first()
        if row is None:
            raise NotFound("there is no such alias; nothing was changed")
        vocabulary.drop_alias(row)
        before = {"content": name, "subject": row.subject}
        event = audit.Event("alias.removed", "alias", show_id("als", row.id), reason=reason, before=before)
        audit.append(actor, [event], clock.now())


@denials_audited
def predicate_set(
    actor: Principal, rule: PredicateRule, reason: str = "", *, expected: int | None = None, keep: bool = True
) -> RuleSet:
    """Set the tenant's rule of a predicate, and bring what stands under its names along.

    Raises `Invalid` for a name or alias that is none or is taken, `Conflict` when too many memories stand under them.
    """
    require_role(actor, ADMINS, "change the vocabulary")
    now = clock.now()
    name = _predicate(rule.name, "name")
    aliases = sorted({_predicate(alias, "aliases") for alias in rule.aliases} - {name})
    if rule.half_life_days is not None and not 0 < rule.half_life_days <= 36_500:
        raise Invalid("a half life is more than 0 days and at most 36,500", field="half_life_days")
    with tenant_context(actor.tenant_id):
        active = active_policy()
        _next_version(expected)
        before = PredicateSetting.objects.filter(name=name).first()
        for other in PredicateSetting.objects.exclude(name=name):
            taken = {other.name, *other.aliases} & {name, *aliases}
            if taken:
                raise Invalid(f"{min(taken)} belongs to the predicate {other.name} already", field="aliases")
        setting = PredicateSetting(
            name=name, single_valued=rule.single_valued, volatile=rule.volatile,
            normaliser=Normaliser(rule.normaliser).value, ages=rule.ages, half_life_days=rule.half_life_days,
            aliases=aliases, updated_by=actor.name, updated_at=now,
        )  # fmt: skip
        after = _told(setting)
        setting = vocabulary.put_predicate(setting)
        event = audit.Event(
            "predicate.set",
            "predicate",
            name,
            reason=reason,
            before=_told(before) if before else None,
            after=after,
        )
        brought = _follow(actor, active, event, now)
        if not keep:
            transaction.set_rollback(True)
    return RuleSet(setting, brought)


@denials_audited
def predicate_remove(actor: Principal, name: str, reason: str = "", *, expected: int | None = None) -> None:
    """Take the tenant's rule away; the built-in one, if there is one, holds again.  Raises `NotFound`."""
    require_role(actor, ADMINS, "change the vocabulary")
    with tenant_context(actor.tenant_id):
        active = active_policy()
        _next_version(expected)
        row = PredicateSetting.objects.filter(name=_predicate(name, "name")).first()
        if row is None:
            raise NotFound("the tenant has no rule of its own for this predicate; nothing was changed")
        vocabulary.drop_predicate(row)
        event = audit.Event("predicate.removed", "predicate", row.name, reason=reason, before=_told(row))
        _follow(actor, active, event, clock.now())


def _follow(actor: Principal, active: ActivePolicy, event: audit.Event, now: datetime) -> Brought:
    """Bring what stands under the changed names along, and audit all of it, the change of the rule last."""
    changes = Changes(actor, now, active)
    rules = map(rule_of, PredicateSetting.objects.order_by("name"))
    brought = bring_along(changes, active.words.registry, Registry(rules))
    changes.finish()
    audit.append(actor, [event], now)
    return brought


def _told(row: PredicateSetting) -> dict[str, Any]:
    names = ("single_valued", "volatile", "normaliser", "ages", "half_life_days", "aliases")
    return {name: getattr(row, name) for name in names}


def _name(text: str, field: str, aliases: dict[str, str] | None = None) -> str:
    try:
        name = normalise_subject(text, aliases)
    except (BadText, TooLong) as error:
        raise Invalid(str(error), field=field) from None
    if not name:
        raise Invalid("a name is not empty", field=field)
    return name


def _predicate(text: str, field: str) -> str:
    try:
        name = normalise_predicate(text)
    except (BadText, TooLong) as error:
        raise Invalid(str(error), field=field) from None
    if not name:
        raise Invalid("a predicate has a letter or a digit", field=field)
    return name


def _rename(changes: Changes, row: SubjectAlias, name: str, target: str) -> Renamed:
    """Rename the readable memories of the alias; what then says the same is merged, what clashes is contested."""
    statuses = [status.value for status in lifecycle.READABLE]
    ids = list(
        Memory.objects.filter(subject=name, status__in=statuses)
        .order_by("id")
        .values_list("id", flat=True)[: MOST_RENAMED + 1]
    )
    if len(ids) > MOST_RENAMED:
        raise Conflict(
            f"more than {MOST_RENAMED} memories stand under this name; set the alias before that many are written",
            code="too_many",
        )
    counts = {"renamed": 0, "merged": 0, "contested": 0}
    for memory in memories.lock(ids).values():
        counts[_rename_one(changes, memory, target)] += 1
    return Renamed(row, **counts)


def _rename_one(changes: Changes, memory: Memory, target: str) -> str:
    was, memory.subject = memory.subject, target
    rivals = rivals_in(memory, parse_scope(memory.scope))
    memory.subject = was
    locked = memories.lock([one.id for one in (*rivals.same, *rivals.contradicting)])
    reason = "its subject is another name"
    if rivals.same:
        into = locked[rivals.same[0].id]
        changes.move(memory, lifecycle.Event.MERGE, "memory.merged", reason, merged_into=into.id)
        return "merged"
    if not rivals.contradicting:
        changes.set(memory, "memory.renamed", reason, subject=target)
        return "renamed"
    contest(changes, memory, [locked[one.id] for one in rivals.contradicting], reason, subject=target)
    return "contested"
