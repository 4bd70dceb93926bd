"""The search behind a retrieval: what may be read is weighed, and the best is read in full.

Two statements of one transaction.  The first brings numbers about every readable row (`memory.selectors.candidates`),
`memory.domain.relevance` weighs them, and the second reads the few rows that are worth it, asking again whether they
may be read.  Why not in one: `docs/decisions/0013`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np
from django.db import connection

from memgov.postgres.prepared import Prepared
from memory.domain.left_out import LeftOut
from memory.domain.policy_keep_rules import Retrieval
from memory.domain.relevance import Candidates, Relevance, Whole, by_word, relevance, shortlist
from memory.selectors.candidates import REASONS, Filters, candidates, places_of
from memory.selectors.candidates_many import candidates_of_many
from memory.selectors.timely import HOLDS
from memory.selectors.visibility import READABLE_SCOPES, Reach

__all__ = ["Filters", "Found", "Search", "search"]

_ROWS: Final = Prepared(
    "rows_found",
    f"""
SELECT wanted.place, m.id, m.version, m.scope, m.layer, m.kind, m.subject, m.predicate, m.content, m.value_hash,
       m.trust, m.confidence, m.origin, m.agent_name, m.tool, m.session, m.status, m.paths, m.recorded_at,
       m.learned_at, m.pinned_at IS NOT NULL AND coalesce(m.pinned_until > %(now)s, true)
  FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS wanted (id, place)
  JOIN memory_memory m ON m.tenant_id = %(tenant)s AND m.id = wanted.id
 WHERE m.status IN ('live', 'contested')
   AND (m.expires_at IS NULL OR m.expires_at > %(now)s) AND m.trust >= %(min_trust)s
   AND {HOLDS}
   AND m.scope = ANY(ARRAY({READABLE_SCOPES}))
 ORDER BY wanted.place
""",
)


@dataclass(slots=True)
class Found:
    """One row that passed the filters, with the parts of its relevance.

    Not frozen, because that makes each of these rows three times as costly; nobody changes one.
    """

    id: UUID
    version: int
    scope: str
    layer: str
    kind: str
    subject: str
    predicate: str
    content: str
    value_hash: bytes
    trust: float
    confidence: float
    origin: str
    agent_name: str
    tool: str
    session: str
    status: str
    paths: list[str]
    recorded_at: datetime
    learned_at: datetime
    pinned: bool
    text: float = 0.0
    vector: float = 0.0
    near: float = 0.0

    @property
    def source(self) -> str:
        """Who said it: the agent, and the tool it used."""
        return f"{self.agent_name}/{self.tool}" if self.tool else self.agent_name


class Search:
    """What a query found: how much, and the rows themselves as far as they are asked for."""

    def __init__(self, reach: Reach, filters: Filters, rules: Retrieval, without: Collection[UUID]) -> None:
        self._reach, self._filters, self._rules = reach, filters, rules
        found = candidates(reach, filters)
        self._candidates: Candidates = candidates_of_many(reach, filters) if found is None else found
        if filters.ways:
            self._candidates = by_word(self._candidates, filters.ways)
        if without:
            self._candidates.reason[places_of(self._candidates.ids, without)] = len(REASONS)
        self._ranked: Relevance = relevance(self._candidates, rules)

    @property
    def relevant(self) -> int:
        """How many rows answer the query."""
        return len(self._ranked.places)

    def excluded(self) -> dict[str, int]:
        """How many readable rows each filter left out, by reason."""
        counts = np.bincount(self._candidates.reason, minlength=len(REASONS)).tolist()
        left = {reason: counts[at] for at, reason in enumerate(REASONS) if at and counts[at]}
        if self._ranked.below_floor:
            left["below_similarity"] = self._ranked.below_floor
        return left

    def note(self, left: LeftOut) -> None:
        """Name what the filters left out, the newest first."""
        if not left.most:
            return
        for at, reason in enumerate(REASONS):
            if at:
                left.note(reason, self._ids(np.flatnonzero(self._candidates.reason == at)[::-1][: left.most]))
        dull = self._candidates.reason == 0
        dull[self._ranked.places] = False
        left.note("below_similarity", self._ids(np.flatnonzero(dull)[::-1][: left.most]))

    def beyond(self, rows: Sequence[Found], most: int) -> list[UUID]:
        """The most relevant that are not among these rows."""
        read = {row.id for row in rows}
        ids = self._ids(self._ranked.places[: most + len(rows)]) if most else []
        return [one for one in ids if one not in read]

    def _ids(self, places: Whole) -> list[UUID]:
        return list(map(UUID, self._digits(places)))

    def _digits(self, places: Whole) -> list[str]:
        ids = self._candidates.ids[places].tobytes().hex()
        return [ids[at : at + 32] for at in range(0, len(ids), 32)]

    def rows(self, size: int) -> list[Found]:
        """The most relevant rows, about `size`, and the best of sources that these leave out.  One query."""
        share = max(1, int(self._filters.limit * self._rules.max_source_share))
        places = shortlist(self._candidates, self._ranked, size, share)
        if not len(places):
            return []
        parameters = {
            **self._reach.parameters(self._filters.only_scopes),
            "ids": f"{{{','.join(self._digits(places))}}}",
            "now": self._filters.now.isoformat(),
            "min_trust": self._filters.min_trust,
        }
        with connection.cursor() as cursor:
            cursor.execute(*_ROWS.of(parameters))
            rows = cursor.fetchall()
        ranked = self._ranked
        text, vector, near = (part[places].tolist() for part in (ranked.text, ranked.vector, ranked.near))
        return [_found(row, text[at - 1], vector[at - 1], near[at - 1]) for at, *row in rows]


def search(reach: Reach, filters: Filters, rules: Retrieval, *, without: Collection[UUID] = ()) -> Search:
    """Weigh what the reader may see, but these, which the reader gets anyway."""
    return Search(reach, filters, rules, without)


def _found(row: list[Any], text: float, vector: float, near: float) -> Found:
    row[8] = bytes(row[8])
    row += (text, vector, near)
    return Found(*row)
