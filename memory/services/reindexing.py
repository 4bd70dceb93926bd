"""Bringing the search index up to date: vectors of another model or none, terms cut by older rules, and missing rows.

Nothing of a memory changes, and nothing is audited.  Rows that are right are left alone, so that a run which was
stopped goes on where it was, and one after another one does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memory.domain.search_terms import index_terms
from memory.selectors.indexed import Indexed, indexed_after, indexed_count
from memory.services.embedding import present_model, vectors_of
from memory.store import search_index
from tenants.context import tenant_context

_BATCH: Final = 200

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Reindexed:
    """What a run did, in memories; `without_vector` are those that the embedder did not answer for."""

    scanned: int = 0
    new_rows: int = 0
    new_terms: int = 0
    new_vectors: int = 0
    without_vector: int = 0


def tenant_reindex(tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None) -> Reindexed:
    """Look at every memory of a tenant that may be found, and mend what is not indexed as it would be now.

    One that changes meanwhile is left: whoever changed it has indexed it anew.
    """
    done, last = Reindexed(), UUID(int=0)
    with tenant_context(tenant_id):
        total = indexed_count()
    while True:
        with tenant_context(tenant_id):
            rows = indexed_after(last, _BATCH)
        if not rows:
            return done
        last = rows[-1].id
        _mend(tenant_id, rows, done, dry_run=dry_run)
        done.scanned += len(rows)
        if progress:
            progress(done.scanned, max(total, done.scanned))


def _mend(tenant_id: UUID, rows: Sequence[Indexed], done: Reindexed, *, dry_run: bool) -> None:
    model = present_model()
    terms = {row.id: index_terms(row.content) for row in rows}
    absent = {row.id: row.version for row in rows if row.terms is None}
    stale = [row for row in rows if terms[row.id] != row.terms]
    blind = [row for row in rows if model is not None and (not row.has_vector or row.model_id != model)]
    # Asked outside the transaction: an embedder may take its time.
    vectors = [None] * len(blind) if dry_run else vectors_of([row.content for row in blind])
    found = [(row, vector) for row, vector in zip(blind, vectors, strict=True) if vector is not None]
    if dry_run:
        done.new_rows += len(absent)
        done.new_terms += len(stale)
        done.new_vectors += len(blind)
        return
    with tenant_context(tenant_id):
        done.new_rows += search_index.add(absent)
        done.new_terms += search_index.put_terms([(row.id, row.version, terms[row.id]) for row in stale])
        done.new_vectors += search_index.put_vectors([(row.id, row.version, vector) for row, vector in found])
    done.without_vector += len(blind) - len(found)
