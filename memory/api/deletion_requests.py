"""What clients send to delete many memories."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.api.requests import _choice
from memory.api.strict import Flag, Identifier, Instant, ScopeText, StrictSerializer, Text, several
from memory.domain.types import Band, Kind, Layer, Origin, Status
from memory.services.deletion import MOST_IDS

_MAYBE: dict[str, Any] = {"required": False}


class Condition(Text):
    """A text to be met.  One of zero characters alone would become the empty one, which whatever has none meets."""

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not text:
            self.fail("blank")
        return text


class DeletionFilter(StrictSerializer):
    """Conditions that all hold, those of `GET memories`.  Without `status` live and contested memories."""

    scope = several(ScopeText(), **_MAYBE)
    status = several(_choice(Status), **_MAYBE)
    kind = several(_choice(Kind), **_MAYBE)
    layer = several(_choice(Layer), **_MAYBE)
    origin = several(_choice(Origin), **_MAYBE)
    subject = Condition(max_length=300, **_MAYBE)
    predicate = Condition(max_length=300, **_MAYBE)
    agent = Condition(max_length=200, help_text="An agent's id (`agt_…`) or name.", **_MAYBE)
    session = Condition(
        max_length=300, help_text="What other sessions learned as well is left (`other_source`).", **_MAYBE
    )
    task = Condition(max_length=300, **_MAYBE)
    tool = Condition(max_length=300, **_MAYBE)
    band = _choice(Band, **_MAYBE)
    pinned = Flag(help_text="Pinned memories are left unless this is true.", **_MAYBE)
    q = Condition(max_length=300, help_text="Words that stand in the content.", **_MAYBE)
    updated_after = Instant(**_MAYBE)
    recorded_after = Instant(**_MAYBE)
    recorded_before = Instant(**_MAYBE)


class DeletionBody(StrictSerializer):
    """Which memories, by `ids` or by `filter`, and why."""

    ids: Any = serializers.ListField(child=Identifier("mem"), max_length=MOST_IDS, **_MAYBE)
    filter = DeletionFilter(**_MAYBE)
    reason = Text(max_length=500, help_text="Why they go; it stays in the audit.")
    cascade = Flag(help_text="Also delete what was derived from them.", **_MAYBE)
    dry_run = Flag(help_text="Only say what would go.", **_MAYBE)
    seen = Instant(
        help_text="The instant at which you looked; of a filter, what was recorded later is not touched.",
        **_MAYBE,
    )
    seal = Text(
        max_length=60,
        help_text="From a dry run with the same `cascade`: 412 when something else would go by now.",
        **_MAYBE,
    )
