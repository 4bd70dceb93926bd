"""What a write comes to: what becomes of the candidate, and of the rows that it met."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from memory.domain.types import OutcomeKind, Status


class Action(StrEnum):
    """What the store has to do with the candidate and the targets."""

    INSERT = "insert"
    INSERT_HISTORY = "insert_history"
    """Insert as superseded by the target: true once, not now."""
    TOUCH = "touch"
    """No new row; the target's TTL is renewed, see `refreshes` and `reproduces`."""
    MERGE_INTO_KNOWN = "merge_into_known"
    MERGE_INTO_NEW = "merge_into_new"
    """Insert, and the targets become merged into the new row."""
    SUPERSEDE = "supersede"
    HOLD = "hold"
    """Insert as candidate; the targets stay as they are; a conflict goes to review."""
    CONTEST = "contest"
    """Insert as contested; the targets become contested as well."""
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Decision:
    """`status` is that of the candidate's row, None when it gets none.

    `refreshes`: learned_at of the target moves. `reproduces`: an independent session learned the same.
    `linked`: rows that may say the same and go to the merge queue.
    """

    outcome: OutcomeKind
    action: Action
    targets: tuple[UUID, ...] = ()
    reason: str | None = None
    status: Status | None = Status.LIVE
    refreshes: bool = False
    reproduces: bool = False
    linked: tuple[UUID, ...] = ()
    over: tuple[UUID, ...] = ()
    """Rows whose time is over, in whose place the candidate comes: they are superseded with it."""
