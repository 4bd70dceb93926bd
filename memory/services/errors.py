"""What a service raises when it did nothing.  Every error has a stable code and says what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ServiceError(Exception):
    """Nothing was changed.  ``code`` is stable; ``status`` is the HTTP status that fits."""

    status = 400
    code = "invalid"
    more: Mapping[str, Any] = {}
    """Members of its own beside the detail, as JSON values."""

    def __init__(self, detail: str, *, code: str | None = None, field: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.code
        self.field = field


class Invalid(ServiceError):
    """The request cannot be understood."""


class TooLarge(ServiceError):
    status, code = 413, "too_large"


class Denied(ServiceError):
    """The principal lacks the right.  `access.denials_audited` makes the audit event of it."""

    status, code = 403, "scope_denied"

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        verb: str = "",
        target: str = "",
        target_kind: str = "scope",
    ) -> None:
        super().__init__(detail, code=code)
        self.verb, self.target, self.target_kind = verb, target, target_kind


class NotFound(ServiceError):
    """Not there, or not for this principal: the two look the same."""

    status, code = 404, "not_found"


class Conflict(ServiceError):
    """The state has moved on; ``detail`` says how."""

    status, code = 409, "conflict"


class VersionConflict(ServiceError):
    """The version that the caller decided on is no longer the present one."""

    status, code = 412, "version_conflict"
