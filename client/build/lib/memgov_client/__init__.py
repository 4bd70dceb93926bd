"""The client of memgov: governed long-term memory for agents.

    from memgov_client import Client

    with Client() as memgov:  # MEMGOV_URL and MEMGOV_KEY
        outcome = memgov.write("Refunds above 50 euros need a second approval.", origin="tool_verified")
        found = memgov.retrieve("May I refund 80 euros?")

Adapters for agent frameworks are modules of their own: `memgov_client.anthropic`, `.langgraph`, `.adk`, `.crewai`.
"""

from __future__ import annotations

from memgov_client.call import Answer, Call
from memgov_client.clients import AsyncClient, Client
from memgov_client.errors import (
    BadRequestError,
    ConflictError,
    DeniedError,
    FieldProblem,
    LostError,
    MemgovError,
    NotAuthenticatedError,
    NotFoundError,
    ProblemError,
    RateLimitedError,
    RefusedError,
    ServerFaultError,
    TooLargeError,
    UnexpectedAnswerError,
    VersionConflictError,
)
from memgov_client.models import Memory, Outcome, Retrieval
from memgov_client.retrying import NEVER_AGAIN, RetryPolicy

__all__ = [
    "NEVER_AGAIN",
    "Answer",
    "AsyncClient",
    "BadRequestError",
    "Call",
    "Client",
    "ConflictError",
    "DeniedError",
    "FieldProblem",
    "LostError",
    "MemgovError",
    "Memory",
    "NotAuthenticatedError",
    "NotFoundError",
    "Outcome",
    "ProblemError",
    "RateLimitedError",
    "RefusedError",
    "Retrieval",
    "RetryPolicy",
    "ServerFaultError",
    "TooLargeError",
    "UnexpectedAnswerError",
    "VersionConflictError",
]  # fmt: skip
