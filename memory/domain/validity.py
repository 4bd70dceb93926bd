"""When what a memory says holds: a value may wait for its beginning, hold, be overtaken by one that waited, or be over.

All of it is told at the instant of a read or write, as expiry is: no sweep has to have run.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memory.domain.claims import claim_of
from memory.domain.types import Candidate, Known


def begins_later(valid_from: datetime | None, now: datetime) -> datetime | None:
    """The beginning that a value has to wait for; None for what holds already."""
    return valid_from if valid_from is not None and valid_from > now else None


def is_over(valid_to: datetime | None, now: datetime) -> bool:
    """Whether a fact has stopped being true.  At its very end it is no longer true, as at its beginning it is."""
    return valid_to is not None and valid_to <= now


def holding_at(peers: Sequence[Known], at: datetime) -> tuple[list[Known], list[Known]]:
    """Of rows that are compared with one candidate: those that hold at that instant, and those that are over by then.

    What waits for a later beginning is in neither: a value of now and one of then do not stand in each other's way.
    """
    begun = [row for row in peers if row.begins_at is None or row.begins_at <= at]
    waited = [row for row in begun if row.begins_at is not None and row.single_valued]
    holding, over = list[Known](), list[Known]()
    for row in begun:
        gone = is_over(row.valid_to, at) or any(overtakes(new, row) for new in waited)
        (over if gone else holding).append(row)
    return holding, over


def overtakes(new: Known, old: Known) -> bool:
    """Whether `new`, whose time has come, takes the place of `old`: one value at a time, the later beginning wins."""
    if new.begins_at is None or not (new.single_valued and old.single_valued):
        return False
    if old.begins_at is not None and old.begins_at >= new.begins_at:
        return False
    return new.predicate is not None or _one_claim(new, old)


def _one_claim(new: Known, old: Known) -> bool:
    mine, theirs = claim_of(new.content), claim_of(old.content)
    return mine is not None and theirs is not None and mine.key == theirs.key and new.subject == old.subject


def ends(c: Candidate, row: Known) -> bool:
    """Whether a statement that something was true until then ends what is known: it was not learned again since."""
    return c.valid_to is not None and c.valid_to >= row.learned_at
