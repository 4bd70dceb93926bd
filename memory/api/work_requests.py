"""What clients send about tasks and sessions."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.api.strict import Flag, Share, StrictSerializer, Text, TimeToLive, several
from memory.domain.types import Origin
from memory.services.task_complete import OUTCOMES

_OPTIONAL: Final[dict[str, Any]] = {"required": False, "allow_null": True}


@extend_schema_field({})
class AnyJSON(serializers.Field[Any, Any, Any, Any]):
    """Any JSON value, `null` included."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, **options)

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class WorkingBody(StrictSerializer):
    """A value for a key of the task, and what the step was worth."""

    keeps_null = frozenset({"value"})

    value = AnyJSON(help_text="Any JSON, at most 64 KiB.")
    ttl = TimeToLive(**_OPTIONAL)
    succeeded = Flag(
        **_OPTIONAL, help_text="Whether the step worked; steps that did are remembered at the end."
    )
    importance = Share(
        **_OPTIONAL, help_text="Of the memory that a successful step becomes; 0.7 when not given."
    )
    summary = Text(
        **_OPTIONAL,
        whole=True,
        allow_blank=True,
        max_length=2000,
        help_text="The sentence to remember, instead of the value.",
    )
    origin = Text(**_OPTIONAL, whole=True, max_length=100, help_text=f"One of {', '.join(Origin)}.")
    confidence = Share(**_OPTIONAL)
    session = Text(**_OPTIONAL, whole=True)
    tool = Text(**_OPTIONAL, whole=True, allow_blank=True)


class TaskEndBody(StrictSerializer):
    """How the task ended."""

    outcome = serializers.ChoiceField(choices=OUTCOMES, required=False)
    summary = Text(required=False, allow_blank=True, max_length=2000)
    succeeded = several(Text(), required=False, help_text="Keys of further steps that worked.")


class RollbackBody(StrictSerializer):
    """Why the task is rolled back."""

    reason = Text(required=False, allow_blank=True, max_length=500)
