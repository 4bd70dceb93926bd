"""The answer of a bulk deletion."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.answers import shapes as a
from memory.api.answers.shapes import Fields


class DoomedMemory(Fields):
    id = a.text()
    version = a.whole()
    status = a.text()
    scope = a.text()
    recorded_at = a.time()


class LeftMemory(Fields):
    memory = a.text()
    reason = a.text()


class DeletionAnswer(Fields):
    dry_run = serializers.BooleanField()
    deleted = a.whole()
    matched = a.whole()
    derived = serializers.IntegerField(allow_null=True)
    memories = DoomedMemory(many=True)
    derived_memories = DoomedMemory(many=True)
    not_found = a.texts()
    already = a.texts()
    left = serializers.DictField(child=serializers.IntegerField())
    left_named = LeftMemory(many=True)
    seen = a.time()
    seal = a.text()
    step = a.maybe()
