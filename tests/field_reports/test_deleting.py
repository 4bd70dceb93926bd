"""Faults that users of other stores reported about deleting: each is a test here, with counts from SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, connections
from django.test import Client, override_settings
from psycopg import sql

from memory.models import AuditEvent, Job, Memory, MemoryIndex
from memory.services.deletion_steps import deletion_run
from memory.services.recall import RetrieveRequest, memory_retrieve
from tenants.context import tenant_context
from tests.api.caller import Caller, as_uuid, assert_problem
from tests.factories import Stage, make_agent, make_tenant
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")
PLACE = "memories/delete"


@pytest.fixture(autouse=True)
def _plain_static_files() -> Any:
    plain = "django.contrib.staticfiles.storage.StaticFilesStorage"
    default = "django.core.files.storage.FileSystemStorage"
    with override_settings(STORAGES={"default": {"BACKEND": default}, "staticfiles": {"BACKEND": plain}}):
        yield


def left_of(stage: Stage, condition: str) -> int:
    """Rows that are not deleted, counted past all code of ours."""
    rows = f"SELECT count(*) FROM memory_memory WHERE tenant_id = %s AND status <> 'deleted' AND {condition}"
    with tenant_context(stage.tenant.id), connection.cursor() as cursor:
        cursor.execute(rows, [stage.tenant.id])
        return int(cursor.fetchone()[0])


def deleted(caller: Caller, **body: Any) -> dict[str, Any]:
    answer = caller.post(PLACE, {"reason": "asked to forget it", **body})
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_delete__by_session__rows_of_other_sessions_stay() -> None:
    """29. A delete with a filter by run took more than the run."""
    plot = Plot()
    plot.plant(5, session="s1")
    plot.plant(5, content="other ", session="s2")
    plot.plant(2, content="none ")
    assert deleted(Caller(plot.stage.orchestrator), filter={"session": "s1"})["deleted"] == 5
    assert left_of(plot.stage, "session = 's1'") == 0
    assert (left_of(plot.stage, "session = 's2'"), left_of(plot.stage, "session = ''")) == (5, 2)


def test_delete__all_of_a_user__nobody_else_loses_anything__and_an_empty_filter_is_refused() -> None:
    """30. Deleting all of one user reset the whole collection."""
    ours, theirs = Plot(), Plot()
    for plot in (ours, theirs):
        plot.plant(10, subject="user:1", predicate="note")
        plot.plant(10, content="two ", subject="user:2", predicate="note")
    caller = Caller(ours.stage.orchestrator)
    assert_problem(caller.post(PLACE, {"filter": {}, "reason": "all"}), 400, "filter_needed")
    assert_problem(caller.post(PLACE, {"reason": "all"}), 400, "filter_needed")
    assert left_of(ours.stage, "true") == 20
    assert deleted(caller, filter={"subject": "user:1"})["deleted"] == 10
    assert left_of(ours.stage, "subject = 'user:1'") == 0
    assert left_of(ours.stage, "subject = 'user:2'") == 10
    assert left_of(theirs.stage, "true") == 20


def test_delete__unknown__is_never_a_success_with_nothing() -> None:
    """31. `forget` answered success with 0 deleted."""
    stage = make_tenant()
    caller = Caller(stage.coder)
    unknown = "mem_0198f2d1a4c87b3e9d10c2f4a6b8e0d1"
    assert_problem(caller.delete(f"memories/{unknown}?reason=gone"), 404, "not_found")
    valid = caller.remember("The north gate opens at seven.")["id"]
    done = deleted(caller, ids=[valid, unknown])
    assert (done["deleted"], done["not_found"]) == (1, [unknown])
    assert_problem(caller.post(PLACE, {"ids": [unknown], "reason": "r"}), 404, "not_found")
    assert_problem(caller.post(PLACE, {"ids": [valid], "reason": "r"}), 409, "nothing_to_do")
    assert_problem(caller.post(PLACE, {"filter": {"q": "nothing"}, "reason": "r"}), 409, "nothing_to_do")


@contextmanager
def index_out_of_reach() -> Iterator[None]:
    """The application may not touch the index meanwhile: each statement about it fails."""
    role = connection.settings_dict["USER"]
    with connections["owner"].cursor() as owner:
        owner.execute(sql.SQL("REVOKE DELETE ON memory_index FROM {}").format(sql.Identifier(role)))
        try:
            yield
        finally:
            owner.execute(sql.SQL("GRANT DELETE ON memory_index TO {}").format(sql.Identifier(role)))


@pytest.mark.parametrize("way", ["one", "ids", "filter"])
def test_delete__index_and_row__go_together_or_not_at_all(way: str) -> None:
    """32. The row was gone and the external index still found it."""
    stage = make_tenant()
    caller = Caller(stage.coder)
    ident = caller.remember("The Larkspur gate opens at seven.", session="s")["id"]
    request: dict[str, Any] = {"ids": [ident]} if way == "ids" else {"filter": {"session": "s"}}

    def delete() -> Any:
        if way == "one":
            return caller.delete(f"memories/{ident}?reason=gone")
        return caller.post(PLACE, {**request, "reason": "gone"})

    def indexed() -> int:
        with stage.context():
            rows = MemoryIndex.objects.filter(tenant_id=stage.tenant.id)
            by_words = rows.filter(terms__contains=["larkspur"]).count()
            assert by_words == rows.exclude(embedding=None).count()
            return by_words

    assert indexed() == 1
    with index_out_of_reach():
        assert delete().status_code >= 500
    assert (indexed(), left_of(stage, "true")) == (1, 1), "neither of the two is gone"
    assert delete().status_code == 200
    assert (indexed(), left_of(stage, "true")) == (0, 0)


def test_delete__one_of_five__every_count_says_four_at_once() -> None:
    """33. Deleted items were still counted and found."""
    stage = make_tenant()
    caller, browser = Caller(stage.coder), Client()
    browser.force_login(stage.owner.user)
    words = ("north", "south", "east", "west", "upper")
    ids = [caller.remember(f"The {word} gate of the yard opens at seven.")["id"] for word in words]

    def counts() -> list[int]:
        listed = len(caller.get("memories").json()["results"])
        asked = RetrieveRequest("when does the gate of the yard open", limit=10)
        found = len(memory_retrieve(stage.coder.principal, asked).entries)
        tile = caller.get("health").json()["metrics"]["live_facts"]["value"]
        page = browser.get(f"/t/{stage.tenant.slug}/memories/").content.decode()
        digest = caller.get("digest?scope=project:alpha").json()
        lines = sum(len(band) for band in digest["bands"].values())
        return [
            listed,
            found,
            int(tile),
            int(page.split(" live memories.")[0].split()[-1].rpartition(">")[2]),
            lines,
        ]

    assert counts() == [5] * 5
    assert deleted(caller, ids=ids[:1])["deleted"] == 1
    assert counts() == [4] * 5
    caller.delete(f"memories/{ids[1]}?reason=gone")
    assert counts() == [3] * 5


def test_delete__of_a_session__what_others_learned_as_well_stays_and_is_listed() -> None:
    """38. Deleting a session left its copies, and there was no way to remove an entry, a session or a user."""
    stage = make_tenant()
    caller = Caller(stage.coder)
    only = caller.remember("The north gate opens at seven.", session="s1")["id"]
    both = caller.remember("The south gate opens at nine.", session="s1")["id"]
    again = caller.post(
        "memories",
        {
            "content": "The south gate opens at nine.",
            "scope": "project:alpha",
            "origin": "user_explicit",
            "session": "s2",
        },
    )
    assert again.json()["outcome"] == "duplicate"
    copy = caller.remember("Deliveries come before the north gate opens.", session="s3", derived_from=[only])[
        "id"
    ]
    look = deleted(caller, filter={"session": "s1"}, dry_run=True)
    assert [one["id"] for one in look["memories"]] == [only]
    assert look["left_named"] == [{"memory": both, "reason": "other_source"}]
    assert [one["id"] for one in look["derived_memories"]] == [copy]
    done = deleted(caller, filter={"session": "s1"}, cascade=True)
    assert (done["deleted"], done["left"]) == (2, {"other_source": 1})
    assert left_of(stage, f"id = '{as_uuid(both)}'") == 1 and left_of(stage, "true") == 1


@pytest.mark.parametrize("rows", [30, 1200])
def test_delete__of_a_subject__is_one_call_with_a_count_and_one_event_for_the_batch(rows: int) -> None:
    """41. Ids had to be listed and deleted one by one."""
    plot = Plot()
    plot.plant(rows, subject="user:9", predicate="note")
    caller = Caller(plot.stage.orchestrator)
    answer = caller.post(PLACE, {"filter": {"subject": "user:9"}, "reason": "the customer left"})
    if rows <= 500:
        assert (answer.status_code, answer.json()["deleted"]) == (200, rows)
    else:
        assert (answer.status_code, answer.json()["total"]) == (202, rows)
        with plot.stage.context():
            job = Job.objects.get()
        assert deletion_run(plot.tenant_id, job.id) == "done"
        assert caller.get(f"jobs/{answer.json()['id']}").json()["done"] == rows
    assert left_of(plot.stage, "true") == 0
    with plot.stage.context():
        (batch,) = AuditEvent.objects.filter(action="memories.deleted")
        assert (batch.after["entries"], batch.reason) == (rows, "the customer left")
        assert AuditEvent.objects.filter(action="memory.deleted").count() == rows
        assert "user:9" not in str(list(AuditEvent.objects.values_list("before", "after", "reason")))


def test_authz__bulk_by_an_agent__removes_its_own_rows_only() -> None:
    """10, its last part."""
    stage = make_tenant()
    one, two = (make_agent(stage.tenant, "coder", ["project:alpha=rw"]) for _ in range(2))
    mine = Caller(one).remember("The north gate opens at seven.")["id"]
    theirs = Caller(two).remember("The south gate opens at nine.")["id"]
    done = deleted(Caller(one), filter={"scope": ["project:alpha"]})
    assert done["deleted"] == 1 and done["left_named"] == [{"memory": theirs, "reason": "not_own"}]
    with stage.context():
        assert Memory.objects.get(id=as_uuid(mine)).status == "deleted"
        assert Memory.objects.get(id=as_uuid(theirs)).status == "live"
