"""Which memories a read left out, by reason: named only where the policy wants it, for debugging or in a sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from memory.domain.ids import show_id
from memory.domain.policy_keep_rules import Manifests


@dataclass(slots=True)
class LeftOut:
    """A list to write on; with `most` 0 nothing is written, so that whoever leaves something out need not ask."""

    most: int = 0
    ids: dict[str, list[str]] = field(default_factory=dict)
    """Shown ids by reason, at most `most` of each."""

    def note(self, reason: str, ids: Iterable[UUID], prefix: str = "mem") -> None:
        """These were left out for this reason."""
        if not self.most:
            return
        named = self.ids.setdefault(reason, [])
        named.extend(show_id(prefix, one) for one in ids)
        del named[self.most :]
        if not named:
            del self.ids[reason]

    def begin_anew(self) -> None:
        """What was written is void."""
        self.ids.clear()


NOT_NAMED: Final = LeftOut()


def left_out(rules: Manifests, chance: float) -> LeftOut:
    """An empty list for one read; `chance` is a number drawn evenly from 0 (included) to 1 (excluded)."""
    named = rules.excluded_ids == "all" or (
        rules.excluded_ids == "sampled" and chance < rules.excluded_ids_share
    )
    return LeftOut(rules.excluded_ids_most if named else 0)
