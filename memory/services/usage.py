"""What agents say of what they were given: used, ignored, or harmful."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Count, Q

from memgov import clock
from memgov.ids import new_id
from memory.domain.ids import show_id
from memory.models import Alert, Manifest, ManifestEntry, Memory
from memory.selectors.policies import active_policy
from memory.services.errors import Conflict, Invalid, NotFound
from memory.services.promotion_triggers import open_triggered
from memory.store import alerts, audit, manifests, memories
from tenants.context import tenant_context
from tenants.principals import Principal, system

ACCEPTED_FOR = timedelta(days=7)
HARMFUL_ALERT: Final = "harmful_memory"


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts of a manifest after the report, and how many entries this report newly marked as used."""

    injected: int
    used: int
    ignored: int
    harmful: int
    newly_used: int


def usage_report(
    principal: Principal,
    manifest_id: UUID,
    used: Collection[UUID],
    *,
    ignored: Collection[UUID] = (),
    harmful: Collection[UUID] = (),
) -> Usage:
    """Note what the agent says of entries of a manifest.  The same report again changes nothing; a later one may say
    more of an entry (ignored, then used, then harmful), never less.

    Only the agent that read may report, for 7 days (`Conflict`).  Ids that the manifest does not hold, or that stand
    in two lists, are refused (`Invalid`).  What did harm raises an alert; it is not taken away.
    """
    now = clock.now()
    verdicts = _verdicts(used, ignored, harmful)
    with tenant_context(principal.tenant_id):
        manifest = Manifest.objects.filter(id=manifest_id, agent_id=principal.agent_id).first()
        if manifest is None:
            raise NotFound("there is no such manifest for this key")
        if now - manifest.at > ACCEPTED_FOR:
            raise Conflict("usage is accepted for 7 days after the read", code="usage_too_late")
        held = set(ManifestEntry.objects.filter(manifest_id=manifest.id).values_list("memory_id", flat=True))
        if not verdicts.keys() <= held:
            raise Invalid("some of these ids were not in the manifest", code="not_in_manifest", field="used")
        memories.lock(verdicts)
        moved = manifests.mark(manifest, verdicts, now)
        newly_used = sorted(memory_id for memory_id in moved if verdicts[memory_id] == manifests.USED)
        newly_harmful = sorted(memory_id for memory_id in moved if verdicts[memory_id] == manifests.HARMFUL)
        _count(principal, newly_used, now)
        _warn(principal, manifest, newly_harmful, now)
        if moved:
            audit.append(principal, [_event(manifest, verdicts, moved)], now)
        return _usage(manifest, len(newly_used))


def _verdicts(
    used: Collection[UUID], ignored: Collection[UUID], harmful: Collection[UUID]
) -> dict[UUID, str]:
    named = (manifests.USED, used), (manifests.IGNORED, ignored), (manifests.HARMFUL, harmful)
    verdicts: dict[UUID, str] = {}
    for verdict, ids in named:
        for memory_id in ids:
            if verdicts.setdefault(memory_id, verdict) != verdict:
                raise Invalid(
                    "an entry is used, ignored or harmful, one of them", code="verdicts_clash", field=verdict
                )
    return verdicts


def _count(principal: Principal, used: Collection[UUID], now: datetime) -> None:
    """A use counts, and enough of them open a promotion."""
    if not used:
        return
    memories.count_use(used, now)
    policy = active_policy()
    for memory in Memory.objects.filter(id__in=used).order_by("id"):
        open_triggered(principal, memory, policy, now)


def _warn(principal: Principal, manifest: Manifest, harmful: Collection[UUID], now: datetime) -> None:
    """A person looks at what did harm.  An agent's word alone takes nothing away from the others."""
    actor = system(principal.tenant_id, "watch.harmful", principal.request_id)
    for memory in Memory.objects.filter(id__in=harmful).order_by("id"):
        alert = Alert(
            id=new_id(now), kind=HARMFUL_ALERT, severity="warning", scope=memory.scope,
            target=show_id("mem", memory.id), message=f"Agent {principal.name} says that this memory did harm.",
            evidence={"agent": principal.name, "manifest": show_id("man", manifest.id)}, opened_at=now, last_at=now,
        )  # fmt: skip
        if alerts.raise_alert(alert, now):
            about = {"kind": alert.kind, "agent": principal.name, "memory": alert.target}
            event = audit.Event(
                "alert.opened", "alert", show_id("alr", alert.id), scope=alert.scope, after=about
            )
            audit.append(actor, [event], now)


def _event(manifest: Manifest, verdicts: Mapping[UUID, str], moved: Mapping[UUID, str]) -> audit.Event:
    said = [verdicts[memory_id] for memory_id in moved]
    counts = {verdict: said.count(verdict) for verdict in sorted(set(said))}
    return audit.Event("manifest.used", "manifest", show_id("man", manifest.id), after=counts)


def _usage(manifest: Manifest, newly_used: int) -> Usage:
    rows = ManifestEntry.objects.filter(manifest_id=manifest.id)
    counts = rows.aggregate(
        injected=Count("rank"),
        used=Count("rank", filter=Q(used_at__isnull=False)),
        ignored=Count("rank", filter=Q(verdict=manifests.IGNORED)),
        harmful=Count("rank", filter=Q(verdict=manifests.HARMFUL)),
    )
    return Usage(**counts, newly_used=newly_used)
