"""A stage that can change in every way that a digest may show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from memgov import clock
from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.models import Contradiction, Memory, PromotionDecision
from memory.services.contradictions import contradiction_settle, contradiction_undo
from memory.services.digest import DigestAnswer, digest_read
from memory.services.memory_edit import memory_edit
from memory.services.memory_write import memory_write
from memory.services.policies import policy_activate
from memory.services.promotion import promotion_request
from memory.services.promotion_decide import promotion_decide, promotion_undo
from memory.services.quarantine import quarantine_release, quarantine_undo
from memory.services.retention import memory_delete, memory_pin, memory_restore, memory_unpin, memory_verify
from memory.services.sweeps import sweep_compaction, sweep_decay, sweep_expiry
from memory.services.task_rollback import task_rollback, task_rollback_undo
from memory.services.write_types import WriteRequest
from tests.factories import Stage

ALPHA = parse_scope("project:alpha")
DAY = timedelta(days=1)
KILN = "The kiln in hall two needs nine hours to cool down."
DYE = "The red dye needs two hours to dry."
UNGUARDED = Policy.model_validate({"retention": {"sweep_guard": 1.0}})


@dataclass
class Life:
    """A scope with two facts, its reader, and the clock, which a change may move."""

    stage: Stage
    now: datetime = field(default_factory=clock.now)
    scope: str = "project:alpha"

    def __post_init__(self) -> None:
        self.kiln, self.dye = self.write(KILN, importance=0.9), self.write(DYE)

    def write(self, content: str | None, **fields: object) -> Memory:
        given: dict[str, object] = {"scope": self.scope, "origin": "tool_verified", **fields}
        outcome = memory_write(self.stage.coder.principal, WriteRequest(content=content, **given))  # type: ignore[arg-type]
        assert outcome.memory is not None, outcome
        return outcome.memory

    def claim(self, value: str, tool: str, **fields: object) -> Memory:
        return self.write(None, subject="service:press", predicate="region", value=value, tool=tool, **fields)

    def contest(self) -> Contradiction:
        self.claim("north-cove", "scan")
        self.claim("south-cove", "probe")
        with self.stage.context():
            return Contradiction.objects.get(kind="contested", status="open")

    def of(self, memory: Memory) -> Memory:
        with self.stage.context():
            return Memory.objects.get(id=memory.id)

    def later(self, passed: timedelta) -> None:
        self.now += passed

    def read(self, have: str = "", session: str = "") -> DigestAnswer:
        return digest_read(self.stage.coder.principal, parse_scope(self.scope), have=have, session=session)

    def truth(self) -> dict[str, str]:
        """Content → band of what a reader should find, by the definitions and without the product's own code."""
        found = {}
        with self.stage.context():
            for row in Memory.objects.filter(scope=self.scope).values():
                expired = row["expires_at"] is not None and row["expires_at"] <= self.now
                if row["status"] not in ("live", "contested") or expired:
                    continue
                age = self.now - row["learned_at"]
                pin = row["pinned_at"] is not None and (row["pinned_until"] or self.now + DAY) > self.now
                if age <= 30 * DAY:
                    found[row["content"]] = "fresh"
                elif age <= 90 * DAY or pin:
                    found[row["content"]] = "aging"
        return found


def shown(answer: DigestAnswer) -> dict[str, str]:
    bands = {"fresh": answer.digest.fresh, "aging": answer.digest.aging}
    for entry in (*answer.digest.fresh, *answer.digest.aging):
        assert f"- {entry.content}" in answer.digest.text
    return {entry.content: band for band, entries in bands.items() for entry in entries}


Change = Callable[[Life], object]


def _changed_plan(life: Life) -> None:
    life.claim("north-cove", "scan")
    life.now = clock.now()


def _merge(life: Life) -> None:
    """A stronger wording of what is known takes its place."""
    life.write("Moved to Bern", origin="user_explicit", session="s2")
    with life.stage.context():
        assert Memory.objects.filter(status="merged").count() == 1


def _evict(life: Life) -> None:
    life.later(80 * DAY)
    assert sweep_decay(life.stage.tenant.id, now=life.now).changed >= 1


def _compact(life: Life) -> None:
    policy_activate(
        life.stage.owner.principal,
        {"reconciliation": {"cap": 1}, "retention": {"sweep_guard": 1.0}},
        "one is enough",
    )
    assert sweep_compaction(life.stage.tenant.id).changed == 1


def _delete(life: Life) -> None:
    memory_delete(life.stage.owner.principal, life.dye.id, "no longer so")


