"""What waits for a person: promotion requests with their decisions, and contradictions."""

from __future__ import annotations

from django.db import models
from django.db.models import Case, F, Q, When

from memgov import clock
from memory.domain.scopes import WIDTH
from tenants.models import TenantModel


def risk_rank() -> Case:
    """What an order by risk goes by; the index of the queue has the same expression."""
    return Case(When(risk="high", then=2), When(risk="medium", then=1), default=0)


def reach_rank() -> Case:
    """What an order by reach goes by, likewise: the wider the target, the higher."""
    widths = [When(to_scope__startswith=str(kind), then=width) for kind, width in WIDTH.items()]
    return Case(*widths, default=0)


class PromotionRequest(TenantModel):
    """A request to widen a memory's scope, bound to the memory's version.  At most one is open for a
    memory and target."""

    memory_id = models.UUIDField()
    memory_version = models.IntegerField()
    from_scope = models.CharField(max_length=200)
    to_scope = models.CharField(max_length=200)
    reason = models.CharField(max_length=500, blank=True)
    trigger = models.CharField(max_length=30, default="request")
    proposer_kind = models.CharField(max_length=20)
    proposer_id = models.CharField(max_length=100)
    proposer_name = models.CharField(max_length=200)
    risk = models.CharField(max_length=10)
    risk_reasons = models.JSONField(default=list)
    approvals_needed = models.IntegerField(default=1)
    status = models.CharField(max_length=20, default="pending")
    version = models.IntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now)
    decided_at = models.DateTimeField(null=True)
    result_memory_id = models.UUIDField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "memory_id", "to_scope"],
                condition=Q(status="pending"),
                name="one_open_promotion",
            )
        ]
        indexes = [
            models.Index(fields=["tenant", "status", "-created_at", "-id"], name="promotion_queue"),
            models.Index(
                fields=["tenant", "risk", "-created_at", "-id"],
                condition=Q(status="pending"),
                name="promotion_by_risk",
            ),
            models.Index(
                fields=["tenant", "-created_at", "-id"],
                condition=~Q(status="pending"),
                name="promotion_closed",
            ),
            models.Index(
                fields=["tenant", "-decided_at", "-id"],
                condition=~Q(status="pending"),
                name="promotion_decided",
            ),
            models.Index(
                F("tenant"),
                risk_rank().desc(),
                F("id").desc(),
                condition=Q(status="pending"),
                name="promotion_risk_rank",
            ),
            models.Index(
                F("tenant"),
                reach_rank().desc(),
                F("id").desc(),
                condition=Q(status="pending"),
                name="promotion_reach_rank",
            ),
        ]


class PromotionDecision(TenantModel):
    """What one person (or the policy) decided on a request; an undone one stays, marked."""

    request_id = models.UUIDField()
    request_version = models.IntegerField()
    action = models.CharField(max_length=20)
    reason = models.CharField(max_length=500, blank=True)
    actor_id = models.CharField(max_length=100)
    actor_name = models.CharField(max_length=200)
    at = models.DateTimeField(default=clock.now)
    undo = models.JSONField(default=dict)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "request_id"], name="decision_by_request"),
            models.Index(fields=["tenant", "actor_id", "-at"], name="decision_by_actor"),
        ]


class PromotionNote(TenantModel):
    """What goes on beside a request without deciding it: a reviewer's snooze, a question to its proposer, an answer.

    A snooze belongs to its author and hides the request from them until `until`; `ended_at` says that it was taken
    back.  A question is open while no answer follows it.
    """

    request_id = models.UUIDField()
    kind = models.CharField(max_length=20)
    text = models.CharField(max_length=1000, blank=True)
    actor_id = models.CharField(max_length=100)
    actor_name = models.CharField(max_length=200)
    at = models.DateTimeField(default=clock.now)
    until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "request_id", "-at"], name="note_by_request"),
            models.Index(fields=["tenant", "actor_id", "kind"], name="note_by_actor"),
        ]


class Contradiction(TenantModel):
    """Two memories that clash (`conflict`: one is live, one held; `contested`: both live), or that may say
    the same (`merge`: the middle band of near duplicates)."""

    kind = models.CharField(max_length=20)
    scope = models.CharField(max_length=200)
    subject = models.CharField(max_length=300, blank=True)
    predicate = models.CharField(max_length=300, blank=True)
    memory_a = models.UUIDField()
    memory_b = models.UUIDField()
    evidence = models.JSONField(default=dict)
    status = models.CharField(max_length=20, default="open")
    version = models.IntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now)
    resolution = models.CharField(max_length=20, blank=True)
    resolved_by = models.CharField(max_length=200, blank=True)
    resolved_at = models.DateTimeField(null=True)
    undo = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "memory_a", "memory_b"],
                condition=Q(status="open"),
                name="one_open_contradiction",
            )
        ]
        indexes = [
            models.Index(fields=["tenant", "status", "-created_at", "-id"], name="contradiction_queue"),
            models.Index(
                fields=["tenant", "-created_at", "-id"],
                condition=~Q(status="open"),
                name="contradiction_settled",
            ),
            models.Index(
                fields=["tenant", "-resolved_at", "-id"],
                condition=~Q(status="open"),
                name="contradiction_resolved",
            ),
            models.Index(
                fields=["tenant", "kind", "-created_at", "-id"],
                condition=Q(status="open"),
                name="contradiction_by_kind",
            ),
        ]
