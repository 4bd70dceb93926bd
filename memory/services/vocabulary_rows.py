"""What stands under a predicate follows a change of its rule: name, comparable value, and whether there is one only.

What then says the same is merged, what clashes is contested; both are in the audit.  When a name stands for itself
again, what had come from it goes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.normalise import value_hash
from memory.domain.registry import PredicateRule, Registry
from memory.domain.scopes import parse_scope
from memory.domain.types import Status
from memory.models import Contradiction, Memory, Revision
from memory.models.memory import LIVE_STATUSES
from memory.selectors.rivals import Rivals, rivals_in
from memory.services.changes import Changes
from memory.services.contradictions import note
from memory.services.contradictions_moot import still_contested
from memory.services.errors import Conflict
from memory.services.merging import merge_into, unmerge
from memory.store import memories, reviews

MOST: Final = 2000
_RENAMED: Final = "its predicate is another name"
_BACK: Final = "its predicate stands for itself again"


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of the memories that stood under the names of a rule."""

    renamed: int = 0
    merged: int = 0
    contested: int = 0


def bring_along(changes: Changes, old: Registry, new: Registry) -> Brought:
    """Bring readable memories to what the vocabulary calls them by now.  Raises `Conflict` for more than `MOST`."""
    names = sorted(name for name in {*old.names(), *new.names()} if _differs(old, new, name))
    origins = _came_from(old, new, names)
    rows = memories.lock({*_under(names), *origins, *_beside(names, new), *_contested_with(origins)})
    counts: Counter[str] = Counter()
    for memory in list(rows.values()):
        name = origins.get(memory.id, memory.predicate)
        if memory.id in origins or (memory.predicate in names and memory.status in LIVE_STATUSES):
            counts[_bring(changes, memory, new.lookup(name), old.lookup(memory.predicate), rows)] += 1
    return Brought(counts["renamed"], counts["merged"], counts["contested"])


def _differs(old: Registry, new: Registry, name: str) -> bool:
    was, will = old.lookup(name), new.lookup(name)
    return (was.name, was.single_valued, was.normaliser) != (will.name, will.single_valued, will.normaliser)


def _under(names: Sequence[str]) -> list[UUID]:
    rows = Memory.objects.filter(predicate__in=names, status__in=LIVE_STATUSES).exclude(subject="")
    ids = list(rows.order_by("id").values_list("id", flat=True)[: MOST + 1])
    if len(ids) > MOST:
        raise Conflict(
            f"more than {MOST} memories stand under these names; set the rule before that many are written",
            code="too_many",
        )
    return ids


def _beside(names: Sequence[str], new: Registry) -> list[UUID]:
    """What they may meet, to be locked with them in one order."""
    targets = {new.lookup(name).name for name in names}
    keys = Memory.objects.filter(predicate__in=names, status__in=LIVE_STATUSES).values("subject")
    rows = Memory.objects.filter(predicate__in=targets, status__in=LIVE_STATUSES, subject__in=keys)
    return list(rows.values_list("id", flat=True))


def _came_from(old: Registry, new: Registry, names: Sequence[str]) -> dict[UUID, str]:
    """Memories that a rename brought under a name that no longer stands for theirs, with their own name."""
    left = {name for name in names if old.lookup(name).name != name and new.lookup(name).name == name}
    if not left:
        return {}
    moved = Revision.objects.filter(event__in=("memory.renamed", "memory.merged"), reason=_RENAMED)
    found: dict[UUID, str] = {}
    for row in moved.order_by("memory_id", "version")[: MOST * 2]:
        before = Revision.objects.filter(memory_id=row.memory_id, version=row.version - 1).first()
        name = before.state.get("predicate", "") if before else ""
        if name in left:
            found[row.memory_id] = name
    still = Memory.objects.filter(id__in=list(found))
    return {row.id: found[row.id] for row in still if _may_go_back(row)}


def _contested_with(ids: Mapping[UUID, str]) -> set[UUID]:
    pairs = Contradiction.objects.filter(Q(memory_a__in=ids) | Q(memory_b__in=ids), status="open")
    return {one for pair in pairs.values_list("memory_a", "memory_b") for one in pair}


def _may_go_back(row: Memory) -> bool:
    """What is read, and what was merged only because of the name."""
    return row.status in LIVE_STATUSES or (row.status == Status.MERGED and row.status_reason == _RENAMED)


