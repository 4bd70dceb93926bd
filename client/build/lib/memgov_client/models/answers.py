"""The one habit of all answers: read-only, and open to members that a newer server adds."""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")


class AnswerModel(BaseModel):
    """An answer of the API."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Page(AnswerModel, Generic[T]):
    """A page of a list.  ``next`` and ``previous`` are addresses, None at the ends."""

    results: list[T]
    next: str | None = None
    previous: str | None = None
