"""The rows that a search weighs, as columns of numbers: one pass over the search index, one row of answer.

Filters are applied here, in SQL under row-level security; what they leave out comes along with its reason, so that it
is counted.  Numbers travel packed, because a value of its own per row and column would cost more than to compute it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import md5
from typing import Any, Final
from uuid import UUID

import numpy as np
from django.db import connection

from memgov.postgres.arrays import array_text
from memgov.postgres.prepared import Prepared, named_after
from memory.domain.relevance import Candidates
from memory.domain.vectors import vector_text
from memory.selectors.globs import AS_LIKE
from memory.selectors.timely import OVERTAKEN
from memory.selectors.visibility import READABLE_SCOPES, Reach

MOST_EXACT: Final = 5000
"""Up to this many readable rows each is looked at; beyond, indexes choose."""

REASONS: Final = (
    "",
    "expired",
    "low_trust",
    "contested",
    "outside_window",
    "not_applicable",
    "ended",
    "not_yet",
)

# Bits of the packed number, from the lowest: reason, length in terms (at most `MAX_TERMS`), source, occurrences of the
# first eight terms, whether the row has a run.
_LENGTH_AT, _SOURCE_AT, _COUNTS_AT, _RUN_AT = 3, 14, 35, 59
_LENGTH_MOST, _SOURCE_BITS = (1 << 11) - 1, (1 << 21) - 1
# Terms are counted in base 8, eight in one inner product: a sum of single precision is exact up to 24 bits.
_BASE_BITS, _IN_ONE = 3, 8
_PLACES: Final = (np.arange(_IN_ONE) * _BASE_BITS)[:, None]
_DIMENSIONS: Final = 1 << 28
_ID: Final = np.dtype([("high", ">u8"), ("low", ">u8")])


@dataclass(frozen=True, slots=True)
class Filters:
    """What a retrieval asks for, beside the reach of who asks."""

    terms: Sequence[str]
    vector: Sequence[float] | None
    now: datetime
    min_trust: float
    limit: int
    ways: Sequence[int] = ()
    """How many of the terms stand for each word of the query, where that is not one for each."""
    model_id: str = ""
    """Of the query's vector: only vectors of the same model are compared with it."""
    high_stakes: bool = False
    since: datetime | None = None
    only_scopes: Sequence[str] | None = None
    layers: Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    tags: Sequence[str] = ()
    paths: Sequence[str] = ()
    neighbour_layers: Sequence[str] = ()
    """Layers whose rows lend a part of their score to those beside them in their session."""

    def parameters(self) -> dict[str, Any]:
        """The parameters of the statements, but those of the reach; as text, as there."""
        return {
            "vector": vector_text(self.vector) if self.vector is not None else None,
            "model": self.model_id,
            "now": self.now.isoformat(),
            "min_trust": self.min_trust,
            "since": self.since,
            "layers": array_text(self.layers or ()),
            "kinds_of": array_text(self.kinds or ()),
            "tags": array_text(self.tags),
            "paths": array_text(self.paths),
            "lending": array_text(self.neighbour_layers),
            "most": MOST_EXACT + 1,
            **{f"counter_{at}": text for at, text in enumerate(_counters(self.terms))},
        }


@dataclass(frozen=True, slots=True)
class Shape:
    """What a statement has to hold for these filters; equal shapes share their text."""

    counters: int
    vector: bool
    high_stakes: bool
    trust: bool
    since: bool
    layers: bool
    kinds: bool
    lending: bool


def candidates(reach: Reach, filters: Filters) -> Candidates | None:
    """All readable rows of the layers and kinds asked for, or None when there are more than `MOST_EXACT`."""
    parameters = {**reach.parameters(filters.only_scopes), **filters.parameters()}
    with connection.cursor() as cursor:
        cursor.execute(*_exact(shape_of(filters)).of(parameters))
        row = cursor.fetchone()
    return None if row[0] > MOST_EXACT else unpacked(row, len(filters.terms))


def candidates_of_all(reach: Reach, filters: Filters) -> Candidates:
    """All readable rows, however many: right, and slow beyond `MOST_EXACT`."""
    parameters = {**reach.parameters(filters.only_scopes), **filters.parameters(), "most": None}
    with connection.cursor() as cursor:
        cursor.execute(*_exact(shape_of(filters)).of(parameters))
        return unpacked(cursor.fetchone(), len(filters.terms))