def _bring(
    changes: Changes, memory: Memory, rule: PredicateRule, was: PredicateRule, rows: Mapping[UUID, Memory]
) -> str:
    fields = _fields(changes, memory, rule, was)
    rivals = _rivals(memory, fields)
    if any(one.id not in rows for one in (*rivals.same, *rivals.contradicting)):
        raise Conflict("somebody writes under these names right now; nothing was changed, try again")
    if memory.status == Status.MERGED:
        return "" if rivals.same or rivals.contradicting else _stand_up(changes, memory, fields)
    renamed = fields["predicate"] != memory.predicate
    if rivals.same:
        merge_into(changes, memory, rows[rivals.same[0].id], _RENAMED)
        return "merged"
    if rivals.contradicting and not renamed:
        # Several values of one key that is to have one: they stay side by side until the next write settles them.
        fields["single_valued"] = False
    elif rivals.contradicting:
        contest(changes, memory, [rows[one.id] for one in rivals.contradicting], _RENAMED, **fields)
        return "contested"
    changed = {name: value for name, value in fields.items() if value != _plain(getattr(memory, name))}
    if not changed:
        return ""
    changes.set(memory, "memory.renamed", _RENAMED if renamed else "the rule of its predicate", **changed)
    if renamed and memory.status == Status.CONTESTED:
        _part(changes, memory, rows)
    return "renamed" if renamed else ""


def _fields(changes: Changes, memory: Memory, rule: PredicateRule, was: PredicateRule) -> dict[str, Any]:
    """What the memory would be under the rule; that its key has several values stays, where a person said so."""
    policy = changes.active.policy.for_scope(parse_scope(memory.scope))
    single = memory.single_valued
    if rule.single_valued != was.single_valued:
        single = rule.single_valued and policy.reconciliation.single_valued == "supersede"
    said = memory.value or memory.content
    return {"predicate": rule.name, "single_valued": single, "value_hash": value_hash(said, rule.normaliser)}


def _rivals(memory: Memory, fields: Mapping[str, Any]) -> Rivals:
    kept = {name: getattr(memory, name) for name in fields}
    for name, value in fields.items():
        setattr(memory, name, value)
    rivals = rivals_in(memory, parse_scope(memory.scope), as_named=True)
    for name, value in kept.items():
        setattr(memory, name, value)
    return rivals


def _stand_up(changes: Changes, memory: Memory, fields: Mapping[str, Any]) -> str:
    into = memory.merged_into
    changes.set(
        memory, "memory.restored", _BACK, status=Status.LIVE.value, status_reason=_BACK, merged_into=None, **fields
    )  # fmt: skip
    if into is not None:
        unmerge({memory.id: into})
    return "renamed"


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def _part(changes: Changes, memory: Memory, rows: Mapping[UUID, Memory]) -> None:
    """What was contested by values of another name is not any more, and they are not by it."""
    pairs = Contradiction.objects.select_for_update().filter(Q(memory_a=memory.id) | Q(memory_b=memory.id))
    beside = {memory.id}
    for pair in pairs.filter(status="open", kind="contested").order_by("id"):
        reviews.update_contradiction(
            pair, status="settled", resolution="moot", resolved_by=changes.actor.name, resolved_at=changes.now
        )
        note(changes, pair, "contradiction.settled", _BACK, after={"resolution": "moot"})
        beside |= {pair.memory_a, pair.memory_b}
    for one in sorted(beside & rows.keys()):
        if rows[one].status == Status.CONTESTED and not still_contested(rows[one]):
            changes.move(rows[one], lifecycle.Event.SETTLE, "memory.settled", _BACK)


def contest(changes: Changes, memory: Memory, rivals: Sequence[Memory], reason: str, **fields: Any) -> None:
    """Let locked memories stand side by side, marked, the one with these fields; each pair waits for a person."""
    for rival in rivals:
        if rival.status == Status.LIVE:
            changes.move(rival, lifecycle.Event.CONTEST, "memory.contested", reason)
    changes.set(memory, "memory.renamed", reason, **fields, status=Status.CONTESTED.value)
    for rival in rivals:
        _open(changes, rival, memory)


def _open(changes: Changes, one: Memory, other: Memory) -> None:
    found = Contradiction(
        kind="contested", scope=other.scope, subject=other.subject, predicate=other.predicate, memory_a=one.id,
        memory_b=other.id, created_at=changes.now,
    )  # fmt: skip
    reviews.insert_contradictions([found])
    changes.add(
        "contradiction.opened", "contradiction", show_id("con", found.id), scope=one.scope,
        after={"kind": "contested", "memories": [show_id("mem", one.id), show_id("mem", other.id)]},
    )  # fmt: skip
