"""Answers to reads for a prompt."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.answers import shapes as a
from memory.api.answers.memories import PartyAnswer
from memory.api.answers.shapes import Fields
from memory.domain.types import Band, Kind, Layer


class EntryAnswer(Fields):
    id = a.text()
    version = a.whole()
    scope = a.text()
    layer = a.word(Layer)
    kind = a.word(Kind)
    content = a.text()
    status = a.text()
    band = a.word(Band)
    score = a.number()
    channel = a.text()
    recorded_at = a.time()
    learned_at = a.time()
    source = a.text(allow_blank=True)  # type: ignore[assignment]
    origin = a.text()
    trust = a.number()
    confidence = a.number()
    key = a.text(required=False)
    explanation = serializers.DictField(required=False)


class RetrievalAnswer(Fields):
    """The entries, what was left out and why, and the block to put into a prompt."""

    manifest = a.text()
    entries = EntryAnswer(many=True)
    excluded = serializers.DictField(child=serializers.IntegerField())
    block = a.text(allow_blank=True)
    tokens = a.whole()
    search = a.word(("hybrid", "text"))
    policy_version = a.whole()


class DigestLineAnswer(Fields):
    id = a.text()
    version = a.whole()
    content = a.text()
    learned_at = a.time()


class BandsAnswer(Fields):
    fresh = DigestLineAnswer(many=True)
    aging = DigestLineAnswer(many=True)


class DigestAnswer(Fields):
    manifest = a.text()
    text = a.text(allow_blank=True)
    bands = BandsAnswer()
    left_out = serializers.DictField(child=serializers.IntegerField())
    tokens = a.whole()
    policy_version = a.whole()


class InjectedAnswer(Fields):
    id = a.text()
    version = a.whole()
    rank = a.whole()
    scope = a.text()
    band = a.word(Band)
    channel = a.text()
    score = a.number()
    scores = serializers.DictField(child=serializers.FloatField())
    source = a.text(allow_blank=True)  # type: ignore[assignment]
    trust = a.number()
    recorded_at = a.time()
    learned_at = a.time()
    content = a.maybe()
    erased = serializers.BooleanField()
    verdict = a.maybe()
    used_at = a.time()


class ManifestAnswer(Fields):
    """What was given at one read. `as_returned` says that `block` is that text, byte for byte."""

    id = a.text()
    kind = a.text()
    at = a.time()
    agent = PartyAnswer()
    agent_role = a.text()
    session = a.maybe()
    task = a.maybe()
    query = a.maybe()
    request = serializers.DictField()
    entries = InjectedAnswer(many=True)
    excluded = serializers.DictField(child=serializers.IntegerField())
    excluded_ids = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    block = a.text(allow_blank=True)
    block_format = a.text()
    block_digest = a.text()
    as_returned = serializers.BooleanField()
    tokens = a.whole()
    policy_version = a.whole()
    query_hash = a.maybe()
    usage_reported_at = a.time()


class UsageAnswer(Fields):
    injected = a.whole()
    used = a.whole()
    ignored = a.whole()
    harmful = a.whole()
    newly_used = a.whole()
