"""`Idempotency-Key` on POST: the same request again gets the first one's answer, and nothing happens twice.

Only answers behind which something was kept are remembered; after a problem the key is free again, so that
the caller can mend the request or retry it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from memgov import clock
from memory.api.problems import stop
from memory.api.renderers import Renderer
from memory.store import idempotency
from memory.store.idempotency import Taken
from tenants.context import tenant_context
from tenants.principals import Principal

HEADER = "Idempotency-Key"
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_KEPT_HEADERS = ("Location", "ETag", "Preference-Applied")

Handler = Callable[..., Any]


def idempotent(handler: Handler) -> Handler:
    """Make a POST handler honour the header."""

    @wraps(handler)
    def guarded(view: Any, request: Request, *args: Any, **kwargs: Any) -> Any:
        key = request.headers.get(HEADER)
        if key is None:
            return handler(view, request, *args, **kwargs)
        if not _KEY.fullmatch(key):
            raise stop(400, "invalid_idempotency_key", f"{HEADER} is 1 to 200 visible ASCII characters")
        principal = cast(Principal, request.user)
        taken = _take(principal, key, request)
        if not taken.mine:
            return _replay(taken)
        try:
            response: Response = handler(view, request, *args, **kwargs)
        except BaseException:
            with tenant_context(principal.tenant_id):
                idempotency.release(taken.id)
            raise
        _keep(principal, taken, response)
        return response

    return guarded


def _take(principal: Principal, key: str, request: Request) -> Taken:
    assert principal.key_id is not None  # an agent always comes with a key
    body = json.dumps(request.data, sort_keys=True, separators=(",", ":"))
    fingerprint = hashlib.sha256(f"{request.method} {request.path}\n{body}".encode()).digest()
    with tenant_context(principal.tenant_id):
        taken = idempotency.take(principal.key_id, key, fingerprint, clock.now())
    if taken.mine:
        return taken
    if taken.body_hash != fingerprint:
        raise stop(
            422, "idempotency_mismatch", f"this {HEADER} was used for another request; nothing was done"
        )
    if taken.status is None:
        raise stop(409, "idempotency_in_flight", "the same request is still running", retry_after="1")
    return taken


def _keep(principal: Principal, taken: Taken, response: Response) -> None:
    answer = {
        "body": Renderer().render(response.data).decode(),
        "type": response.content_type or "application/json",
        "headers": {name: response[name] for name in _KEPT_HEADERS if name in response},
    }
    with tenant_context(principal.tenant_id):
        idempotency.complete(taken.id, response.status_code, answer)


def _replay(taken: Taken) -> HttpResponse:
    answer = taken.answer
    return HttpResponse(
        answer["body"],
        status=taken.status,
        content_type=answer["type"],
        headers={**answer["headers"], "Idempotent-Replayed": "true"},
    )
