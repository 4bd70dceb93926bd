"""The digest: never stale, whatever changes memory; contested values side by side; 304 for what is unchanged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memgov import clock
from memory.domain.policy import Policy
from memory.domain.scopes import GrantRule, parse_grant, parse_scope
from memory.models import Contradiction, ManifestEntry, Memory, PromotionDecision
from memory.services import tenancy
from memory.services.contradictions import contradiction_settle, contradiction_undo
from memory.services.digest import DigestAnswer, digest_read
from memory.services.errors import NotFound
from memory.services.manifest_read import manifest_read
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
from tenants.authentication import authenticate_key
from tenants.principals import system
from tests.factories import Stage, make_agent, make_tenant
from tests.statements import statements

pytestmark = pytest.mark.usefixtures("database")

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


def _decide(action: str) -> Change:
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


def _settle(life: Life) -> None:
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
    "settle": (Life.contest, _settle),
    "undo of a settlement": (lambda life: (life.contest(), _settle(life)), _undo_settle),
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
    "quarantine": (_nothing, _decide("quarantine")),
    "release": (_decide("quarantine"), _release),
    "undo of a release": (lambda life: (_decide("quarantine")(life), _release(life)), _held_again),
    "promotion away": (_nothing, _decide("approve")),
    "undo of a promotion": (_decide("approve"), _undo_promotion),
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


@pytest.mark.parametrize("name", CHANGES)
def test_digest__after_a_change__is_the_new_one(name: str) -> None:
    prepare, change = CHANGES[name]
    life = Life(make_tenant(policy=UNGUARDED))
    prepare(life)
    with clock.moved_to(max(life.now, clock.now())):
        before = life.read()
        assert shown(before) == life.truth(), "before the change"
        assert life.read(have=before.etag).manifest is None, (
            "positive control: unchanged is told as unchanged"
        )
    change(life)
    life.now = max(life.now, clock.now())
    with clock.moved_to(life.now):
        after = life.read(have=before.etag)
        assert after.manifest is not None, "a stale digest was taken for the present one"
        assert after.digest.text != before.digest.text
        assert shown(after) == life.truth()
        again = manifest_read(life.stage.coder.principal, after.manifest.id)
    assert again.text == after.digest.text and again.as_returned


def test_digest__promoted_into_its_scope__shows_it_there() -> None:
    life = Life(make_tenant())
    shared = parse_scope("shared")
    before = digest_read(life.stage.coder.principal, shared)
    assert before.digest.text == ""
    _decide("approve")(life)
    after = digest_read(life.stage.coder.principal, shared, have=before.etag)
    assert after.manifest is not None and DYE in after.digest.text


def test_digest__policy_activated__another_etag_and_its_numbers() -> None:
    life = Life(make_tenant())
    before = life.read()
    policy_activate(
        life.stage.owner.principal, {"digest": {"max_tokens": before.digest.tokens - 1}}, "shorter"
    )
    after = life.read(have=before.etag)
    assert after.manifest is not None and after.manifest.policy_version == 2
    assert KILN in after.digest.text and DYE not in after.digest.text
    assert after.digest.left_out == {"token_budget": 1}


def test_digest__grant_taken_and_given__not_there_and_there_again() -> None:
    life = Life(make_tenant())
    actor, agent = system(life.stage.tenant.id, "test"), make_agent(life.stage.tenant, "reader")
    with pytest.raises(NotFound):
        digest_read(agent.principal, ALPHA)
    tenancy.grant_set(actor, parse_grant("project:alpha=r"), agent=agent.agent)
    granted = digest_read(authenticate_key(agent.key_text), ALPHA)
    assert KILN in granted.digest.text
    tenancy.grant_set(actor, GrantRule("project:alpha", frozenset()), agent=agent.agent)
    with pytest.raises(NotFound):
        digest_read(authenticate_key(agent.key_text), ALPHA, have=granted.etag)


def test_digest__contested__both_values_side_by_side_and_named() -> None:
    life = Life(make_tenant())
    life.contest()
    answer = life.read()
    lines = answer.digest.text.splitlines()
    at = [number for number, line in enumerate(lines) if "-cove" in line]
    assert len(at) == 2 and at[1] == at[0] + 1, "one after the other"
    marks = {line.rsplit("(mem~", 1)[1][:8] for line in (lines[number] for number in at)}
    for number in at:
        own = lines[number].rsplit("(mem~", 1)[1][:8]
        assert f"(contested: mem~{(marks - {own}).pop()} says otherwise)" in lines[number]
    assert answer.manifest is not None
    with life.stage.context():
        entries = ManifestEntry.objects.filter(manifest_id=answer.manifest.id)
        starts = {entry.rivals_from for entry in entries if entry.rivals_from is not None}
        assert len(starts) == 1 and entries.exclude(rivals_from=None).count() == 2
    _settle(life)
    settled = life.read(have=answer.etag)
    assert "contested" not in settled.digest.text and settled.digest.text.count("-cove") == 1
    again = manifest_read(life.stage.coder.principal, answer.manifest.id)
    assert again.text == answer.digest.text and again.as_returned, "the old text is still told as it was"


def test_digest__contested_pair_over_the_budget__both_or_none() -> None:
    life = Life(make_tenant())
    life.contest()
    whole = life.read().digest
    short = digest_read(life.stage.coder.principal, ALPHA, max_tokens=whole.tokens - 1).digest
    assert short.text.count("-cove") in (0, 2)
    assert sum(short.left_out.values()) in (1, 2)


def test_digest__of_another_session__is_not_304_so_that_an_echo_is_known() -> None:
    life = Life(make_tenant())
    first = life.read(session="s1")
    assert life.read(have=first.etag, session="s1").manifest is None
    other = life.read(have=first.etag, session="s2")
    assert other.manifest is not None and other.digest.text == first.digest.text
    echoed = memory_write(
        life.stage.coder.principal,
        WriteRequest(content=KILN, scope="project:alpha", origin="tool_verified", session="s2"),
    )
    assert echoed.outcome == "echo"


def test_digest__unchanged__costs_few_statements_and_leaves_nothing() -> None:
    life = Life(make_tenant())
    have = life.read().etag
    with CaptureQueriesContext(connection) as captured:
        assert life.read(have=have).manifest is None
    told = statements(captured)
    assert len(told) <= 3, told  # the tenant, the policy, the rows
    with life.stage.context():
        assert ManifestEntry.objects.count() == 2
