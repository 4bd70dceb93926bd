"""What can go wrong with a call, as exceptions by kind.

Whether anything was kept is the question after an error: a `ProblemError` below 500 says that nothing was done;
after `LostError` it is unknown, and the client has only given up after trying again under the same idempotency key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final


class MemgovError(Exception):
    """Everything that this package raises about a call."""


class LostError(MemgovError):
    """No answer came: the server could not be reached, or the connection ended or timed out on the way."""


class UnexpectedAnswerError(MemgovError):
    """Something answered that is not memgov's API, such as a proxy's error page."""


@dataclass(frozen=True)
class FieldProblem:
    """What is wrong with one field or parameter."""

    field: str
    code: str
    detail: str


class ProblemError(MemgovError):
    """A problem (RFC 9457).  ``code`` is stable; ``body`` has every member that came."""

    def __init__(self, status: int, body: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.code = str(body.get("code") or "unknown")
        self.detail = str(body.get("detail") or "")
        self.request_id = body.get("request_id")
        self.errors = _field_problems(body.get("errors"))
        self.retry_after = retry_after
        self.body = dict(body)
        super().__init__(f"{status} {self.code}: {self.detail}")


class BadRequestError(ProblemError):
    """400, 405, 411, 415: the request itself is wrong; mend it."""


class NotAuthenticatedError(ProblemError):
    """401: the key is unknown, expired or revoked, or its agent is paused."""


class DeniedError(ProblemError):
    """403: no grant allows this (`scope_denied`).  The attempt is in the audit."""


class NotFoundError(ProblemError):
    """404: not there, or not for this key; the two look the same."""


class ConflictError(ProblemError):
    """409: the present state does not allow it (`task_ended`, `promotion_open`, `busy` …)."""


class VersionConflictError(ProblemError):
    """412, 428: somebody changed it since you read it; read it again."""


class TooLargeError(ProblemError):
    """413: over a limit, which the detail names."""


class RefusedError(ProblemError):
    """422: the policy refused it; ``code`` is the reason.  `RefusedError.outcome` has the outcome of a write."""

    outcome: Any = None


class RateLimitedError(ProblemError):
    """429, and the limit did not free up within the time that the client may wait."""


class ServerFaultError(ProblemError):
    """5xx: the fault is the server's."""


_OF_STATUS: Final[dict[int, type[ProblemError]]] = {
    401: NotAuthenticatedError,
    403: DeniedError,
    404: NotFoundError,
    409: ConflictError,
    412: VersionConflictError,
    413: TooLargeError,
    422: RefusedError,
    428: VersionConflictError,
    429: RateLimitedError,
}


def problem(status: int, body: Mapping[str, Any], retry_after: float | None = None) -> ProblemError:
    """The exception that a problem stands for."""
    usual = ServerFaultError if status >= 500 else BadRequestError
    return _OF_STATUS.get(status, usual)(status, body, retry_after)


def _field_problems(found: Any) -> Sequence[FieldProblem]:
    if not isinstance(found, list):
        return ()
    return tuple(
        FieldProblem(str(one.get("field", "")), str(one.get("code", "")), str(one.get("detail", "")))
        for one in found
        if isinstance(one, Mapping)
    )
