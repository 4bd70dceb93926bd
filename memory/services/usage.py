"""What agents really used of what they were given."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from memgov import clock
from memory.models import Manifest, ManifestEntry, Memory
from memory.selectors.policies import active_policy
from memory.services.errors import Conflict, Invalid, NotFound
from memory.services.promotion_triggers import open_triggered
from memory.store import audit, manifests, memories
from tenants.context import tenant_context
from tenants.principals import Principal

ACCEPTED_FOR = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts of a manifest after the report: given, used, and newly marked by this report."""

    injected: int
    used: int
    newly_used: int


def usage_report(principal: Principal, manifest_id: UUID, used: Collection[UUID]) -> Usage:
    """Mark entries of a manifest as used.  The same report again changes nothing.

    Only the agent that read may report, for 7 days; ids that the manifest does not hold are refused.
    """
    now = clock.now()
    with tenant_context(principal.tenant_id):
        manifest = Manifest.objects.filter(id=manifest_id, agent_id=principal.agent_id).first()
        if manifest is None:
            raise NotFound("there is no such manifest for this key")
        if now - manifest.at > ACCEPTED_FOR:
            raise Conflict("usage is accepted for 7 days after the read", code="usage_too_late")
        held = set(ManifestEntry.objects.filter(manifest_id=manifest.id).values_list("memory_id", flat=True))
        if not set(used) <= held:
            raise Invalid("some of these ids were not in the manifest", code="not_in_manifest", field="used")
        memories.lock(used)
        fresh = manifests.mark_used(manifest, used, now)
        memories.count_use(fresh, now)
        policy = active_policy()
        for memory in Memory.objects.filter(id__in=fresh).order_by("id"):
            open_triggered(principal, memory, policy, now)
        if fresh:
            event = audit.Event(
                "manifest.used", "manifest", f"man_{manifest.id.hex}", after={"used": len(fresh)}
            )
            audit.append(principal, [event], now)
        total = ManifestEntry.objects.filter(manifest_id=manifest.id, used_at__isnull=False).count()
    return Usage(injected=len(held), used=total, newly_used=len(fresh))
