"""Writing, and trying drafts on what was written."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from memgov import clock
from memory.domain.policy import Policy
from memory.models import Memory
from memory.services.memory_write import memory_write
from memory.services.preview import PreviewReport, preview_report
from memory.services.write_types import Outcome, WriteRequest
from tenants.principals import Principal
from tests.factories import Stage

START = datetime.fromisoformat("2026-03-01T09:00:00+00:00")
NOW = START + timedelta(days=40)


def write(who: Principal, *, second: float = 0, **fields: Any) -> Outcome:
    """A write, some seconds after the present instant."""
    request = WriteRequest(**{"origin": "tool_verified", "scope": "project:alpha", **fields})
    with clock.moved_to(clock.now() + timedelta(seconds=second)):
        return memory_write(who, request)


def rack(who: Principal, at: int, **fields: Any) -> Memory:
    """A memory that is like no other."""
    memory = write(who, content=f"Rack {at} holds the spare router of line {at * 7 + 3}.", **fields).memory
    assert memory is not None
    return memory


def tried(stage: Stage, document: dict[str, Any], **options: Any) -> PreviewReport:
    options = {"now": NOW, **options}
    with clock.moved_to(options["now"]):
        return preview_report(stage.tenant.id, Policy.model_validate(document), **options)


def part(found: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next((one for one in found if one["name"] == name), {"count": 0, "labels": {}, "samples": []})


def ids(part: dict[str, Any]) -> list[str]:
    return [one["id"] for one in part["samples"]]
