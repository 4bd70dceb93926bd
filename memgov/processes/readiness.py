"""Asking a running product whether it is ready, over its own /readyz."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Readiness:
    """The answer: ready, or what is missing in words."""

    ready: bool
    detail: str


def ask(web_url: str, timeout: float = 5.0) -> Readiness:
    """One GET /readyz."""
    parts = urlsplit(web_url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        body = response.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return Readiness(False, f"web does not answer ({error or type(error).__name__})")
    finally:
        connection.close()
    return Readiness(response.status == http.client.OK, _missing(response.status, body))


def _missing(status: int, body: str) -> str:
    try:
        answer = json.loads(body)
    except ValueError:
        return f"/readyz answered {status}"
    return json.dumps(answer, sort_keys=True) if status != http.client.OK else "ready"
