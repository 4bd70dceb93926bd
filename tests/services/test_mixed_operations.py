"""Everything at once: writers, promotions, sweeps, restores and deletions on the same few facts.

Never two live rows where one may be, never an acknowledged write that is gone without a trace, no deadlock.
`MEMGOV_TEST_MIXED_OPERATIONS` says how many operations (300 when it does not).
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connections

from memgov import clock
from memory.domain.audit_chain import verify
from memory.domain.claims import claim_key
from memory.domain.scopes import parse_scope
from memory.models import Memory, MemoryIndex, Revision, WriteDecision
from memory.selectors import audit as audit_selectors
from memory.services.errors import Conflict, ServiceError
from memory.services.memory_write import memory_write
from memory.services.promotion import promotion_request
from memory.services.promotion_decide import promotion_decide
from memory.services.retention import memory_delete, memory_restore
from memory.services.sweeps import sweep_compaction, sweep_decay, sweep_expiry
from memory.services.task_rollback import task_rollback
from memory.services.write_types import Outcome, WriteRequest
from tests.factories import Stage, make_tenant
from tests.parallel import at_once
from tests.search_index import out_of_step

pytestmark = pytest.mark.usefixtures("database")

OPERATIONS = int(os.environ.get("MEMGOV_TEST_MIXED_OPERATIONS", "300"))
THREADS = 8
LIVE = ["live", "contested"]


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def plan(stage: Stage, value: str, scope: str = "project:alpha", **fields: Any) -> Outcome:
    request = WriteRequest(
        subject="user:42", predicate="plan", value=value, scope=scope, origin="user_explicit", **fields
    )
    return memory_write(stage.coder.principal, request)


def live_values(stage: Stage, scope: str) -> list[str]:
    with stage.context():
        return list(
            Memory.objects.filter(scope=scope, status="live", predicate="plan").values_list(
                "value", flat=True
            )
        )


def test_race__write_and_promotion_of_rival_values__one_live(stage: Stage) -> None:
    for number in range(6):
        memory = plan(stage, f"own{number}", scope="agent:coder").memory
        assert memory is not None
        request = promotion_request(stage.coder.principal, memory.id, parse_scope("project:alpha"), "for all")

        def approve(request: Any = request) -> str:
            try:
                promotion_decide(
                    stage.reviewer.principal, request.id, "approve", reason="ok", version=request.version
                )
            except ServiceError as error:
                return error.code
            return "approved"

        at_once([approve, lambda number=number: plan(stage, f"direct{number}")])  # type: ignore[misc]
        assert len(live_values(stage, "project:alpha")) == 1


def test_race__write_sweep_and_restore__one_live_and_nothing_lost(stage: Stage) -> None:
    for number in range(6):
        scope = f"user:{number}"
        old = plan(stage, "pro", scope=scope, ttl=60).memory
        assert old is not None
        with clock.moved_to(clock.now() + timedelta(minutes=2)):
            sweep_expiry(stage.tenant.id)

            def restore(memory_id: Any = old.id) -> str:
                try:
                    memory_restore(stage.reviewer.principal, memory_id)
                except Conflict as error:
                    return error.code
                return "restored"

            calls: list[Callable[[], object]] = [
                restore, partial(plan, stage, "team", scope=scope), partial(sweep_expiry, stage.tenant.id)
            ]  # fmt: skip
            done = at_once(calls)
            values = live_values(stage, scope)
            assert values == ["team"], (done, values)


class Mixed:
    """Random operations on a few facts; every acknowledged write is remembered."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.stage, self.random = stage, random.Random(seed)
        self.acknowledged: list[Outcome] = []
        self.unforeseen: list[BaseException] = []
        self.told: Counter[str] = Counter()

    def operation(self, number: int) -> None:
        chosen = self.random.choices(list(self.kinds), weights=[12, 6, 6, 3, 3, 2, 1, 1])[0]
        try:
            self.told[f"{chosen} {self.kinds[chosen](self, number) or 'done'}"] += 1
        except ServiceError as error:
            self.told[f"{chosen} {error.code}"] += 1
        except BaseException as error:
            self.unforeseen.append(error)
        finally:
            if number % 97 == 0:
                connections.close_all()

    def _keep(self, outcome: Outcome) -> str:
        self.acknowledged.append(outcome)
        return outcome.outcome.value

    def write_value(self, number: int) -> str:
        subject = f"user:{self.random.randrange(4)}"
        request = WriteRequest(
            subject=subject, predicate="plan", value=self.random.choice(("pro", "team", "solo", "free")),
            scope="project:alpha", origin="user_explicit", session=f"s{number % 5}", task=f"t{number // 60}",
        )  # fmt: skip
        return self._keep(memory_write(self.stage.coder.principal, request))

    def write_claim(self, number: int) -> str:
        text = self.random.choice(
            ("Lives in Bern", "Moved to Zurich", "Now lives in Basel", "Relocated to Chur")
        )
        request = WriteRequest(content=text, scope="user:9", origin="user_explicit", session=f"s{number % 5}")
        return self._keep(memory_write(self.stage.coder.principal, request))

    def write_text(self, number: int) -> str:
        text = f"Shelf {self.random.randrange(6)} of the store holds paper of mill four."
        scope = self.random.choice(("agent:coder", "project:alpha"))
        request = WriteRequest(content=text, scope=scope, origin="tool_verified", session=f"s{number % 5}")
        return self._keep(memory_write(self.stage.coder.principal, request))

    def _any(self, *statuses: str) -> Memory | None:
        with self.stage.context():
            rows = list(Memory.objects.filter(status__in=statuses).order_by("id")[:40])
        return self.random.choice(rows) if rows else None

    def promote(self, number: int) -> str | None:
        memory = self._any("live")
        if memory is None or memory.scope != "agent:coder":
            return "nothing"
        target = parse_scope("project:alpha")
        request = promotion_request(self.stage.coder.principal, memory.id, target, "for all")
        if request.status == "pending":
            promotion_decide(
                self.stage.reviewer.principal, request.id, "approve", reason="ok", version=request.version
            )
        return None

    def delete(self, number: int) -> str | None:
        memory = self._any("live")
        if memory is None:
            return "nothing"
        memory_delete(self.stage.reviewer.principal, memory.id, "not needed")
        return None

    def restore(self, number: int) -> str | None:
        memory = self._any("deleted", "superseded", "archived", "expired")
        if memory is None:
            return "nothing"
        memory_restore(self.stage.reviewer.principal, memory.id)
        return None

    def sweep(self, number: int) -> None:
        for sweep in (sweep_expiry, sweep_decay, sweep_compaction):
            sweep(self.stage.tenant.id)

    def roll_back(self, number: int) -> None:
        task_rollback(self.stage.coder.principal, f"t{max(number // 60 - 2, 0)}")

    kinds: dict[str, Callable[[Mixed, int], str | None]] = {
        "value": write_value, "claim": write_claim, "text": write_text, "promote": promote, "delete": delete,
        "restore": restore, "sweep": sweep, "roll back": roll_back,
    }  # fmt: skip


