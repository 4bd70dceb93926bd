"""Reading for a prompt: retrieve, digest, the manifests of both, and the report of what was used."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import HttpResponse
from rest_framework.response import Response

from memory.api import docs
from memory.api.endpoint import Endpoint, id_in_path
from memory.api.idempotency import idempotent
from memory.api.representation import named, when
from memory.api.requests import DigestParameters, ManifestParameters, RetrieveBody, UsageBody
from memory.domain.digest import DigestEntry
from memory.domain.ids import show_id
from memory.domain.scopes import Verb, parse_scope, why
from memory.selectors.visibility import is_owned_kind, rules_of
from memory.services.digest import digest_read
from memory.services.manifest_read import ManifestView, manifest_read
from memory.services.recall import Entry, RetrieveRequest, memory_retrieve
from memory.services.usage import usage_report
from memory.services.working_read import WORKING


class Retrieve(Endpoint):
    """`POST retrieve`"""

    reads = frozenset({"POST"})

    @docs.retrieve
    @idempotent
    def post(self, request: Any) -> Response:
        data = self.body(RetrieveBody)
        explain = data.pop("explain", False)
        found = memory_retrieve(self.principal, RetrieveRequest(**data))
        return Response(
            {
                "manifest": show_id("man", found.manifest.id),
                "entries": [self._entry(entry, explain=explain) for entry in found.entries],
                "excluded": found.excluded,
                "block": found.block,
                "tokens": found.manifest.tokens,
                "search": "text" if found.text_only else "hybrid",
                "policy_version": found.manifest.policy_version,
            }
        )

    def _entry(self, entry: Entry, *, explain: bool) -> dict[str, Any]:
        row = entry.found
        shown: dict[str, Any] = {
            "id": entry.shown_id,
            "version": row.version,
            "scope": row.scope,
            "layer": row.layer,
            "kind": row.kind,
            "content": row.content,
            "status": row.status,
            "band": entry.band.value,
            "score": round(entry.score, 6),
            "channel": entry.channel,
            "recorded_at": when(row.recorded_at),
            "learned_at": when(row.learned_at),
            "source": row.source,
            "origin": row.origin,
            "trust": row.trust,
            "confidence": row.confidence,
        }
        if entry.channel == WORKING:
            shown["key"] = row.subject
        if explain:
            parts = {name: round(value, 6) for name, value in entry.parts.items()}
            shown["explanation"] = {"score": parts, "readable_by": self._why(row.scope)}
        return shown

    def _why(self, scope_text: str) -> str | None:
        scope = parse_scope(scope_text)
        owned = [scope] if is_owned_kind(scope) else []  # what was found of a session or task is its own
        return why(
            Verb.READ, scope, agent_role=self.principal.role, rules=rules_of(self.principal), owned=owned
        )


class Digest(Endpoint):
    """`GET digest`"""

    parameters = {"GET": DigestParameters}

    @docs.digest
    def get(self, request: Any) -> Response | HttpResponse:
        query = self.query
        answer = digest_read(
            self.principal,
            parse_scope(query["scope"]),
            session=query.get("session", ""),
            max_tokens=query.get("max_tokens"),
            have=request.headers.get("If-None-Match", ""),
        )
        if answer.manifest is None:
            return HttpResponse(status=304, headers={"ETag": answer.etag})
        digest = answer.digest
        body = {
            "manifest": show_id("man", answer.manifest.id),
            "text": digest.text,
            "bands": {"fresh": _lines(digest.fresh), "aging": _lines(digest.aging)},
            "left_out": digest.left_out,
            "tokens": digest.tokens,
            "policy_version": answer.manifest.policy_version,
        }
        return Response(body, headers={"ETag": answer.etag})


def _lines(entries: tuple[DigestEntry, ...]) -> list[dict[str, Any]]:
    return [
        {
            "id": show_id("mem", entry.id),
            "version": entry.version,
            "content": entry.content,
            "learned_at": when(entry.learned_at),
        }
        for entry in entries
    ]


class OneManifest(Endpoint):
    """`GET manifests/{id}`"""

    parameters = {"GET": ManifestParameters}

    @docs.manifest
    def get(self, request: Any, manifest_id: str) -> Response:
        block_format = self.query.get("block_format")
        return Response(
            _manifest(manifest_read(self.principal, id_in_path("man", manifest_id), block_format))
        )


def _manifest(view: ManifestView) -> dict[str, Any]:
    manifest = view.manifest
    return {
        "id": show_id("man", manifest.id),
        "kind": manifest.kind,
        "at": when(manifest.at),
        "agent": {"id": named("agt", manifest.agent_id), "name": manifest.agent_name},
        "agent_role": manifest.agent_role,
        "session": manifest.session or None,
        "task": manifest.task or None,
        "query": manifest.query_text or None,
        "request": manifest.request,
        "entries": [
            {
                "id": one.shown_id,
                "version": one.entry.version,
                "rank": one.entry.rank,
                "scope": one.entry.scope,
                "band": one.entry.band,
                "channel": one.entry.channel,
                "score": one.entry.score,
                "scores": one.entry.scores,
                "source": one.entry.source,
                "trust": one.entry.trust,
                "recorded_at": when(one.entry.recorded_at),
                "learned_at": when(one.entry.learned_at),
                "content": one.content,
                "erased": one.erased,
                "verdict": one.entry.verdict or None,
                "used_at": when(one.entry.used_at),
            }
            for one in view.injected
        ],
        "excluded": manifest.excluded,
        "excluded_ids": manifest.excluded_ids,
        "block": view.text,
        "block_format": manifest.block_format,
        "block_digest": manifest.block_digest,
        "as_returned": view.as_returned,
        "tokens": manifest.tokens,
        "policy_version": manifest.policy_version,
        "query_hash": manifest.query_hash or None,
        "usage_reported_at": when(manifest.usage_reported_at),
    }


class Usage(Endpoint):
    """`POST manifests/{id}/usage`"""

    @docs.usage
    @idempotent
    def post(self, request: Any, manifest_id: str) -> Response:
        uuid = id_in_path("man", manifest_id)
        said = {name: set(ids) for name, ids in self.body(UsageBody).items()}
        return Response(asdict(usage_report(self.principal, uuid, said.pop("used"), **said)))
