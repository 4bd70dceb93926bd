"""Writing and looking at what lives, for the tests of field reports about writing."""

from __future__ import annotations

from typing import Any

from memory.models import Memory
from memory.services.memory_write import memory_write
from memory.services.write_types import Outcome, WriteRequest
from tests.factories import Stage


def write(stage: Stage, content: str | None = None, **fields: Any) -> Outcome:
    fields = {"scope": "project:alpha", "origin": "tool_verified", **fields}
    return memory_write(stage.coder.principal, WriteRequest(content=content, **fields))


def live(stage: Stage) -> list[str]:
    with stage.context():
        return list(Memory.objects.filter(status="live").order_by("id").values_list("content", flat=True))