def test_mixed_operations__invariants_hold(stage: Stage) -> None:
    mixed = Mixed(stage, seed=7)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(mixed.operation, range(OPERATIONS)))
        list(pool.map(lambda _: connections.close_all(), range(THREADS * 4)))
    assert mixed.unforeseen == []
    assert mixed.acknowledged
    with stage.context():
        _one_live_value(stage)
        ids = {outcome.memory.id for outcome in mixed.acknowledged if outcome.memory}
        assert Memory.objects.filter(id__in=ids).count() == len(ids), "an acknowledged write is gone"
        decided = {outcome.decision_id for outcome in mixed.acknowledged}
        assert set(WriteDecision.objects.values_list("id", flat=True)) == decided
        readable = set(Memory.objects.filter(status__in=LIVE).values_list("id", flat=True))
        assert set(MemoryIndex.objects.values_list("memory_id", flat=True)) == readable
        assert out_of_step(stage) == []
        versions = Counter(Revision.objects.values_list("memory_id", flat=True))
        assert versions == dict(Memory.objects.values_list("id", "version")), "every version is kept"
        assert verify(audit_selectors.chain(), audit_selectors.checkpoints()).ok
    assert not [what for what in mixed.told if what.endswith("busy")], mixed.told


def _one_live_value(stage: Stage) -> None:
    rows = Memory.objects.filter(status="live").values_list(
        "scope", "subject", "predicate", "content", "value_hash"
    )
    texts = Counter(
        (scope, subject, predicate, bytes(hashed)) for scope, subject, predicate, _, hashed in rows
    )
    keys = Counter(
        (scope, subject, predicate or claim_key(content)) for scope, subject, predicate, content, _ in rows
        if predicate == "plan" or claim_key(content)
    )  # fmt: skip
    assert [key for key, count in (texts + keys).items() if count > 2 or (count > 1 and key in keys)] == []
    assert max(texts.values(), default=1) == 1 and max(keys.values(), default=1) == 1
