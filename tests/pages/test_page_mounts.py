"""Mounts: the file, its commit, who applied it when, and what became of each entry."""

from __future__ import annotations

import pytest
from django.test import Client

from memory.domain.ids import show_id
from memory.models import Memory, Mount
from memory.services.mounts import mount_apply
from memory.services.retention import memory_delete
from tests.factories import Stage
from tests.pages.staging import Full, mem


def test_mounts__of_a_tenant__hash_commit_who_and_how_many(full: Full, reviewer: Client) -> None:
    page = reviewer.get(full.at("mounts/")).content.decode()
    assert "acme/alpha" in page and full.mount.sha256[:12] in page and "3f2a9c1" in page
    assert "pipeline 71" in page and "All given" in page
    memory_delete(full.stage.owner.principal, full.contradiction.memory_a, "no longer so")
    page = reviewer.get(full.at("mounts/")).content.decode()
    assert "All given" not in page and "1 given" in page


def test_mount__its_entries__in_order_with_state_and_place(full: Full, reviewer: Client) -> None:
    path = full.at(f"mounts/{show_id('mnt', full.mount.id)}/")
    page = reviewer.get(path).content.decode()
    said = "Deployments of alpha go through the staging cluster first."
    assert page.index(said) < page.index("enterprise"), "order 0 before order 5"
    assert full.mount.sha256 in page and "project:alpha" in page and "deploy/*, ops" in page
    assert "line 5" in page and "by id" in page and "order 5" in page and "by content" in page
    assert f"/memories/{mem(full.contradiction.memory_a)}/" in page
    assert "Deleted" not in page
    memory_delete(full.stage.owner.principal, full.contradiction.memory_a, "no longer so")
    assert "Deleted" in reviewer.get(path).content.decode()


@pytest.mark.parametrize("status", ["contested", "superseded", "quarantined", "erased"])
def test_mount__entry_that_readers_do_not_get__says_so(full: Full, reviewer: Client, status: str) -> None:
    with full.stage.context():
        Memory.objects.filter(id=full.contradiction.memory_a).update(status=status)
    page = reviewer.get(full.at(f"mounts/{show_id('mnt', full.mount.id)}/")).content.decode()
    assert status.capitalize() in page


def test_memory__that_is_declared__says_by_which_mount(full: Full, reviewer: Client) -> None:
    page = reviewer.get(full.at(f"memories/{mem(full.contradiction.memory_a)}/")).content.decode()
    assert "Declared by" in page and f"/mounts/{show_id('mnt', full.mount.id)}/" in page
    page = reviewer.get(full.at(f"memories/{mem(full.held)}/")).content.decode()
    assert "Declared by" not in page


def test_mounts__none__says_how_to_begin(stage: Stage, owner: Client) -> None:
    page = owner.get(f"/t/{stage.tenant.slug}/mounts/").content.decode()
    assert f"memgov mount apply memgov.mount.yaml --tenant {stage.tenant.slug}" in page


def test_mount__emptied__stays_on_the_list(stage: Stage, owner: Client) -> None:
    mount_apply(stage.owner.principal, b"name: old\nentries: []\n")
    with stage.context():
        shown = show_id("mnt", Mount.objects.get().id)
    assert "Empty" in owner.get(f"/t/{stage.tenant.slug}/mounts/").content.decode()
    assert "declares nothing" in owner.get(f"/t/{stage.tenant.slug}/mounts/{shown}/").content.decode()


def test_mount__every_apply__is_found_in_the_audit_log(full: Full, owner: Client) -> None:
    page = owner.get(full.at(f"mounts/{show_id('mnt', full.mount.id)}/")).content.decode()
    link = page.split("Every apply in the audit log")[0].rsplit('href="', 1)[1].split('"')[0]
    events = owner.get(link).content.decode()
    rows = events.split("<tbody", 1)[1]
    assert "applied a mount manifest" in rows.lower() and "stored it" not in rows.lower()
    assert full.at(f"mounts/{show_id('mnt', full.mount.id)}/") in events, "and the log leads back"
