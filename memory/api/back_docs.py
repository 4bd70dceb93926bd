"""The API's description of what was derived, and of bringing back."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.answers import shapes as a
from memory.api.answers.memories import MemoryAnswer
from memory.api.answers.shapes import Fields
from memory.api.back_requests import RestoreBody
from memory.api.docs import IDEMPOTENCY, described, sent


class DerivedMemory(Fields):
    id = a.text()
    version = a.whole()
    status = a.text()
    scope = a.text()


class DerivedAnswer(Fields):
    memories = DerivedMemory(many=True)
    more = serializers.BooleanField()


class Rival(Fields):
    memory = a.text()
    version = a.whole()
    status = a.text()
    relation = a.text()


class RestoreLook(Fields):
    version = a.whole()
    status = a.text()
    goes_to = a.text()
    clash = Rival(many=True)


derived = described(
    "List what was derived from a memory", "memories", operation_id="memory_derived", answers={200: DerivedAnswer},
    description="At any depth, what is still there and this key may read: what `DELETE` with `cascade=true` would take "
    "along where the key may write.",
)  # fmt: skip
restore_look = described(
    "See what restoring would meet", "memories", operation_id="memory_restore_look", answers={200: RestoreLook},
    description="What lives in the place of a removed memory: what says the same, and other values of what has one.",
)  # fmt: skip
restore = described(
    "Restore a memory", "memories", operation_id="memory_restore", request=RestoreBody, answers={200: MemoryAnswer},
    problems=(403, 409, 412, 422), parameters=[IDEMPOTENCY],
    examples=[sent("Nothing in its place", {"reason": "it is true after all"})],
    description="Brings it back with its id, history, links and counters, for 30 days after its removal. An agent may "
    "for what a sweep or an agent took in a scope that it writes; what a person removed takes a person. Where "
    "something lives in its place this is 409 `place_taken`; `on_clash` then says `replace` or `contest`, with `seen`.",
)  # fmt: skip
