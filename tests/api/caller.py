"""Calls of the API as an agent makes them, over Django's whole stack."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.test import Client

from tests.factories import Machine

BASE = "/api/v1/"


@dataclass(frozen=True)
class Caller:
    """One agent's calls.  Paths are those below /api/v1/."""

    machine: Machine | None

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The response; headers as `If_Match='"1"'`.  A body that is text or bytes is sent as it is."""
        data = body if isinstance(body, str | bytes) else "" if body is None else json.dumps(body)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        known = self.machine.headers if self.machine else {}
        address = path if path.startswith("/") else BASE + path
        client = Client(raise_request_exception=False)
        return client.generic(
            method,
            address,
            data,
            content_type=sent.pop("Content-Type", "application/json"),
            headers={**known, **sent},
        )

    def get(self, path: str, **headers: str) -> Any:
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.call("POST", path, body, **headers)

    def patch(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.call("PATCH", path, body, **headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.call("DELETE", path, **headers)

    def know(self, subject: str, predicate: str, value: str, **fields: Any) -> dict[str, Any]:
        """A triple that the policy admits, stored."""
        return self.remember(None, subject=subject, predicate=predicate, value=value, **fields)

    def remember(self, content: str | None, scope: str = "project:alpha", **fields: Any) -> dict[str, Any]:
        """A memory that the policy admits, stored."""
        response = self.post(
            "memories", {"content": content, "scope": scope, "origin": "user_explicit", **fields}
        )
        assert response.status_code == 201, response.content
        memory: dict[str, Any] = response.json()["memory"]
        return memory


def assert_problem(response: Any, status: int, code: str) -> dict[str, Any]:
    """The response is a whole problem with this status and code; its body."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert body["code"] == code
    assert body["status"] == status
    assert body["detail"] and body["title"] and body["type"] == f"urn:memgov:problem:{code}"
    assert body["request_id"] == response["X-Request-ID"]
    return body


def as_uuid(shown: str) -> UUID:
    """The UUID in an id as the API shows it."""
    return UUID(hex=shown.partition("_")[2])
