"""The story through CrewAI's memory."""

from __future__ import annotations

import story
from conftest import Tenant
from test_crewai import NoModel

from memgov_client.crewai import memory


class Crew:
    """A crew's memory."""

    def __init__(self, tenant: Tenant) -> None:
        self.memory = memory(
            tenant.client(),
            scope=story.SCOPE,
            origin=story.ORIGIN,
            session=story.SESSION,
            llm=NoModel(model="none"),
        )

    def learn(self, name: str, text: str) -> None:
        self.memory.remember(text, scope=f"/{name}", categories=["story"], importance=0.8, metadata={})

    def ask(self, question: str) -> list[str]:
        return [match.record.content for match in self.memory.recall(question, depth="shallow")]

    def forget(self, name: str, text: str) -> None:
        assert self.memory.forget(scope=f"/{name}") == 1


def test_story__ends_in_the_same_state(tenant: Tenant) -> None:
    story.assert_told(story.tell(Crew(tenant)), tenant.rows())
