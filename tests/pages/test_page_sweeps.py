"""Runs of sweeps in the browser: what they did, letting a stopped one go, and bringing back what one took."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.test import Client

    from memory.models import SweepRun
    from tests.sweeps.planting import Plot


@pytest.fixture
def plot(database: None) -> Plot:
    from tests.sweeps.planting import Plot

    return Plot()


@pytest.fixture
def reviewer(plot: Plot) -> Client:
    from tests.pages.staging import signed_in

    return signed_in(plot.stage.reviewer)


def at(plot: Plot, path: str) -> str:
    return f"/t/{plot.stage.tenant.slug}/{path}"


def stopped(plot: Plot) -> SweepRun:
    """Decay that would take 5 of 20, and did not."""
    from memgov import clock
    from memory.services.sweeps import sweep_decay

    plot.plant(5, at=clock.now() - timedelta(days=180))
    plot.plant(15, content="young ", at=clock.now())
    run = sweep_decay(plot.tenant_id)
    assert run.status == "stopped"
    return run


def page_of(plot: Plot, run: SweepRun) -> str:
    return at(plot, f"sweeps/run_{run.id.hex}/")


def test_runs__listed_and_filtered__say_what_they_did(plot: Plot, reviewer: Client) -> None:
    from memory.services.sweeps import sweep_expiry

    assert "Nothing has run yet" in reviewer.get(at(plot, "sweeps/")).content.decode()
    stopped(plot)
    sweep_expiry(plot.tenant_id)
    page = reviewer.get(at(plot, "sweeps/")).content.decode()
    assert "Decay" in page and "Expiry" in page and "Stopped, waits for a person" in page
    rows = reviewer.get(at(plot, "sweeps/?status=stopped")).content.decode()
    assert rows.count('<th scope="row">') == 1
    assert "No run matches" in reviewer.get(at(plot, "sweeps/?name=chain")).content.decode()
    assert reviewer.get(at(plot, "sweeps/?name=nonsense&status=x&at=y")).status_code == 200


def test_stopped_run__offers_both_ways_and_applies(plot: Plot, reviewer: Client) -> None:
    from memory.services.sweeps import sweep_decay

    run = stopped(plot)
    where = page_of(plot, run)
    page = reviewer.get(where).content.decode()
    assert "Apply anyway" in page and "Loosen the policy" in page and "project:alpha" in page
    refused = reviewer.post(f"{where}apply/", {"reason": ""})
    assert refused.status_code == 422 and "Say why it may go ahead" in refused.content.decode()
    assert reviewer.post(f"{where}apply/", {"reason": "old notes"}).status_code == 303
    assert "let it go ahead" in reviewer.get(where).content.decode()
    late = reviewer.post(f"{where}apply/", {"reason": "old notes"})
    assert late.status_code == 409 and "already" in late.content.decode()
    after = sweep_decay(plot.tenant_id)
    assert after.changed == 5
    assert f"run_{after.id.hex}" in reviewer.get(where).content.decode()


def test_run__that_took_something__is_brought_back_whole(plot: Plot, reviewer: Client) -> None:
    from memory.models import Job
    from memory.services.sweep_runs import sweep_undo_run
    from memory.services.sweeps import sweep_expiry
    from tests.sweeps.planting import NOW

    ids = plot.plant(3, expires_at=NOW)
    where = page_of(plot, sweep_expiry(plot.tenant_id))
    assert "Bring back 3 memories" in reviewer.get(where).content.decode()
    assert reviewer.post(f"{where}undo/", {"reason": " "}).status_code == 422
    assert reviewer.post(f"{where}undo/", {"reason": "ended too soon"}).status_code == 303
    with plot.stage.context():
        job = Job.objects.get()
    assert sweep_undo_run(plot.tenant_id, job.id) == "done"
    assert plot.statuses(ids) == ["live"] * 3
    page = reviewer.get(where).content.decode()
    assert "It was undone" in page and "Bring back" not in page
    step = reviewer.get(at(plot, f"blast/steps/job_{job.id.hex}/")).content.decode()
    assert "3 memories came back." in step and where in step
    assert reviewer.post(f"{where}undo/", {"reason": "again"}).status_code == 409


def test_run__of_another_tenant_or_without_the_role__is_not_there_or_only_read(
    plot: Plot, reviewer: Client
) -> None:
    from tests.factories import make_person, make_tenant
    from tests.pages.staging import signed_in

    run = stopped(plot)
    where = page_of(plot, run)
    other = make_tenant()
    stranger = signed_in(other.owner)
    elsewhere = where.replace(plot.stage.tenant.slug, other.tenant.slug)
    for path in (where, elsewhere):
        assert stranger.get(path).status_code == 404
        for act in ("apply", "undo"):
            assert stranger.post(f"{path}{act}/", {"reason": "mine"}).status_code == 404
    auditor = signed_in(make_person(plot.stage.tenant, "auditor"))
    page = auditor.get(where)
    assert page.status_code == 200 and "Apply anyway" not in page.content.decode()
    assert auditor.post(f"{where}apply/", {"reason": "mine"}).status_code == 403
    assert reviewer.get(at(plot, "sweeps/run_1/")).status_code == 404
