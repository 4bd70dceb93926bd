"""Directives in a text: sentences that direct a reader instead of stating something.

Told by the form of the sentence, in every reading of the text; see the modules for each kind of form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memory.domain.sanitisation.disguises import disguises
from memory.domain.sanitisation.model import DirectiveFinding, View
from memory.domain.sanitisation.views import views
from memory.domain.sanitisation.words import is_plain_verb

_HEAD: Final = re.compile(r"(?:^|[.;:!?\n]\s+)(?:please\s+|always\s+|never\s+|do not\s+|don't\s+)*(\w+)", re.IGNORECASE)


def scan_directives(text: str) -> tuple[DirectiveFinding, ...]:
    """Every directive in `text` and in its readings, with the reason, the span in the text and the rule."""
    return directives_in(views(text))


def directives_in(readings: Sequence[View]) -> tuple[DirectiveFinding, ...]:
    return tuple(_found(readings))


def _found(readings: Sequence[View]) -> Iterator[DirectiveFinding]:
    for view in readings:
        if view.name == "original":
            for mark in disguises(view.text):
                yield DirectiveFinding("disguise", mark.span, mark.rule, view.name)
        for match in _HEAD.finditer(view.text):
            if is_plain_verb(match[1].lower()):
                yield DirectiveFinding("imperative", view.source_span(*match.span(1)), "imperative", view.name)
