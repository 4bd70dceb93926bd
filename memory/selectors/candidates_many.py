"""Candidates where the reader may see more than is looked at row by row: two indexes choose them.

The vector index brings those whose meaning is nearest, the index of terms all that hold a word of the query.  What came
in since the vector index was last fed (`memory.services.sweeps.vectors`) is looked at beside it.  If the vector index
gives up before it has enough, every row is looked at after all: an answer is never cut short.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from django.db import connection

from memgov.postgres.prepared import Prepared, named_after
from memory.domain.relevance import Candidates
from memory.selectors.candidates import (
    Filters,
    Shape,
    asked,
    candidates_of_all,
    columns,
    packed,
    reason,
    shape_of,
)
from memory.selectors.candidates import unpacked as read
from memory.selectors.timely import OVERTAKEN
from memory.selectors.visibility import READABLE_SCOPES, Reach

NEAREST: Final = 200
"""How many the vector index has to bring."""

# An index that goes on until the filters have let enough through; sorting everything instead would be the exact way.
_SETTINGS: Final = """
SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = 100; SET LOCAL enable_sort = off;
SET LOCAL plan_cache_mode = auto
"""
_RESET: Final = "SET LOCAL enable_sort = on; SET LOCAL plan_cache_mode = force_generic_plan"


def candidates_of_many(reach: Reach, filters: Filters) -> Candidates:
    """The readable rows that the indexes hold to be the likeliest."""
    parameters = {
        **reach.parameters(filters.only_scopes),
        **filters.parameters(),
        "terms": list(filters.terms),
        "nearest": NEAREST,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SETTINGS)
        cursor.execute(*_chosen(shape_of(filters)).of(parameters))
        total, new, near, *row = cursor.fetchone()
        cursor.execute(_RESET)
    if filters.vector is not None and near < min(NEAREST, total - new):
        return candidates_of_all(reach, filters)
    return replace(read(row, len(filters.terms)), total=total)


@lru_cache(maxsize=256)
def _chosen(shape: Shape) -> Prepared:
    mine = "i.tenant_id = %(tenant)s AND i.scope = ANY((SELECT names FROM readable)::text[])"
    near = f"""
    SELECT i.memory_id FROM memory_index i
     WHERE {mine}{asked(shape)} AND i.model_id = %(model)s AND {reason(shape)} = 0 AND {{settled}}
     ORDER BY i.embedding <=> %(vector)s::halfvec LIMIT %(nearest)s"""
    fed, new = (
        near.format(settled="i.settled"),
        near.format(settled="NOT i.settled AND i.embedding IS NOT NULL"),
    )
    none = "SELECT NULL::uuid AS memory_id WHERE false"
    sql = f"""
WITH readable AS MATERIALIZED (SELECT ARRAY({READABLE_SCOPES}) AS names),
overtaken AS MATERIALIZED ({OVERTAKEN}),
near AS MATERIALIZED ({fed if shape.vector else none}),
new AS MATERIALIZED ({new if shape.vector else none}),
chosen AS (
    SELECT memory_id FROM near
    UNION SELECT memory_id FROM new
    UNION SELECT w FROM memgov.memories_with(%(terms)s::text[], (SELECT names FROM readable)::text[]) AS w
),
seen AS (
    SELECT {columns(shape)}
      FROM chosen JOIN memory_index i ON i.tenant_id = %(tenant)s AND i.memory_id = chosen.memory_id
     WHERE {mine}{asked(shape)}
)
SELECT (SELECT count(*) FROM memory_index i WHERE {mine}),
       (SELECT count(*) FROM memory_index i WHERE {mine} AND NOT i.settled), (SELECT count(*) FROM near),
       {packed(shape)}
  FROM seen
"""
    return named_after(sql, "candidates_of_many")
