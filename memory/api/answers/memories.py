"""Answers about memories and writes."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.answers import shapes as a
from memory.api.answers.shapes import Fields
from memory.domain.types import Band, Kind, Layer, OutcomeKind, Status


class FieldProblemAnswer(Fields):
    field = a.text()
    code = a.text()
    detail = a.text()


class ProblemAnswer(Fields):
    """RFC 9457. `code` is stable; a refused write has the members of its outcome besides."""

    type = a.text()
    title = a.text()
    status = a.whole()
    detail = a.text()
    code = a.text()
    errors = FieldProblemAnswer(many=True, required=False)  # type: ignore[assignment]
    request_id = a.text(required=False)


class PartyAnswer(Fields):
    id = a.maybe()
    name = a.text(allow_blank=True)


class NarrowedAnswer(Fields):
    paths = a.texts()
    tags = a.texts()


class PinAnswer(Fields):
    by = a.text()
    reason = a.text(allow_blank=True)
    at = a.time()
    until = a.time()


class FindingAnswer(Fields):
    kind = a.text()
    field = a.text()
    span = serializers.ListField(child=serializers.IntegerField())
    rule = a.text()


class MemoryAnswer(Fields):
    """A memory. `content` is null where it is `withheld`: text in quarantine goes to its writer only."""

    id = a.maybe()
    version = a.whole()
    status = a.word(Status)
    status_reason = a.maybe()
    scope = a.text()
    layer = a.word(Layer)
    kind = a.word(Kind)
    subject = a.maybe()
    predicate = a.maybe()
    value = a.maybe()
    content = a.maybe()
    withheld = a.maybe()
    applies_to = NarrowedAnswer()
    importance = a.number()
    confidence = a.number()
    trust = a.number()
    band = a.word(Band)
    origin = a.text()
    agent = PartyAnswer()
    key = a.maybe()
    session = a.maybe()
    task = a.maybe()
    tool = a.maybe()
    input_hash = a.maybe()
    derived_from = a.texts()
    also_learned_in = a.texts()
    reproductions = a.whole()
    use_count = a.whole()
    pin = PinAnswer(allow_null=True)
    superseded_by = a.maybe()
    merged_into = a.maybe()
    findings = FindingAnswer(many=True)
    metadata = serializers.DictField()
    policy_version = a.whole()
    recorded_at = a.time()
    learned_at = a.time()
    last_used_at = a.time()
    expires_at = a.time()
    review_by = a.time()
    valid_from = a.time()
    valid_to = a.time()


class OutcomeAnswer(Fields):
    """What became of a candidate, and by which rule of which policy."""

    outcome = a.word(OutcomeKind)
    reason = a.maybe()
    rule = a.maybe()
    explanation = a.text(allow_blank=True)
    memory = MemoryAnswer(allow_null=True)
    replaced = a.texts()
    linked = a.texts()
    findings = FindingAnswer(many=True)
    policy_version = a.whole()
    id = a.text()


class RefusedAnswer(OutcomeAnswer):
    """A refused write: a problem with the members of an outcome."""

    type = a.text(required=False)
    title = a.text(required=False)
    status = a.whole()
    detail = a.text()
    code = a.text()
    request_id = a.text(required=False)
    errors = FieldProblemAnswer(many=True, required=False)  # type: ignore[assignment]


class CheckAnswer(OutcomeAnswer):
    """What would become of it; `status` is the one that a write would answer."""

    status = a.whole()
    type = a.text(required=False)
    title = a.text(required=False)
    detail = a.text(required=False)
    code = a.text(required=False)
    request_id = a.text(required=False)


class BatchAnswer(Fields):
    """One result per item, in their order: its `index`, its `status`, and the outcome or the problem."""

    results = serializers.ListField(child=serializers.DictField())


class DeletedAnswer(Fields):
    deleted = a.texts()


class RevisionAnswer(Fields):
    version = a.whole()
    at = a.time()
    event = a.text()
    actor = a.text(allow_blank=True)
    reason = a.maybe()
    state = serializers.DictField()
    withheld = a.maybe()
