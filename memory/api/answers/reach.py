"""Answers about a blast radius."""

from __future__ import annotations

from memory.api.answers import shapes as a
from memory.api.answers.shapes import Fields


class ReachCounts(Fields):
    written = a.whole()
    derived = a.whole()
    readable = a.whole()
    quarantined = a.whole()
    holdable = a.whole()
    manifests = a.whole()
    agents = a.whole()
    sessions = a.whole()


class ReachMemory(Fields):
    id = a.text()
    version = a.whole()
    relation = a.text()
    status = a.text()
    scope = a.text()
    agent = a.text(allow_blank=True)
    recorded_at = a.time()


class ReachManifest(Fields):
    manifest = a.text()
    name = a.text(allow_blank=True)
    count = a.whole()
    used = a.whole()
    last_at = a.time()


class ReachAgent(Fields):
    agent = a.maybe()
    name = a.text(allow_blank=True)
    count = a.whole()
    used = a.whole()
    last_at = a.time()


class ReachSession(Fields):
    session = a.text()
    reads = a.whole()
    last_at = a.time()


class ReachDecision(Fields):
    at = a.time()
    actor = a.text()
    action = a.text()
    target = a.text()
    reason = a.maybe()


class ReachAnswer(Fields):
    seen = a.time()
    counts = ReachCounts()
    memories = ReachMemory(many=True)
    next = a.maybe()
    manifests = ReachManifest(many=True)
    agents = ReachAgent(many=True)
    sessions = ReachSession(many=True)
    decisions = ReachDecision(many=True)
