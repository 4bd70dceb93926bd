"""Does retrieval find what answers a question?  Recall and MRR through the real service, part by part.

Every turn of a conversation is written as an episodic memory by `memory_write` under the preset `open`, which stores
every well-formed candidate; every question is asked by `memory_retrieve`.  A part's worth shows when it is switched off
in the policy, in the same run, over the same rows.
"""

from __future__ import annotations

import secrets
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from bench.conversations import Asked, Conversation
from memory.domain.policy import Policy
from memory.domain.types import Kind, Layer
from memory.services.memory_write import memory_write
from memory.services.policies import policy_activate
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.write_types import WriteRequest
from tenants.principals import Principal, system

DEPTHS = (5, 10, 20)
_ENOUGH_TOKENS = 1_000_000

NO_NEIGHBOURS = {"neighbour_share": 0.0, "second_neighbour_share": 0.0}
PARTS: dict[str, dict[str, float]] = {
    "text alone": {"text_weight": 1.0, "vector_weight": 0.0, **NO_NEIGHBOURS},
    "vectors alone": {"text_weight": 0.0, "vector_weight": 1.0, **NO_NEIGHBOURS},
    "fused": NO_NEIGHBOURS,
    "fused with neighbours": {},
}
"""What each measured way of ranking changes in the policy."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Of one question: the share of its evidence within each depth, and one by the rank of the first."""

    category: str
    recall: tuple[float, ...]
    reciprocal_rank: float


class Quality:
    """One run over the conversations of a file, in one tenant."""

    def __init__(self, principal: Principal, policy: Policy, tell: Callable[[str], None]) -> None:
        self._principal, self._policy, self._tell = principal, policy, tell
        self._turn_of: dict[UUID, str] = {}
        self._scopes: list[str] = []
        self.not_stored: dict[str, int] = {}

    def run(
        self, conversations: Sequence[Conversation], parts: Sequence[str] = tuple(PARTS)
    ) -> dict[str, Any]:
        """Write everything, ask everything once per part; the JSON of the report's part."""
        for conversation in conversations:
            self._write(conversation)
        found = {name: self._asked(name, conversations) for name in parts}
        return {
            "conversations": len(conversations),
            "turns": sum(len(one.turns) for one in conversations),
            "questions": sum(len(one.questions) for one in conversations),
            "left_out": sum(one.unanswerable for one in conversations),
            "not_stored": self.not_stored,
            "parts": {name: figures(answers) for name, answers in found.items()},
            "by_category": {name: _by_category(answers) for name, answers in found.items()},
        }

    def _write(self, conversation: Conversation) -> None:
        scope = f"project:bench-{secrets.token_hex(4)}"
        self._scopes.append(scope)
        for turn in conversation.turns:
            outcome = memory_write(
                self._principal,
                WriteRequest(
                    content=turn.text, scope=scope, layer=Layer.EPISODIC, kind=Kind.EVENT, origin="user_explicit",
                    session=f"{scope.partition(':')[2]}-{turn.session}",
                ),
            )  # fmt: skip
            if outcome.memory is None or outcome.outcome.value != "stored":
                said = f"{outcome.outcome} {outcome.reason or ''}".strip()
                self.not_stored[said] = self.not_stored.get(said, 0) + 1
            else:
                self._turn_of[outcome.memory.id] = turn.id
            self._tell(f"writing {conversation.name}")

    def _asked(self, part: str, conversations: Sequence[Conversation]) -> list[Answered]:
        retrieval = self._policy.retrieval.model_copy(update=PARTS[part])
        actor = system(self._principal.tenant_id, "bench")
        policy_activate(actor, self._policy.model_copy(update={"retrieval": retrieval}), f"bench: {part}")
        answers = []
        for scope, conversation in zip(self._scopes, conversations, strict=True):
            for question in conversation.questions:
                answers.append(self._ask(scope, question))
                self._tell(f"asking, {part}")
        return answers

    def _ask(self, scope: str, question: Asked) -> Answered:
        request = RetrieveRequest(
            query=question.text, scopes=[scope], limit=max(DEPTHS), max_tokens=_ENOUGH_TOKENS
        )
        entries = memory_retrieve(self._principal, request).entries
        ranked = [self._turn_of.get(entry.found.id, "") for entry in entries]
        hits = [rank for rank, turn in enumerate(ranked, 1) if turn in question.evidence]
        recall = tuple(sum(rank <= depth for rank in hits) / len(question.evidence) for depth in DEPTHS)
        return Answered(question.category, recall, 1 / hits[0] if hits else 0.0)


def steps(conversations: Sequence[Conversation], parts: Sequence[str] = tuple(PARTS)) -> int:
    """How often `tell` will be called."""
    return sum(len(one.turns) + len(parts) * len(one.questions) for one in conversations)


def figures(answers: Sequence[Answered]) -> dict[str, float]:
    """Means over the questions: `recall@5` … and `mrr` (within the deepest)."""
    means = {
        f"recall@{depth}": round(statistics.fmean(answer.recall[at] for answer in answers), 4)
        for at, depth in enumerate(DEPTHS)
    }
    return {**means, "mrr": round(statistics.fmean(answer.reciprocal_rank for answer in answers), 4)}


def _by_category(answers: Sequence[Answered]) -> dict[str, dict[str, float]]:
    names = sorted({answer.category for answer in answers})
    return {name: figures([answer for answer in answers if answer.category == name]) for name in names}