def shape_of(filters: Filters) -> Shape:
    return Shape(
        counters=-(-len(filters.terms) // _IN_ONE),
        vector=filters.vector is not None,
        high_stakes=filters.high_stakes,
        trust=filters.min_trust > 0,
        since=filters.since is not None,
        layers=bool(filters.layers),
        kinds=bool(filters.kinds),
        lending=bool(filters.neighbour_layers),
    )


@lru_cache(maxsize=256)
def _exact(shape: Shape) -> Prepared:
    # Scope by scope, which OFFSET 0 makes the planner keep to: of scopes that it does not know it expects so much that
    # it would read the whole partition.
    sql = f"""
WITH readable AS MATERIALIZED ({READABLE_SCOPES}),
overtaken AS MATERIALIZED ({OVERTAKEN}),
seen AS (
    SELECT of_one.*
      FROM readable CROSS JOIN LATERAL (
               SELECT {columns(shape)}
                 FROM memory_index i
                WHERE i.tenant_id = %(tenant)s AND i.scope = readable.name{asked(shape)}
               OFFSET 0) of_one
     LIMIT %(most)s
)
SELECT {packed(shape)} FROM seen
"""
    return named_after(sql, "candidates")


def asked(shape: Shape) -> str:
    """What is not asked for is not weighed and not counted."""
    layers = " AND i.layer = ANY(%(layers)s::text[])" if shape.layers else ""
    kinds = " AND i.kind = ANY(%(kinds_of)s::text[])" if shape.kinds else ""
    return layers + kinds


def columns(shape: Shape) -> str:
    """The columns of `seen`: each what one row gives to the answer."""
    counts = [f"(-(i.term_vector <#> %(counter_{at})s::sparsevec))::bigint" for at in range(shape.counters)]
    number = (
        f"({reason(shape)})::bigint | (i.term_count::bigint << {_LENGTH_AT})"
        f" | ((i.source & {_SOURCE_BITS}) << {_SOURCE_AT}) | ({counts[0] if counts else '0::bigint'} << {_COUNTS_AT})"
    )
    wanted = [f"i.memory_id, {number} AS packed"]
    if shape.vector:
        wanted.append(
            "CASE WHEN i.model_id = %(model)s THEN coalesce(1 - (i.embedding <=> %(vector)s::halfvec), 'NaN')"
            " ELSE 'NaN' END AS cosine"
        )
    wanted += [f"{count} AS counts_{at}" for at, count in enumerate(counts) if at]
    if shape.lending:
        wanted.append("CASE WHEN i.layer = ANY(%(lending)s::text[]) THEN i.run ELSE 0 END AS run")
    return ",\n           ".join(wanted)


def reason(shape: Shape) -> str:
    """The place in `REASONS` of the filter that leaves a row out, or 0."""
    cases = [
        "WHEN i.expires_at <= %(now)s THEN 1",
        "WHEN i.valid_to <= %(now)s OR i.memory_id = ANY(ARRAY(SELECT id FROM overtaken)) THEN 6",
        "WHEN i.valid_from > %(now)s THEN 7",
    ]
    if shape.trust:
        cases.append("WHEN i.trust < %(min_trust)s THEN 2")
    if shape.high_stakes:
        cases.append("WHEN i.contested THEN 3")
    if shape.since:
        cases.append("WHEN i.learned_at < %(since)s THEN 4")
    cases.append(f"""WHEN i.narrowed AND ((cardinality(i.tags) > 0 AND NOT i.tags && %(tags)s::text[])
                OR (cardinality(i.paths) > 0 AND NOT EXISTS (
                    SELECT FROM unnest(i.paths) AS glob, unnest(%(paths)s::text[]) AS path WHERE path LIKE {AS_LIKE}
                ))) THEN 5""")
    return f"CASE {' '.join(cases)} ELSE 0 END"


def packed(shape: Shape) -> str:
    number = f"packed | ((run <> 0)::int::bigint << {_RUN_AT})" if shape.lending else "packed"
    wanted = ["count(*)", "string_agg(uuid_send(memory_id), '')", f"string_agg(int8send({number}), '')"]
    wanted.append("string_agg(float4send(cosine::float4), '')" if shape.vector else "NULL")
    wanted.append("string_agg(int8send(run), '') FILTER (WHERE run <> 0)" if shape.lending else "NULL")
    wanted += [f"string_agg(int8send(counts_{at}), '')" for at in range(1, shape.counters)]
    return ", ".join(wanted)


def _counters(terms: Sequence[str]) -> list[str]:
    """Sparse vectors whose inner product with a row's gives, in base 8, how often each of eight terms occurs."""
    counters = []
    for start in range(0, len(terms), _IN_ONE):
        weights: dict[int, int] = {}
        for place, term in enumerate(terms[start : start + _IN_ONE]):
            weights.setdefault(_dimension(term), 1 << (_BASE_BITS * place))
        counters.append("{" + ",".join(f"{at}:{weights[at]}" for at in sorted(weights)) + f"}}/{_DIMENSIONS}")
    return counters


@lru_cache(maxsize=16_384)
def _dimension(term: str) -> int:
    """As `memgov.term_vector` has it."""
    number = int(md5(term.encode(), usedforsecurity=False).hexdigest()[:15], 16)
    return number % _DIMENSIONS + 1


def unpacked(row: Sequence[Any], terms: int) -> Candidates:
    rows, ids, numbered, cosine, runs, *more = row
    numbers = _numbers(numbered, ">i8")
    run = np.zeros(rows, dtype=np.int64)
    if runs:
        run[numbers >> _RUN_AT & 1 != 0] = _numbers(runs, ">i8")
    groups = [numbers >> _COUNTS_AT, *(_numbers(part, ">i8") for part in more)]
    counts = np.concatenate([group >> _PLACES & 7 for group in groups]).T
    return Candidates(
        ids=np.frombuffer(ids or b"", dtype=_ID),
        reason=numbers & 7,
        term_count=numbers >> _LENGTH_AT & _LENGTH_MOST,
        counts=counts[:, :terms],
        cosine=_numbers(cosine, ">f4").astype(np.float64) if cosine is not None else None,
        source=numbers >> _SOURCE_AT & _SOURCE_BITS,
        run=run,
    )


def places_of(ids: Any, wanted: Collection[UUID]) -> Any:
    """Where in the ids these are, as a mask."""
    parts = np.frombuffer(b"".join(one.bytes for one in wanted), dtype=_ID)
    high, low = (
        np.isin(ids[half].astype(np.uint64), parts[half].astype(np.uint64)) for half in ("high", "low")
    )
    return high & low


def _numbers(sent: bytes | None, kind: str) -> Any:
    """Big-endian numbers as the machine's own."""
    values = np.frombuffer(sent or b"", dtype=kind)
    return values.astype(values.dtype.newbyteorder("="))
