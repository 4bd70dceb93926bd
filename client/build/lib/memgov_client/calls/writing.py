"""Offering candidates: one, many, later, or only asking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from typing_extensions import TypedDict, Unpack

from memgov_client.call import Call, given
from memgov_client.calls import reading_answers as read
from memgov_client.models import Item, Job, Outcome

LATER: Final = {"Prefer": "respond-async"}


class Narrowed(TypedDict, total=False):
    """Path globs and tags that narrow where a memory applies."""

    paths: Sequence[str]
    tags: Sequence[str]


class CandidateFields(TypedDict, total=False):
    """What a candidate may say besides its `content`; None is the same as not given."""

    subject: str | None
    predicate: str | None
    value: str | float | bool | None
    scope: str | None
    layer: str | None
    kind: str | None
    origin: str | None
    confidence: float | None
    importance: float | None
    session: str | None
    task: str | None
    tool: str | None
    input_hash: str | None
    derived_from: Sequence[str] | None
    applies_to: Narrowed | None
    ttl: int | str | timedelta | None
    expires_at: datetime | str | None
    valid_from: datetime | str | None
    valid_to: datetime | str | None
    review_by: datetime | str | None
    metadata: Mapping[str, Any] | None


def write(
    content: str | None = None, *, idempotency_key: str | None = None, **fields: Unpack[CandidateFields]
) -> Call[Outcome]:
    """Offer one candidate: a sentence, or a triple of `subject`, `predicate` and `value`.

    A refusal by the policy is an `Outcome` (``rejected``) and no exception; what is wrong with the request is one.
    """
    return Call(
        "upsert_memory", "POST", "memories", read.outcome,
        body=given({"content": content, **fields}), also=frozenset({422}),
        keyed=True, idempotency_key=idempotency_key, attributes=_about(fields),
    )  # fmt: skip


def write_later(
    content: str | None = None, *, idempotency_key: str | None = None, **fields: Unpack[CandidateFields]
) -> Call[Job]:
    """Offer one candidate without waiting; the job's result has the outcome.  See `job` and `wait_for_job`."""
    return Call(
        "upsert_memory", "POST", "memories", read.one(Job), body=given({"content": content, **fields}),
        headers=LATER, keyed=True, idempotency_key=idempotency_key, attributes=_about(fields),
    )  # fmt: skip


def write_many(items: Iterable[Mapping[str, Any]], *, idempotency_key: str | None = None) -> Call[list[Item]]:
    """Offer up to 500 candidates, each a mapping as `write` takes; one bad item harms no other."""
    return Call(
        "upsert_memory", "POST", "memories/batch", read.items, body=_batch(items), keyed=True,
        idempotency_key=idempotency_key,
    )  # fmt: skip


def write_many_later(items: Iterable[Mapping[str, Any]], *, idempotency_key: str | None = None) -> Call[Job]:
    """The same without waiting."""
    return Call(
        "upsert_memory", "POST", "memories/batch", read.one(Job), body=_batch(items), headers=LATER, keyed=True,
        idempotency_key=idempotency_key,
    )  # fmt: skip


def check(content: str | None = None, **fields: Unpack[CandidateFields]) -> Call[Outcome]:
    """What would become of a candidate, and why; stores nothing."""
    return Call(
        "check_memory", "POST", "memories/check", read.checked,
        body=given({"content": content, **fields}), repeatable=True, attributes=_about(fields),
    )  # fmt: skip


def _batch(items: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {"items": [given(item) for item in items]}


def _about(fields: CandidateFields) -> dict[str, str | int]:
    scope = fields.get("scope")
    return {"gen_ai.memory.store.id": scope} if scope else {}
