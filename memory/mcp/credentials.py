"""From a presented key to the agent, with the problems that every transport tells alike."""

from __future__ import annotations

from django.db import InterfaceError, OperationalError

from memory.api.problems import Problem, ProblemError, problem_of
from memory.services.key_network import key_used_from
from tenants.authentication import KeyRefused, authenticate_key
from tenants.principals import Principal


def authenticated(key: str, request_id: str, address: str = "") -> Principal:
    """The agent that holds the key, used from the address where there is one (not over stdio).

    Raises 401 problems, and 503 when the database is away.
    """
    try:
        principal = authenticate_key(key, request_id)
        if address:
            key_used_from(principal, address)
        return principal
    except KeyRefused as refused:
        raise ProblemError(Problem(401, refused.code, refused.detail)) from None
    except (OperationalError, InterfaceError) as error:
        problem = problem_of(error)
        assert problem is not None
        raise ProblemError(problem) from error
