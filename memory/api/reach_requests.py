"""What clients send about a blast radius."""

from __future__ import annotations

from typing import Any

from memory.api.requests import MAX_PAGE
from memory.api.strict import Identifier, Instant, ParameterSerializer, StrictSerializer, Text, Whole
from memory.domain.blast import LONGEST

_MAYBE: dict[str, Any] = {"required": False}


class ReachParameters(ParameterSerializer):
    """Where to begin, by conditions that all hold, and which page of its memories."""

    memory = Identifier("mem", **_MAYBE)
    agent = Identifier("agt", **_MAYBE)
    key = Identifier("key", **_MAYBE)
    session = Text(max_length=LONGEST, **_MAYBE)
    tool = Text(max_length=LONGEST, **_MAYBE)
    source: Any = Text(
        max_length=LONGEST, help_text="An agent with its tool, as readers are shown it.", **_MAYBE
    )
    since = Instant(help_text="Recorded at this instant or later.", **_MAYBE)
    until = Instant(help_text="Recorded at this instant or before.", **_MAYBE)
    seen = Instant(help_text="What was recorded later is left out; `next` carries it on.", **_MAYBE)
    before = Identifier("mem", help_text="The last memory of the page before.", **_MAYBE)
    page_size = Whole(min_value=1, max_value=MAX_PAGE, **_MAYBE)


class ReachBody(StrictSerializer):
    """What to quarantine, and why."""

    memory = Identifier("mem", **_MAYBE)
    agent = Identifier("agt", **_MAYBE)
    key = Identifier("key", **_MAYBE)
    session = Text(max_length=LONGEST, **_MAYBE)
    tool = Text(max_length=LONGEST, **_MAYBE)
    source: Any = Text(max_length=LONGEST, **_MAYBE)
    since = Instant(**_MAYBE)
    until = Instant(**_MAYBE)
    seen = Instant(
        help_text="The instant at which you looked; what was recorded later is not touched.", **_MAYBE
    )
    reason = Text(max_length=500)
