"""Answers about promotions, the key itself, health, audit and jobs."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.answers import shapes as a
from memory.api.answers.memories import PartyAnswer
from memory.api.answers.shapes import Fields


class ProposerAnswer(Fields):
    kind = a.text()
    id = a.text()
    name = a.text()


class DecisionAnswer(Fields):
    action = a.text()
    reason = a.text(allow_blank=True)
    actor = a.text()
    at = a.time()
    undone_at = a.time()


class QuestionAnswer(Fields):
    kind = a.text()
    text = a.text()
    by = a.text()
    at = a.time()


class PromotionAnswer(Fields):
    id = a.text()
    memory = a.text()
    memory_version = a.whole()
    from_scope = a.text()
    to_scope = a.text()
    reason = a.text(allow_blank=True)
    trigger = a.text()
    proposer = ProposerAnswer()
    risk = a.text()
    risk_reasons = a.texts()
    approvals_needed = a.whole()
    status = a.text()
    version = a.whole()
    created_at = a.time()
    decided_at = a.time()
    result = a.maybe()
    decisions = DecisionAnswer(many=True)
    questions = QuestionAnswer(many=True)


class TenantAnswer(Fields):
    id = a.text()
    slug = a.text()
    name = a.text()


class KeyAnswer(Fields):
    id = a.text()
    prefix = a.text()
    name = a.text(allow_blank=True)
    trust_ceiling = a.number()
    expires_at = a.time()


class GrantAnswer(Fields):
    pattern = a.text()
    verbs = a.texts()
    source = a.word(("grant", "default"))  # type: ignore[assignment]


class WhoAmIAnswer(Fields):
    tenant = TenantAnswer()
    agent = PartyAnswer()
    role = a.text()
    key = KeyAnswer()
    grants = GrantAnswer(many=True)
    limits = serializers.DictField(child=serializers.IntegerField())
    policy_version = a.whole()
    embedder = a.maybe()


class MetricAnswer(Fields):
    value = serializers.FloatField(allow_null=True)
    state = a.word(("ok", "watch", "breach", "no_data"))
    unit = a.text()
    better = a.text()
    label = a.text()  # type: ignore[assignment]
    watch = serializers.FloatField(allow_null=True)
    breach = serializers.FloatField(allow_null=True)


class SpreadAnswer(Fields):
    low = a.number()
    high = a.number()


class PointAnswer(Fields):
    at = a.time()
    span = a.word(("hour", "day"))
    figures = serializers.DictField(child=serializers.FloatField(allow_null=True))
    spread = serializers.DictField(child=SpreadAnswer())


class HealthAnswer(Fields):
    scope = a.maybe()
    at = a.time()
    metrics = serializers.DictField(child=MetricAnswer())
    details = serializers.DictField(child=serializers.FloatField(allow_null=True))
    series = PointAnswer(many=True)


class TargetAnswer(Fields):
    kind = a.text()
    id = a.text()


class EventAnswer(Fields):
    id = a.text()
    seq = a.whole()
    at = a.time()
    actor = ProposerAnswer()
    action = a.text()
    target = TargetAnswer()
    scope = a.maybe()
    reason = a.maybe()
    before = serializers.DictField(allow_null=True)
    after = serializers.DictField(allow_null=True)
    policy_version = serializers.IntegerField(allow_null=True)
    request_id = a.maybe()
    hash = a.text()


class JobAnswer(Fields):
    id = a.text()
    kind = a.text()
    status = a.text()
    done = a.whole()
    total = a.whole()
    result = serializers.JSONField()
    error = a.maybe()
    created_at = a.time()
    finished_at = a.time()
