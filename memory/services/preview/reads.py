"""The last reads repeated under a draft and under the policy in force: which entries they would be given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from memory.domain.digest import Digest, build_digest
from memory.domain.preview.tally import Sample, Standing, Tally
from memory.models import Manifest
from memory.selectors import preview_rows as found
from memory.services.digest import digest_entry, live_rows
from memory.services.embedding import vectors_of
from memory.services.preview.looking import Tell, Trial, looking, scope_of
from memory.services.recall import RetrieveRequest, retrieval_rehearsed
from memory.store.vectors import Vector
from tenants.principals import Principal

PARTS: Final = ("retrieved", "digests")
_ASKED: Final = ("scopes", "layers", "kinds", "paths", "tags", "limit", "max_tokens", "min_trust", "high_stakes",
                 "window_days")  # fmt: skip
_SLICE: Final = 10


def repeat_reads(trial: Trial, tallies: Mapping[str, Tally], most: int, tell: Tell) -> int:
    """Repeat the last `most` retrievals whose question is kept; how many."""
    with looking(trial.tenant_id):
        reads = found.last_reads("retrieve", most, trial.now)
        agents = found.agent_grants({one.agent_id for one in reads if one.agent_id})
    usable = [one for one in reads if one.query_text and (one.agent_id is None or one.agent_id in agents)]
    if len(usable) < len(reads):
        trial.notes.append(
            f"{len(reads) - len(usable)} of {len(reads)} reads keep no question, or their agent is gone"
        )
    vectors = vectors_of([one.query_text for one in usable])
    for start in range(0, len(usable), _SLICE):
        part = list(zip(usable[start : start + _SLICE], vectors[start : start + _SLICE], strict=True))
        with looking(trial.tenant_id):
            used = found.used_in([one.id for one, _ in part])
            for one, vector in part:
                principal = _principal(trial, one, agents.get(one.agent_id) if one.agent_id else None)
                _compare(trial, one, principal, vector, used.get(one.id, set()), tallies["retrieved"])
        tell(len(part))
    return len(usable)


def _principal(trial: Trial, one: Manifest, agent: Any) -> Principal:
    """Who read, with what it may read today."""
    if agent is None:
        return Principal(trial.tenant_id, "member", "preview", one.agent_name)
    row, grants = agent
    return Principal(
        trial.tenant_id, "agent", f"agt_{row.id.hex}", row.name, role=row.role, agent_id=row.id, grants=tuple(grants)
    )  # fmt: skip


def _compare(
    trial: Trial, one: Manifest, principal: Principal, vector: Vector | None, used: set[UUID], tally: Tally
) -> None:
    asked = {name: value for name, value in one.request.items() if name in _ASKED}
    request = RetrieveRequest(query=one.query_text, session=one.session, task=one.task, **asked)
    given = []
    for active in (trial.present, trial.draft):
        entries = retrieval_rehearsed(principal, request, active, trial.now, vector)
        given.append([(entry.found.id, str(entry.band)) for entry in entries])
    _tell_difference(one, given[0], given[1], used, tally)


def _tell_difference(
    one: Manifest,
    was: Sequence[tuple[UUID, str]],
    will: Sequence[tuple[UUID, str]],
    used: set[UUID],
    tally: Tally,
) -> None:
    """Count a read that is given something else; one that loses what its reader used stands first."""
    if list(was) == list(will):
        return
    before, after = {memory_id for memory_id, _ in was}, {memory_id for memory_id, _ in will}
    lost, gained = before - after, after - before
    label = "loses entries" if lost else "gains entries" if gained else "other order or bands"
    why = f"loses {len(lost)} and gains {len(gained)} of {len(was)}"
    if lost & used:
        why += f"; {len(lost & used)} of the lost were used"
    standing = Standing(uses=len(lost & used), reproductions=len(lost))
    tally.add(label, Sample("manifest", one.id, why, standing))


def repeat_digests(trial: Trial, tallies: Mapping[str, Tally], most: int) -> int:
    """Build the digests of the scopes that were last asked for; how many scopes."""
    with looking(trial.tenant_id):
        latest: dict[str, Manifest] = {}
        for one in found.last_reads("digest", most, trial.now):
            latest.setdefault(str(one.request.get("scope", "")), one)
    for scope, one in latest.items():
        with looking(trial.tenant_id):
            was, will = _digests(trial, scope, one.request.get("max_tokens"))
            used = found.used_in([one.id]).get(one.id, set())
        _tell_difference(one, _banded(was), _banded(will), used, tallies["digests"])
    return len(latest)


def _digests(trial: Trial, scope: str, max_tokens: int | None) -> tuple[Digest, Digest]:
    where, registry = scope_of(scope), trial.present.words.registry
    entries = [digest_entry(row, registry, trial.now) for row in live_rows(where, trial.now)]
    pair = trial.at(scope)
    was, will = (
        build_digest([replace(one) for one in entries], trial.now, policy, max_tokens)
        for policy in (pair.present, pair.draft)
    )
    return was, will


def _banded(digest: Digest) -> list[tuple[UUID, str]]:
    return [(one.id, "fresh") for one in digest.fresh] + [(one.id, "aging") for one in digest.aging]
