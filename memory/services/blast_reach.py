"""Looking at a blast radius: what a seed reached, for those who may look across scopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from memgov import clock
from memory.domain.blast import Seed
from memory.domain.scopes import Verb
from memory.selectors import blast
from memory.selectors.blast import Counts, Decided, Entry, Readers
from memory.selectors.policies import active_policy
from memory.selectors.visibility import rules_of
from memory.services.access import denials_audited
from memory.services.errors import Denied, Invalid
from tenants.context import tenant_context
from tenants.principals import Principal


@dataclass(frozen=True, slots=True)
class Reach:
    """What was recorded up to `seen`: sizes, one page of memories, who was given any, and what people decided."""

    seen: datetime
    counts: Counts
    entries: Sequence[Entry]
    more: bool
    readers: Readers
    decisions: Sequence[Decided]


@denials_audited
def blast_reach(
    principal: Principal,
    seed: Seed,
    *,
    seen: datetime | None = None,
    before: UUID | None = None,
    most: int = blast.MOST,
) -> Reach:
    """How far what the seed wrote has got.  Raises `Denied` to an agent that does not read every scope, and `Invalid`
    for a seed without a condition."""
    every_scope(principal, Verb.READ)
    if not seed.given:
        raise Invalid("say where to begin: a memory, an agent, a key, a session, a tool, a source or a time",
                      code="seed_needed")  # fmt: skip
    now = clock.now()
    until = min(seen, now) if seen else now
    with tenant_context(principal.tenant_id):
        kept = now - timedelta(days=active_policy().policy.retention.manifest_days)
        rows = blast.entries(seed, until, before=before, most=most)
        return Reach(
            until, blast.counts(seed, until), rows[:most], len(rows) > most, blast.readers(seed, until, kept),
            blast.decisions(seed, until)[0],
        )  # fmt: skip


def every_scope(principal: Principal, verb: Verb) -> None:
    """Members see every scope; an agent needs the grant on all of them.  Raises `Denied`."""
    if principal.kind != "agent":
        return
    if not any(rule.pattern == "*" and verb in rule.verbs for rule in rules_of(principal)):
        detail = (
            f"the reach of a memory crosses scopes: this takes a {verb} grant on '*'; nothing was changed"
        )
        raise Denied(detail, verb=str(verb), target="*")
