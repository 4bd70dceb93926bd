"""Statements that direct without an imperative: they rank, hide, protect, authorise, waive or redirect.

Each rule is a relation between general words ("only" + "choice", "checks" + "waived", "payments" + "go to" an
account), not the wording of one attack. What they catch by mistake is held for a look, not lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from memory.domain.sanitisation.authority import AUTHORITY
from memory.domain.sanitisation.influence import INFLUENCE
from memory.domain.sanitisation.norms import NORMS
from memory.domain.sanitisation.redirection import REDIRECTION
from memory.domain.sanitisation.waivers import WAIVERS

Found = tuple[str, str, tuple[int, int]]

RULES: Final = (*INFLUENCE, *AUTHORITY, *REDIRECTION, *WAIVERS, *NORMS)


def claims(text: str) -> Iterator[Found]:
    """(reason, rule, span) for each statement that directs, at most one for each rule."""
    for each in RULES:
        match = each.pattern.search(text)
        if match is not None:
            yield each.reason, each.name, match.span()
