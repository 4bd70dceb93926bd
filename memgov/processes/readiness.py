"""Asking a running product whether it is ready, over its own /readyz."""

from __future__ import annotations

import http.client
import json
import os
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Readiness:
    """The answer: ready, or what is missing in words; `heard` is whether there was any answer."""

    ready: bool
    detail: str
    heard: bool = False


def ask(web_url: str, *, path: str = "/readyz", timeout: float = 5.0) -> Readiness:
    """One GET of the process's own account of itself."""
    parts = urlsplit(web_url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request("GET", path, headers={"Host": allowed_host(parts.netloc)})
        response = connection.getresponse()
        body = response.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return Readiness(False, f"web does not answer ({error or type(error).__name__})")
    finally:
        connection.close()
    if response.status == http.client.OK:
        return Readiness(True, "ready", heard=True)
    return Readiness(False, _what_is_missing(response.status, body), heard=True)


def allowed_host(address: str) -> str:
    """The name to call ourselves by: Django refuses one that MEMGOV_ALLOWED_HOSTS does not hold."""
    allowed = [name.strip() for name in os.environ.get("MEMGOV_ALLOWED_HOSTS", "").split(",")]
    names = [name.removeprefix(".") for name in allowed if name.strip("*")]
    return address if not names or address.partition(":")[0] in names else names[0]


def _what_is_missing(status: int, body: str) -> str:
    try:
        answer = json.loads(body)
    except ValueError:
        return f"it answered {status}"
    return str(answer.get("detail", body)) if isinstance(answer, dict) else body
