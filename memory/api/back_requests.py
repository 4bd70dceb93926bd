"""What clients send to bring a memory back."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.api.strict import Identifier, Instant, StrictSerializer, Text, Whole
from memory.services.restore import ON_CLASH

_MAYBE: dict[str, Any] = {"required": False}


class SeenBody(StrictSerializer):
    """A memory that lives in the place, at the version that you saw."""

    memory = Identifier("mem")
    version = Whole(min_value=1)


class RestoreBody(StrictSerializer):
    """Why it comes back, until when, and what is to become of what lives in its place."""

    reason = Text(max_length=500, **_MAYBE)
    version = Whole(min_value=1, help_text="The version that you saw.", **_MAYBE)
    expires_at = Instant(**_MAYBE)
    on_clash = serializers.ChoiceField(choices=list(ON_CLASH), **_MAYBE)
    seen = SeenBody(many=True, help_text="What lives in its place, as `GET` names it.", **_MAYBE)
