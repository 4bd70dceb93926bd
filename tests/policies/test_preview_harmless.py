"""Trying a draft changes nothing; as a job it shows how far it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db import InternalError, connection, transaction

from memgov import clock
from memory import tasks
from memory.domain.policy import preset
from memory.models import Job, Manifest, Memory
from memory.services.errors import Conflict, Denied, NotFound
from memory.services.policies import PolicyMoved
from memory.services.policy_drafts import draft_save, draft_start
from memory.services.preview import preview_report, preview_start
from memory.services.preview.looking import looking
from tests.factories import Stage, make_tenant
from tests.policies.trying import START, part, rack, tried

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def stage(database: None) -> Iterator[Stage]:
    with clock.moved_to(START):
        yield make_tenant()


def every_row() -> dict[str, str]:
    """A digest of every row of the tenant, table by table."""
    found = {}
    with connection.cursor() as cursor:
        for model in apps.get_models():
            if any(getattr(one, "attname", "") == "tenant_id" for one in model._meta.concrete_fields):
                table = model._meta.db_table
                cursor.execute(
                    f"SELECT count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {table} t"
                )
                found[table] = str(cursor.fetchone())
    return found


def test_preview__of_a_full_tenant__changes_no_row_of_any_table_and_is_repeatable(stage: Stage) -> None:
    from tests.full_house import full_house

    house = full_house()
    draft = preset("open")
    with house.context():
        before = every_row()
    assert len(before) > 20
    now = clock.now()
    reports = [
        preview_report(house.tenant.id, policy, now=now).as_json()
        for policy in (draft, draft, preset("trusted-source"), preset("trusted-source"))
    ]
    with house.context():
        assert every_row() == before
    assert reports[0] == reports[1] and reports[2] == reports[3]
    assert (
        reports[0]["looked_at"]["entries"]
        and reports[0]["looked_at"]["writes"]
        and reports[0]["looked_at"]["reads"]
    )
    assert reports[2]["stored"] or reports[2]["written"], "positive control: there was something to tell"


def test_preview__whoever_wrote_in_it__is_refused_by_the_database(stage: Stage) -> None:
    memory = rack(stage.coder.principal, 1)
    with pytest.raises(InternalError, match="read-only transaction"), looking(stage.tenant.id):
        Memory.objects.filter(id=memory.id).update(use_count=99)
    with stage.context():
        assert Memory.objects.get(id=memory.id).use_count == 0
    assert not transaction.get_connection().in_atomic_block


def test_preview__of_another_tenants_rows__sees_nothing(stage: Stage) -> None:
    rack(stage.coder.principal, 1)
    other = make_tenant()
    report = tried(other, preset("trusted-source").model_dump(mode="json"))
    assert report.looked_at == {"entries": 0, "writes": 0, "reads": 0, "digests": 0}
    assert report.stored == report.written == report.read == []


def test_job__from_asking_to_result__with_progress_and_without_text(stage: Stage) -> None:
    owner = stage.owner.principal
    rack(stage.coder.principal, 1, confidence=0.65)
    draft = draft_start(owner, "stricter")
    draft_save(owner, draft.id, {"admission": {"confidence_floor": {"middle": 0.8}}}, version=1)
    job = preview_start(owner, draft.id, version=2)
    with pytest.raises(Conflict, match="another preview"):
        preview_start(owner, draft.id, version=2)
    with pytest.raises(PolicyMoved):
        preview_start(owner, draft.id, version=1)
    assert tasks.run_preview_job(str(stage.tenant.id), str(job.id)) == "done"
    assert tasks.run_preview_job(str(stage.tenant.id), str(job.id)) == "gone"
    assert tasks.run_preview_job(str(make_tenant().tenant.id), str(job.id)) == "gone"
    with stage.context():
        kept = Job.objects.get(id=job.id)
    assert (kept.status, kept.request, kept.done == kept.total) == ("done", None, True)
    assert kept.result["draft"] == f"pdr_{draft.id.hex}" and kept.result["version"] == 2
    assert part(kept.result["stored"], "refused")["count"] == 1
    assert "spare router" not in str(kept.result), "texts are looked up, not kept"


def test_job__by_who_may_not_or_of_nothing__is_refused(stage: Stage) -> None:
    draft = draft_start(stage.owner.principal, "theirs")
    for who in (stage.reviewer.principal, stage.coder.principal):
        with pytest.raises(Denied):
            preview_start(who, draft.id, version=1)
    with pytest.raises(NotFound):
        preview_start(make_tenant().owner.principal, draft.id, version=1)
    with stage.context():
        assert not Job.objects.exists() and not Manifest.objects.exists()
