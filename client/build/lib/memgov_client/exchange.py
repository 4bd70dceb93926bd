"""How a call is carried out, without doing it: what to send, when to try again, what to raise.

`exchange` is a generator. It yields a `Send` (and wants what came of it) or a `Wait` (and wants nothing), and
returns the call's answer. The two clients only do what it says, one blocking and one awaiting, so they cannot differ.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from memgov_client.call import Answer, Call, encode
from memgov_client.errors import LostError, MemgovError, UnexpectedAnswerError, problem
from memgov_client.retrying import RETRIED_CODES, RetryPolicy, is_worth_retrying, read_retry_after

T = TypeVar("T")

JSON_TYPES = ("application/json", "application/problem+json", "application/vnd.oai.openapi+json")


@dataclass(frozen=True)
class Send:
    """Send this and come back with a `Reply` or a `Lost`."""

    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    content: bytes | None


@dataclass(frozen=True)
class Wait:
    """Wait as many seconds and come back."""

    seconds: float


@dataclass(frozen=True)
class Reply:
    """What a server answered.  Names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True)
class Lost:
    """No answer.  ``unsent`` says that the request cannot have reached the server."""

    why: str
    unsent: bool


Steps = Generator["Send | Wait", "Reply | Lost | None", T]


def exchange(call: Call[T], policy: RetryPolicy, tries: list[int]) -> Steps[T]:
    """Carry out a call.  Raises `MemgovError`; the number of attempts is put into ``tries``."""
    send, attempt, waited = _request(call), 0, 0.0
    while True:
        attempt += 1
        tries[:] = [attempt]
        came = yield send
        if not isinstance(came, Reply | Lost):
            raise TypeError(f"a request wants a reply, not {came!r}")
        error, asked, again = _judge(call, came, send)
        if error is None and isinstance(came, Reply):
            return call.read(_answer(came))
        assert error is not None
        pause = policy.pause(attempt, waited, asked, random.random) if again else None
        if pause is None:
            raise error
        waited += pause
        yield Wait(pause)


def _request(call: Call[Any]) -> Send:
    headers = dict(call.headers)
    if call.keyed:
        headers["Idempotency-Key"] = call.idempotency_key or f"auto-{uuid.uuid4()}"
    content = None
    if call.body is not None:
        content = encode(call.body)
        headers["Content-Type"] = "application/json"
    return Send(call.method, call.path, call.params, headers, content)


def _judge(call: Call[Any], came: Reply | Lost, send: Send) -> tuple[MemgovError | None, float | None, bool]:
    """What is wrong, what `Retry-After` asks for, and whether trying again may help and does no harm."""
    if isinstance(came, Lost):
        harmless = came.unsent or call.repeatable or "Idempotency-Key" in send.headers
        return LostError(f"{call.method} {call.path}: {came.why}"), None, harmless
    if came.status < 300 or came.status in call.also:
        return None, None, False
    asked = read_retry_after(came.headers.get("retry-after"))
    try:
        body = _answer(came).data
    except UnexpectedAnswerError as error:
        harmless = call.repeatable or "Idempotency-Key" in send.headers
        return error, asked, harmless and is_worth_retrying(came.status, "")
    found = problem(came.status, body if isinstance(body, Mapping) else {}, asked)
    # A 5xx may have lost the answer of a change that is in; these were refused before anything was begun.
    untouched = found.status == 429 or found.code in RETRIED_CODES
    harmless = untouched or call.repeatable or "Idempotency-Key" in send.headers
    return found, asked, harmless and is_worth_retrying(found.status, found.code)


def _answer(reply: Reply) -> Answer:
    """The JSON of a reply.  Raises `UnexpectedAnswerError` for anything that is not JSON."""
    if not reply.content:
        return Answer(reply.status, reply.headers, None)
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in JSON_TYPES:
        try:
            return Answer(reply.status, reply.headers, json.loads(reply.content))
        except ValueError:
            kind = "broken JSON"
    raise UnexpectedAnswerError(
        f"{reply.status} with {kind or 'no content type'}: that is not memgov's API; is the address right, and is"
        " there a proxy before it?"
    )
