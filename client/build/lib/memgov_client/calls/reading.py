"""Reading for a prompt, and the manifests that reads leave."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import TypedDict, Unpack

from memgov_client.call import Call, as_params, given, path
from memgov_client.calls import reading_answers as read
from memgov_client.models import Digest, Manifest, Retrieval, Usage


class RetrieveFields(TypedDict, total=False):
    """What narrows a retrieval."""

    session: str | None
    task: str | None
    keys: Sequence[str] | None
    scopes: Sequence[str] | None
    layers: Sequence[str] | None
    kinds: Sequence[str] | None
    paths: Sequence[str] | None
    tags: Sequence[str] | None
    limit: int | None
    max_tokens: int | None
    min_trust: float | None
    high_stakes: bool | None
    window_days: float | None
    format: str | None
    explain: bool | None


def retrieve(query: str, **fields: Unpack[RetrieveFields]) -> Call[Retrieval]:
    """What applies to a decision now.  Put `Retrieval.block` into the prompt, and report what was used."""
    scopes = fields.get("scopes")
    return Call(
        "search_memory", "POST", "retrieve", read.one(Retrieval), body=given({"query": query, **fields}),
        repeatable=True, attributes={"gen_ai.memory.store.id": ",".join(scopes)} if scopes else {},
    )  # fmt: skip


def digest(
    scope: str, *, max_tokens: int | None = None, session: str | None = None, have: str | None = None
) -> Call[Digest | None]:
    """The bounded view of a scope, for the start of a prompt.

    ``have`` is the ``etag`` of the one you hold: None comes back when that is still right.
    """
    return Call(
        "search_memory", "GET", "digest", read.digest,
        params=as_params({"scope": scope, "max_tokens": max_tokens, "session": session}),
        headers={"If-None-Match": have} if have else {}, also=frozenset({304}), repeatable=True,
        attributes={"gen_ai.memory.store.id": scope},
    )  # fmt: skip


def manifest(manifest_id: str, *, block_format: str | None = None) -> Call[Manifest]:
    """What one read returned, also after edits and deletions (erased text excepted)."""
    return Call(
        "get_manifest", "GET", path("manifests", manifest_id), read.one(Manifest),
        params=as_params({"block_format": block_format}), repeatable=True,
        attributes={"memgov.manifest": manifest_id},
    )  # fmt: skip


def report_usage(
    manifest_id: str,
    used: Sequence[str],
    *,
    ignored: Sequence[str] | None = None,
    harmful: Sequence[str] | None = None,
    idempotency_key: str | None = None,
) -> Call[Usage]:
    """Say which entries of a manifest were really used; an empty list says that none was.  Idempotent.

    A person is told about ``harmful`` ones.
    """
    return Call(
        "report_usage", "POST", path("manifests", manifest_id) + "/usage", read.one(Usage),
        body=given({"used": list(used), "ignored": ignored, "harmful": harmful}),
        keyed=True, idempotency_key=idempotency_key, attributes={"memgov.manifest": manifest_id},
    )  # fmt: skip
