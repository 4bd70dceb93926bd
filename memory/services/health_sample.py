"""The sample of the week: memories drawn at random, judged by reviewers.  The miswrite rate comes from their verdicts.

The draw depends on nothing but the week and the ids of what is readable when it is made, and it is made once: whoever
looks later sees the same entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from memgov import clock
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.types import Status
from memory.models import HealthSample, Memory, SampleItem
from memory.selectors.policies import active_policy
from memory.services.access import REVIEWERS, denials_audited, require_role
from memory.services.errors import Conflict, Invalid, NotFound, VersionConflict
from memory.store import audit, samples
from tenants.context import tenant_context
from tenants.principals import Principal, system

RIGHT, WRONG, UNSURE = "right", "wrong", "unsure"
VERDICTS: Final = (RIGHT, WRONG, UNSURE)
UNDO_FOR: Final = timedelta(minutes=10)
_GONE: Final = (Status.DELETED, Status.ERASED)


def week_of(now: datetime) -> date:
    """The Monday of the week, by UTC: the period of a sample."""
    return now.date() - timedelta(days=now.weekday())


def sample_draw(tenant_id: UUID, now: datetime | None = None) -> HealthSample | None:
    """Draw the week's sample, if it was not drawn yet and anything can be read; the new draw."""
    now = now or clock.now()
    with tenant_context(tenant_id):
        if samples.drawn(week_of(now)):
            return None
        active = active_policy()
        sample = samples.draw(week_of(now), active.policy.retention.sample_size, now)
        if sample is None:
            return None
        event = audit.Event(
            "sample.drawn", "sample", show_id("smp", sample.id), policy_version=active.number,
            after={"week": sample.period.isoformat(), "entries": sample.size, "of": sample.population},
        )  # fmt: skip
        audit.append(system(tenant_id, "health.sample"), [event], now)
    return sample


@denials_audited
def sample_judge(
    actor: Principal, item_id: UUID, verdict: str, reason: str, *, version: int, memory_version: int
) -> SampleItem:
    """Say whether a drawn memory is right.  `memory_version` is that of the text which the reviewer saw.

    Raises `Invalid` for no verdict, or no reason where one is needed, `Conflict` when somebody was first or the
    text is gone, `VersionConflict` when item or memory changed, `NotFound`.
    """
    require_role(actor, REVIEWERS, "judge samples")
    if verdict not in VERDICTS:
        raise Invalid("choose right, wrong or unsure", field="action")
    if verdict != RIGHT and not reason.strip():
        raise Invalid("say what is wrong, or why it cannot be told", code="reason_needed", field="reason")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        item = _locked(item_id)
        if item.verdict:
            raise Conflict(
                f"{item.judged_by} has judged it already; nothing was changed", code="already_decided"
            )
        memory = Memory.objects.get(id=item.memory_id)
        if memory.status in _GONE:
            raise Conflict(
                "the memory was deleted meanwhile; there is nothing left to judge", code="not_live"
            )
        if item.version != version or memory.version != memory_version:
            raise VersionConflict("the memory changed since you opened it; nothing was saved")
        samples.update(
            item, verdict=verdict, reason=reason[:500], judged_by=actor.name, judged_by_id=actor.id,
            judged_at=now, memory_version=memory.version,
        )  # fmt: skip
        _note(
            actor, item, "sample.judged", reason, now, after={"verdict": verdict, "version": memory.version}
        )
    return item


@denials_audited
def sample_undo(actor: Principal, item_id: UUID) -> SampleItem:
    """Take one's own verdict back, within 10 minutes.  Raises `Conflict`, `NotFound`."""
    require_role(actor, REVIEWERS, "undo decisions")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        item = _locked(item_id)
        if not item.verdict or item.judged_by_id != actor.id:
            raise Conflict(
                "there is no verdict of yours to take back; nothing was undone", code="changed_since"
            )
        if not undoable(item, actor, now):
            raise Conflict("a verdict can be taken back for 10 minutes", code="undo_too_late")
        before = {"verdict": item.verdict}
        samples.update(item, verdict="", reason="", judged_by="", judged_by_id="", judged_at=None)
        _note(actor, item, "sample.taken_back", "undone by the reviewer", now, before=before)
    return item


def undoable(item: SampleItem, actor: Principal, now: datetime) -> bool:
    """Whether the verdict is the person's own and young enough to be taken back."""
    return item.judged_at is not None and item.judged_by_id == actor.id and now - item.judged_at <= UNDO_FOR


def judgeable(item: SampleItem, memory: Memory) -> bool:
    """Whether there is still something to judge."""
    return not item.verdict and memory.status not in _GONE


def still_read(memory: Memory) -> bool:
    """Whether agents can still be given the memory."""
    return memory.status in lifecycle.READABLE


def _locked(item_id: UUID) -> SampleItem:
    item = samples.lock(item_id)
    if item is None:
        raise NotFound("there is no such entry in a sample")
    return item


def _note(
    actor: Principal,
    item: SampleItem,
    action: str,
    reason: str,
    now: datetime,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    event = audit.Event(
        action, "memory", show_id("mem", item.memory_id), scope=item.scope, reason=reason, before=before, after=after
    )  # fmt: skip
    audit.append(actor, [event], now)
