"""Answers about tasks and sessions."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.answers import shapes as a
from memory.api.answers.memories import FindingAnswer
from memory.api.answers.shapes import Fields
from memory.domain.types import OutcomeKind


class WorkingAnswer(Fields):
    """A value of working memory. `quarantined`: kept for its writer, given to no prompt."""

    id = a.text()
    task = a.text()
    key = a.text()
    value = serializers.JSONField(allow_null=True)
    version = a.whole()
    status = a.word(("kept", "quarantined"))
    succeeded = serializers.BooleanField(allow_null=True)
    importance = serializers.FloatField(allow_null=True)
    summary = a.maybe()
    origin = a.text()
    trust = a.number()
    session = a.maybe()
    tool = a.maybe()
    findings = FindingAnswer(many=True)
    recorded_at = a.time()
    updated_at = a.time()
    expires_at = a.time()


class WorkingListAnswer(Fields):
    results = WorkingAnswer(many=True)
    next = a.maybe()
    previous = a.maybe()


class WorkingDeletedAnswer(Fields):
    deleted = a.text()


class WrittenStepAnswer(Fields):
    outcome = a.word(OutcomeKind)
    reason = a.maybe()
    memory = a.maybe()


class PromotedStepAnswer(WrittenStepAnswer):
    key = a.text()


class TaskEndAnswer(Fields):
    """What became of the steps: `promoted` one by one, the rest in one `episode`."""

    task = a.text()
    status = a.text()
    outcome = a.text()
    promoted = PromotedStepAnswer(many=True)
    episode = WrittenStepAnswer(allow_null=True)
    counts = serializers.DictField(child=serializers.IntegerField())
    ended_at = a.time()


class RollbackAnswer(Fields):
    """What was `removed`, what stands again (`restored`), and what was `left` because others changed it since."""

    task = a.text()
    status = a.text()
    removed = a.texts()
    restored = a.texts()
    left = a.texts()
    working = a.whole()
    ended_at = a.time()


class TaskAnswer(Fields):
    task = a.text()
    status = a.text()
    ended_at = a.time()


class SessionEndAnswer(Fields):
    """Counts by outcome; `left` names the memories that stay in the session, with the reason."""

    session = a.text()
    status = a.text()
    counts = serializers.DictField(child=serializers.IntegerField())
    left = serializers.DictField()
    ended_at = a.time()
