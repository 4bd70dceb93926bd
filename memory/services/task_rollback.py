"""Rolling a task back: what it wrote is taken away, and what gave way to it stands again, in one transaction.

What others changed since is left as it is and named in the result.  The rollback can itself be taken back, as
long as nothing that it touched has changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from memgov import clock
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.scopes import Scope, parse_scope
from memory.domain.types import Status
from memory.models import Contradiction, Memory, WorkingValue, WorkRun, WriteDecision
from memory.selectors.policies import active_policy
from memory.selectors.rivals import rivals_in
from memory.services.access import denials_audited
from memory.services.changes import Changes, parsed, revert
from memory.services.errors import Conflict
from memory.services.working import only_agents, own_task, task_scope
from memory.store import memories, reviews, work
from tenants.context import tenant_context
from tenants.principals import Principal

_GONE: Final = frozenset({Status.DELETED, Status.ERASED})
_REASON: Final = "its task was rolled back"


@denials_audited
def task_rollback(principal: Principal, task: str, reason: str = "") -> WorkRun:
    """Undo all that the agent's own task wrote; `run.result` names what was removed, what stands again, what was
    left.  Asking again changes nothing.  Raises `NotFound` for a task that the agent never used."""
    scope, now = _own(principal, task), clock.now()
    with tenant_context(principal.tenant_id):
        run = own_task(principal, scope)
        if run.status == work.ROLLED_BACK:
            return run
        rollback = _Rollback(Changes(principal, now, active_policy()), run, reason.strip() or _REASON)
        rollback.carry_out()
        rollback.close(scope)
    return run


@denials_audited
def task_rollback_undo(principal: Principal, task: str) -> WorkRun:
    """Take a rollback back, for as long as a removal can be undone.

    Raises `Conflict` when it was not rolled back, too long ago, or something it touched has changed since.
    """
    scope, now = _own(principal, task), clock.now()
    with tenant_context(principal.tenant_id):
        run = own_task(principal, scope)
        active = active_policy()
        keep = timedelta(days=active.policy.for_scope(scope).retention.restore_days)
        if run.status != work.ROLLED_BACK or run.ended_at is None:
            raise Conflict("the task was not rolled back; nothing was changed", code="not_rolled_back")
        if now - run.ended_at > keep:
            raise Conflict(f"a rollback can be undone for {keep.days} days", code="undo_too_late")
        changes = Changes(principal, now, active)
        try:
            revert(changes, run.undo["changes"], "task.rollback_undone", "the rollback was taken back")
        except memories.AlreadyLive:
            raise Conflict(
                "another memory has taken its place; nothing was changed", code="changed_since"
            ) from None
        _recount(run.undo["counted"], back="now", only_if="was")
        work.bring_back_values([UUID(one) for one in run.undo["values"]])
        for one in run.undo["moot"]:
            _reopen(UUID(one))
        changes.add("task.rollback_undone", "task", str(scope), scope=str(scope))
        changes.finish()
        before = run.undo["before"]
        work.update_run(
            run, status=before["status"], ended_at=parsed("valid_to", before["ended_at"]), result=before["result"],
            undo={**before["undo"], "versions": _versions(run, changes)},
        )  # fmt: skip
    return run


def _own(principal: Principal, task: str) -> Scope:
    only_agents(principal)
    return task_scope(task)


def _versions(run: WorkRun, changes: Changes) -> dict[str, tuple[int, int]]:
    """For a later rollback of the same task: the version that its write left, and the one that stands for it now."""
    now = {entry["id"]: entry["version"] for entry in changes.undo}
    return {row_id: (written, now[row_id]) for row_id, written in run.undo["versions"].items()}


class _Rollback:
    """One rollback under way."""

    def __init__(self, changes: Changes, run: WorkRun, reason: str) -> None:
        self.changes, self.run, self.reason = changes, run, reason
        self.removed: list[UUID] = []
        self.again: list[UUID] = []
        self.left: list[UUID] = []
        self.moot: list[UUID] = []
        self.counted: list[dict[str, Any]] = []
        self.values: list[UUID] = []
        self.versions: dict[str, int] = {}

    def carry_out(self) -> None:
        """Remove first, so that the places are free; then let stand again what gave way."""
        decisions = list(
            WriteDecision.objects.filter(agent_id=self.run.agent_id, task=self.run.name).order_by("at", "id")
        )
        written = Memory.objects.filter(agent_id=self.run.agent_id, task=self.run.name)
        victims = set(written.exclude(status__in=_GONE).values_list("id", flat=True))
        entries = _by_row(decisions)
        rows = memories.lock(victims | entries.keys())
        for memory_id in sorted(victims):
            self._remove(rows[memory_id])
        for memory_id, changed in reversed(entries.items()):
            if memory_id not in victims and memory_id in rows:
                self._stand_again(rows[memory_id], changed, victims)
        self._settle_moot(victims)
        self.counted = _recount(
            [one for decision in reversed(decisions) for one in decision.undo.get("counted", ())
             if UUID(one["id"]) not in victims],
            back="was", only_if="now",
        )  # fmt: skip
        self.values = list(
            WorkingValue.objects.filter(
                agent_id=self.run.agent_id, task=self.run.name, removed_at=None
            ).values_list("id", flat=True)
        )
        work.remove_values(self.values, self.changes.now)

    def _remove(self, row: Memory) -> None:
        self.changes.move(row, lifecycle.Event.DELETE, "memory.rolled_back", self.reason)
        self.removed.append(row.id)

    def _stand_again(self, row: Memory, changed: Sequence[Mapping[str, Any]], victims: set[UUID]) -> None:
        """Back to what it was before the task touched it, unless others changed it or took its place."""
        fields = {
            name: parsed(name, value)
            for entry in reversed(changed)
            for name, value in entry["fields"].items()
        }
        revived = fields.get("status") in lifecycle.READABLE and row.status not in lifecycle.READABLE
        written, later = changed[-1]["version"], self.run.undo.get("versions", {}).get(str(row.id), (0, 0))
        as_left = later[1] if later[0] == written else written
        if row.version != as_left or (revived and self._taken(row)):
            self.left.append(row.id)
            return
        self.changes.set(row, "memory.stands_again", self.reason, **fields)
        self.again.append(row.id)
        self.versions[str(row.id)] = written

    def _taken(self, row: Memory) -> bool:
        rivals = rivals_in(row, parse_scope(row.scope))
        return bool(rivals.same or rivals.contradicting)

    def _settle_moot(self, victims: set[UUID]) -> None:
        """Open contradictions with a memory that is gone have nothing left to decide."""
        rows = Contradiction.objects.select_for_update().filter(
            Q(memory_a__in=victims) | Q(memory_b__in=victims), status="open"
        )
        for found in rows.order_by("id"):
            reviews.update_contradiction(
                found, status="settled", resolution="moot", resolved_by=self.changes.actor.name,
                resolved_at=self.changes.now,
            )  # fmt: skip
            self.moot.append(found.id)
            self.changes.add(
                "contradiction.settled", "contradiction", show_id("con", found.id), scope=found.scope,
                reason=self.reason, after={"resolution": "moot"},
            )  # fmt: skip

    def close(self, scope: Scope) -> None:
        """Mark the task, with what an undo needs, and write the audit."""
        run = self.run
        result = {
            "removed": [show_id("mem", one) for one in self.removed],
            "restored": [show_id("mem", one) for one in self.again],
            "left": [show_id("mem", one) for one in self.left],
            "working": len(self.values),
        }
        before = {
            "status": run.status, "result": run.result, "undo": run.undo,
            "ended_at": run.ended_at.isoformat() if run.ended_at else None,
        }  # fmt: skip
        undo = {
            "changes": self.changes.undo,
            "counted": self.counted,
            "values": [str(one) for one in self.values],
            "versions": self.versions,
            "moot": [str(one) for one in self.moot],
            "before": before,
        }
        self.changes.add(
            "task.rolled_back", "task", str(scope), scope=str(scope), reason=self.reason,
            after={name: len(found) for name, found in
                   (("removed", self.removed), ("restored", self.again), ("left", self.left))},
        )  # fmt: skip
        self.changes.finish()
        work.update_run(run, status=work.ROLLED_BACK, ended_at=self.changes.now, result=result, undo=undo)


def _by_row(decisions: Sequence[WriteDecision]) -> dict[UUID, list[dict[str, Any]]]:
    """What the task's writes changed, by row, each in the order of the changes."""
    found: dict[UUID, list[dict[str, Any]]] = {}
    for decision in decisions:
        for entry in decision.undo.get("changes", ()):
            found.setdefault(UUID(entry["id"]), []).append(entry)
    return found


def _recount(counted: Sequence[Mapping[str, Any]], *, back: str, only_if: str) -> list[dict[str, Any]]:
    """Set counters and times back, each only where it still is what was set; what was set back, oldest first."""
    done: list[dict[str, Any]] = []
    for entry in counted:
        memory_id = UUID(entry["id"])
        row = memories.lock([memory_id]).get(memory_id)
        if row is None:
            continue
        still = {
            name: value
            for name, value in entry[back].items()
            if memories.plain(getattr(row, name)) == entry[only_if][name]
        }
        if still:
            memories.count(row, **{name: parsed(name, value) for name, value in still.items()})
            done.insert(0, {"id": entry["id"], "was": {name: entry["was"][name] for name in still},
                            "now": {name: entry["now"][name] for name in still}})  # fmt: skip
    return done


def _reopen(contradiction_id: UUID) -> None:
    found = reviews.lock_contradiction(contradiction_id)
    if found is not None and found.resolution == "moot":
        reviews.update_contradiction(found, status="open", resolution="", resolved_by="", resolved_at=None)
