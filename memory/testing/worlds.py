"""Worlds for tests written in Python: the same agents, steps and policies as in a file, given as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory.domain.policy import Policy, overlay
from memory.testing.document import AgentDocument, Expected, StepDocument
from memory.testing.expectations import differences
from memory.testing.reading import DEFAULT_AGENTS
from memory.testing.steps import Done, perform
from memory.testing.world import World


class OpenWorld(World):
    """A world that does steps on request."""

    def do(self, expect: Mapping[str, Any] | None = None, **step: Any) -> Done:
        """Do a step, written as in a file: `do(write={…}, session="s1", name="fact")`.

        With `expect` an `AssertionError` names every difference.
        """
        given = {("as" if name == "name" else name): value for name, value in step.items()}
        done = perform(self, StepDocument.model_validate(given))
        if expect is not None:
            found = list(differences(self, Expected.model_validate(expect), done))
            assert not found, "\n".join(found)
        return done


def opened(agents: Mapping[str, Any] | None = None, policy: Mapping[str, Any] | None = None) -> OpenWorld:
    """A world with these agents and what differs from the default policy; leave it with `__exit__`."""
    said = {name: AgentDocument.model_validate(one) for name, one in (agents or {}).items()}
    document = overlay(Policy().model_dump(mode="json"), policy or {})
    world = OpenWorld(said or DEFAULT_AGENTS, Policy.model_validate(document))
    world.__enter__()
    return world
