"""What was derived from a memory, and what restoring one would meet."""

from __future__ import annotations

from memgov_client.models.answers import AnswerModel


class DerivedMemory(AnswerModel):
    id: str
    version: int
    status: str
    scope: str


class Derived(AnswerModel):
    """What `cascade` would take along, at any depth; ``more`` when there is more than this."""

    memories: list[DerivedMemory]
    more: bool = False


class Rival(AnswerModel):
    """What lives in the place: `same` or `contradicting`."""

    memory: str
    version: int
    status: str
    relation: str


class RestoreLook(AnswerModel):
    """What restoring would meet: the status that it goes back to, and what lives in its place."""

    version: int
    status: str
    goes_to: str
    clash: list[Rival] = []
