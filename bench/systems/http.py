"""One caller of a REST service: a connection that is kept open, JSON both ways."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

_REFUSED_CALL = {401, 403, 404, 429}


class Caller:
    """Keeps one connection; raises for an answer that is no answer to the question."""

    def __init__(self, base: str, key: str = "") -> None:
        parts = urlsplit(base)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Status and document.  A 5xx, a refused key, a limit and a wrong address are errors."""
        sent = None if body is None else json.dumps(body)
        try:
            answer, text = self._exchange(method, path, sent)
        except (http.client.RemoteDisconnected, ConnectionError):  # the server ended an idle connection
            self._connection.close()
            answer, text = self._exchange(method, path, sent)
        if answer.status >= 500 or answer.status in _REFUSED_CALL:
            raise RuntimeError(f"{method} {path} answered {answer.status}: {text[:200]!r}")
        return answer.status, json.loads(text or b"{}")

    def _exchange(self, method: str, path: str, sent: str | None) -> tuple[http.client.HTTPResponse, bytes]:
        try:
            self._connection.request(method, f"/api/v1/{path}", sent, self._headers)
            answer = self._connection.getresponse()
            return answer, answer.read()
        except http.client.HTTPException:
            self._connection.close()
            raise
