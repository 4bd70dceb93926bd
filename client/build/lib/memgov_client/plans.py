"""Several calls that hang together, said once for both clients.

A plan is a generator that yields calls and is handed their answers; an error of a call is raised where it was
yielded. `Client.follow` and `AsyncClient.follow` carry plans out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

from memgov_client.binding import cursor_of
from memgov_client.call import Call
from memgov_client.errors import MemgovError
from memgov_client.models import AnswerModel, Page

T = TypeVar("T")
M = TypeVar("M", bound=AnswerModel)

Plan = Generator[Call[Any], Any, T]


class Turn(Generic[T]):
    """Where a plan is: what came of the last call goes in, the next call comes out, None at the end."""

    def __init__(self, plan: Plan[T]) -> None:
        self._plan = plan
        self.came: Any = None
        self.failed: MemgovError | None = None
        self.result: T

    def next(self) -> Call[Any] | None:
        """The next call; None when the plan has ended and ``result`` is there."""
        came, failed = self.came, self.failed
        self.came = self.failed = None
        try:
            return self._plan.throw(failed) if failed else self._plan.send(came)
        except StopIteration as done:
            self.result = done.value
            return None


def every(make: Callable[[str | None], Call[Page[M]]], most: int = 100_000) -> Plan[list[M]]:
    """The rows of all pages, at most so many."""
    rows: list[M] = []
    cursor: str | None = None
    while True:
        page: Page[M] = yield make(cursor)
        rows += page.results
        cursor = cursor_of(page.next)
        if cursor is None or len(rows) >= most:
            return rows[:most]
