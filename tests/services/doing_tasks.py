"""What an agent does in a task: values kept while it lasts, and memories."""

from __future__ import annotations

from typing import Any

from memory.models import Memory
from memory.services.memory_write import memory_write
from memory.services.working import (
    WorkingOutcome,
    WorkingWrite,
    working_put,
)
from memory.services.write_types import Outcome, WriteRequest
from tests.factories import Stage


def put(stage: Stage, key: str, value: object, task: str = "t1", **fields: Any) -> WorkingOutcome:
    return working_put(stage.coder.principal, task, key, WorkingWrite(value, **fields))


def write(stage: Stage, content: str | None = None, **fields: Any) -> Outcome:
    fields = {"scope": "project:alpha", "origin": "tool_verified", **fields}
    return memory_write(stage.coder.principal, WriteRequest(content=content, **fields))


def statuses(stage: Stage) -> dict[str, str]:
    with stage.context():
        return dict(Memory.objects.values_list("content", "status"))
