"""A tenant that has at least one row in every table, lived through the services."""

from __future__ import annotations

from memgov import clock
from memory.domain.alerting import Rule
from memory.domain.registry import PredicateRule
from memory.domain.scopes import parse_scope
from memory.models import Alert, AuditCheckpoint, HealthSnapshot, IdempotencyKey, Job, SweepRun
from memory.services.alert_settings import channel_add, rule_set
from memory.services.health_sample import sample_draw
from memory.services.invitations import invitation_create
from memory.services.memory_write import memory_write
from memory.services.mounts import mount_apply
from memory.services.policy_drafts import draft_start
from memory.services.promotion import promotion_request
from memory.services.promotion_decide import promotion_decide
from memory.services.promotion_talk import promotion_ask
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.usage import usage_report
from memory.services.vocabulary import alias_set, predicate_set
from memory.services.working import WorkingWrite, working_put
from memory.services.write_types import WriteRequest
from memory.store import alerts
from tests.factories import Stage, make_tenant

MOUNT = b"""
name: press
entries:
- content: The press halls are cleaned on Sundays.
  scope: project:alpha
"""


def full_house() -> Stage:
    """A fresh stage on which everything has happened once."""
    stage = make_tenant()
    coder, chief = stage.coder.principal, stage.orchestrator.principal
    fact = WriteRequest(
        content="The press halls open at seven.", scope="project:alpha", origin="tool_verified"
    )
    written = memory_write(coder, fact)
    for principal, value in ((coder, "north-cove"), (chief, "south-cove")):
        claim = WriteRequest(
            subject="service:press",
            predicate="region",
            value=value,
            scope="project:alpha",
            origin="tool_verified",
        )
        memory_write(principal, claim)
    found = memory_retrieve(coder, RetrieveRequest(query="When do the press halls open?"))
    usage_report(coder, found.manifest.id, [entry.found.id for entry in found.entries])
    working_put(coder, "t1", "step_1", WorkingWrite({"halls": 3}))
    assert written.memory is not None
    request = promotion_request(coder, written.memory.id, parse_scope("shared"), "all crews ask")
    promotion_ask(stage.reviewer.principal, request.id, "Which crews?")
    promotion_decide(
        stage.reviewer.principal, request.id, "approve", reason="checked", version=request.version
    )
    alias_set(stage.owner.principal, "the press", "service:press")
    predicate_set(stage.owner.principal, PredicateRule("supplier", single_valued=True))
    mount_apply(stage.owner.principal, MOUNT)
    draft_start(stage.owner.principal, "stricter")
    sample_draw(stage.tenant.id)
    rule_set(stage.owner.principal, "stale_share", "project:alpha", Rule(0.4, 0.6))
    channel_add(stage.owner.principal, "email", "alerts@example.test")
    invitation_create(stage.owner.principal, "full.house@example.test", "auditor")
    with stage.context():
        _what_the_api_and_sweeps_leave(stage)
    return stage


def _what_the_api_and_sweeps_leave(stage: Stage) -> None:
    now = clock.now()
    alerts.raise_alert(
        Alert(kind="junk_burst", severity="warning", target="coder", message="many refused"), now
    )
    Job(kind="batch", actor_name="coder").save()
    SweepRun(name="decay").save()
    IdempotencyKey(key_id=stage.coder.key.id, key="k1", body_hash=bytes(32)).save()
    HealthSnapshot(period=now, figures={}).save()
    AuditCheckpoint(seq=1, hash=bytes(32)).save()
