"""What a mount left behind, looked at."""

from __future__ import annotations

from typing import Any

import pytest

from memory.models import AuditEvent, Memory, Mount, MountEntry, MountHead, Revision, WriteDecision
from memory.services.mount_types import MountRefused
from tests.factories import Stage
from tests.mounts.files import (
    apply,
)


def picture(stage: Stage) -> list[Any]:
    """Everything that an apply could change."""
    models = (Memory, Revision, Mount, MountEntry, MountHead, WriteDecision, AuditEvent)
    with stage.context():
        return [list(model._default_manager.order_by("id").values()) for model in models]


def problems(stage: Stage, document: bytes, **call: Any) -> list[tuple[int, str]]:
    with pytest.raises(MountRefused) as refused:
        apply(stage, document, **call)
    return [(one.line, one.code) for one in refused.value.problems]


def events(stage: Stage, action: str) -> list[AuditEvent]:
    with stage.context():
        return list(AuditEvent.objects.filter(action=action).order_by("seq"))
