"""`memgov reindex`: the search index as it would be made now, and nothing else changed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from memory.domain.search_terms import index_terms
from memory.models import AuditEvent, Memory, MemoryIndex
from memory.selectors.indexed import Indexed, indexed_after
from memory.services import embedding
from memory.services.memory_write import memory_write
from memory.services.reindexing import Reindexed, tenant_reindex
from memory.services.write_types import WriteRequest
from memory.store import search_index
from tests.factories import Stage, make_tenant
from tests.search_index import out_of_step

pytestmark = pytest.mark.usefixtures("database")

TEXTS = (
    "The kiln in hall two needs nine hours to cool down.",
    "Refunds above 50 euros need a second approval.",
    "The red dye dries within two hours.",
    "Deliveries leave from gate seven.",
    "The lathe of hall four runs at night.",
)


@pytest.fixture
def stage(database: None) -> Stage:
    """Five memories; the first has old terms, the second a vector of another model, the third none, the last no row."""
    stage = make_tenant()
    ids = [_written(stage, text) for text in TEXTS]
    with stage.context(), connection.cursor() as cursor:
        for memory_id, was in zip(
            ids, ("terms = '{old}', term_count = 1", "model_id = 'other@1'", "embedding = NULL"), strict=False
        ):
            cursor.execute(f"UPDATE memory_index SET {was} WHERE memory_id = %s", [memory_id])
        search_index.unindex(ids[-1:])
    return stage


def _written(stage: Stage, text: str) -> UUID:
    request = WriteRequest(content=text, scope="project:alpha", origin="tool_verified")
    memory = memory_write(stage.coder.principal, request).memory
    assert memory is not None
    return memory.id


def index_of(stage: Stage) -> list[Indexed]:
    with stage.context():
        return indexed_after(UUID(int=0), 10)


def rows(stage: Stage) -> list[dict[str, Any]]:
    with stage.context():
        index = list(MemoryIndex.objects.order_by("memory_id").values())
        memories = list(Memory.objects.order_by("id").values())
        return [*index, *memories, {"events": AuditEvent.objects.count()}]


def test_reindex__mends_what_is_not_as_it_would_be_made_now(stage: Stage) -> None:
    assert [row.terms for row in index_of(stage)].count(["old"]) == 1, "positive control"
    seen: list[tuple[int, int]] = []
    done = tenant_reindex(stage.tenant.id, progress=lambda at, total: seen.append((at, total)))
    assert done == Reindexed(5, new_rows=1, new_terms=2, new_vectors=3) and seen == [(5, 5)]
    assert out_of_step(stage) == [] and len(index_of(stage)) == 5
    for row in index_of(stage):
        assert row.terms == index_terms(row.content)
        assert row.has_vector and row.model_id == embedding.present_model()
    mended = rows(stage)
    assert tenant_reindex(stage.tenant.id) == Reindexed(scanned=5)
    assert rows(stage) == mended


def test_reindex__dry_run__counts_and_changes_nothing(stage: Stage) -> None:
    before = rows(stage)
    assert tenant_reindex(stage.tenant.id, dry_run=True) == Reindexed(
        5, new_rows=1, new_terms=2, new_vectors=3
    )
    assert rows(stage) == before


def test_reindex__touches_nothing_but_the_index__and_no_other_tenant(stage: Stage) -> None:
    other = make_tenant()
    _written(other, TEXTS[0])
    before, others = rows(stage), rows(other)
    tenant_reindex(stage.tenant.id)
    assert rows(other) == others and rows(stage)[5:] == before[4:] and rows(stage) != before


def test_reindex__memory_that_changed_meanwhile__keeps_what_its_writer_made(stage: Stage) -> None:
    with stage.context():
        row = indexed_after(UUID(int=0), 1)[0]
        assert search_index.put_terms([(row.id, row.version + 1, ["late"])]) == 0
        assert search_index.put_terms([(row.id, row.version, ["present"])]) == 1


def test_reindex__without_an_answering_embedder__keeps_the_rest_and_says_so(
    stage: Stage, settings: Any
) -> None:
    settings.MEMGOV_EMBEDDER = "openai:http://127.0.0.1:1/v1?model=none&dim=384&timeout=1"
    embedding._embedder.cache_clear()
    try:
        with pytest.raises(CommandError, match="did not answer for 5 memories"):
            call_command("reindex", tenant=stage.tenant.slug)
    finally:
        embedding._embedder.cache_clear()
    kept = index_of(stage)
    assert sum(row.has_vector for row in kept) == 3 and "old" not in {
        term for row in kept for term in row.terms
    }


def test_reindex__typed__says_what_it_did(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("reindex", tenant=stage.tenant.slug)
    assert capsys.readouterr().out.strip() == (
        f"{stage.tenant.slug}: looked at 5, 1 were missing, 2 got new terms, 3 got new vectors, 0 left without"
    )