def _restore(life: Life) -> None:
    memory_restore(life.stage.reviewer.principal, life.dye.id, "needed")


def _ask(life: Life, to: str = "shared") -> UUID:
    return promotion_request(life.stage.coder.principal, life.dye.id, parse_scope(to), "all crews ask").id


def decide(action: str) -> Change:
    def decide(life: Life) -> None:
        promotion_decide(life.stage.reviewer.principal, _ask(life), action, reason="looked at it", version=1)

    return decide


def _undo_promotion(life: Life) -> None:
    with life.stage.context():
        decision = PromotionDecision.objects.get().id
    promotion_undo(life.stage.reviewer.principal, decision)


def _release(life: Life) -> None:
    quarantine_release(
        life.stage.reviewer.principal, life.dye.id, "harmless", version=life.of(life.dye).version
    )


def _held_again(life: Life) -> None:
    quarantine_undo(life.stage.reviewer.principal, life.dye.id)


def settle(life: Life) -> None:
    with life.stage.context():
        found = Contradiction.objects.get(status="open")
    contradiction_settle(
        life.stage.reviewer.principal, found.id, "keep_a", "asked the owner", version=found.version
    )


def _undo_settle(life: Life) -> None:
    with life.stage.context():
        found = Contradiction.objects.get(status="settled")
    contradiction_undo(life.stage.reviewer.principal, found.id)


def _verify(life: Life) -> None:
    life.later(40 * DAY)
    with clock.moved_to(life.now):
        memory_verify(life.stage.reviewer.principal, life.dye.id)


def _expire(life: Life) -> None:
    life.later(2 * DAY)


def _swept(life: Life) -> None:
    life.later(2 * DAY)
    assert sweep_expiry(life.stage.tenant.id, now=life.now).changed == 1


def _pin(life: Life, **until: datetime) -> None:
    memory_pin(life.stage.reviewer.principal, life.dye.id, "the contract says so", **until)


def _nothing(life: Life) -> None:
    """The stage as it is."""


# By name: what happens before the first read, and the change after it.
CHANGES: dict[str, tuple[Change, Change]] = {
    "write": (_nothing, lambda life: life.write("The lathe of hall four runs at night.")),
    "edit": (
        _nothing,
        lambda life: memory_edit(
            life.stage.coder.principal, life.dye.id, {"content": "The red dye needs three hours to dry."}, version=1
        ),
    ),
    "supersede": (_changed_plan, lambda life: life.claim("south-cove", "scan")),
    "merge": (
        lambda life: life.write("Lives in Bern", origin="tool_output", session="s1"),
        _merge,
    ),
    "contest": (lambda life: life.claim("north-cove", "scan"), lambda life: life.claim("south-cove", "probe")),
    "settle": (Life.contest, settle),
    "undo of a settlement": (lambda life: (life.contest(), settle(life)), _undo_settle),
    "pin": (_nothing, _pin),
    "unpin": (_pin, lambda life: memory_unpin(life.stage.reviewer.principal, life.dye.id)),
    "end of a pin": (
        lambda life: _pin(life, until=life.now + 5 * DAY), lambda life: life.later(6 * DAY)
    ),
    "verify": (_nothing, _verify),
    "evict": (_nothing, _evict),
    "compact": (_nothing, _compact),
    "delete": (_nothing, _delete),
    "restore": (_delete, _restore),
    "quarantine": (_nothing, decide("quarantine")),
    "release": (decide("quarantine"), _release),
    "undo of a release": (lambda life: (decide("quarantine")(life), _release(life)), _held_again),
    "promotion away": (_nothing, decide("approve")),
    "undo of a promotion": (decide("approve"), _undo_promotion),
    "rollback of a task": (
        lambda life: life.write("The lathe of hall four runs at night.", task="t1"),
        lambda life: task_rollback(life.stage.coder.principal, "t1", "it went wrong"),
    ),
    "undo of a rollback": (
        lambda life: (
            life.write("The lathe of hall four runs at night.", task="t1"),
            task_rollback(life.stage.coder.principal, "t1", "it went wrong"),
        ),
        lambda life: task_rollback_undo(life.stage.coder.principal, "t1"),
    ),
    "ageing": (_nothing, lambda life: life.later(31 * DAY)),
    "outdating": (lambda life: life.later(60 * DAY), lambda life: life.later(31 * DAY)),
    "expiry, no sweep": (lambda life: life.write("The fair ends in a day.", ttl="1d"), _expire),
    "expiry, swept": (lambda life: life.write("The fair ends in a day.", ttl="1d"), _swept),
}  # fmt: skip
