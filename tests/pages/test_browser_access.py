"""axe on every page, light and dark, wide and narrow: no violation of WCAG 2.0 to 2.2 A and AA or best practice."""

from __future__ import annotations

import pytest

from memgov import clock
from memory.domain.blast import Seed
from memory.domain.ids import show_id
from memory.models import Job
from memory.selectors.deletions import Chosen
from memory.selectors.memory_list import MemoryFilters
from memory.services.blast import blast_quarantine
from memory.services.deletion import Wish
from memory.services.deletion_steps import memories_delete
from memory.services.retention import memory_delete, memory_pin
from memory.services.transfer_run import transfer_run
from memory.services.transfers import export_begin, import_begin
from tests.browser import OpenAs
from tests.pages.axe import faults
from tests.pages.staging import Full, write
from tests.pages.test_every_page import FOR_ADMINS, FOR_REVIEWERS, READABLE, names
from tests.pages.test_page_admin import snapshots

# Pages that look another way with something in the address.
MORE = (
    "blast/?agent={agt}",
    "blast/?tool=nobody",
    "blast/steps/{step}/",
    "memories/{gone}/restore/",
    "memories/?scope=project:alpha",
    "memories/delete/?scope=project:alpha",
    "memories/deletions/{deleted}/",
    "imports/{imported}/",
    "exports/{waiting}/",
)


def _held(full: Full) -> Job:
    """A step of the blast radius that still waits for its worker."""
    return blast_quarantine(full.stage.owner.principal, Seed(tool="cam"), "poisoned", seen=clock.now())


def _deleted(full: Full) -> Job:
    """A bulk deletion that left one memory as it was."""
    for number, session in ((412, "s-6"), (413, "s-6")):
        row = write(
            full.stage.coder, content=f"Rack 9 holds the spare modem number {number}.", session=session
        )
    memory_pin(full.stage.owner.principal, row.id, "needed")
    chosen = Chosen(filters=MemoryFilters(session="s-6"))
    return memories_delete(full.stage.owner.principal, Wish(chosen, "no longer needed")).job


def _transfers(full: Full) -> dict[str, str]:
    """A file that was imported, and an export that still waits for its worker."""
    owner = full.stage.owner.principal
    imported = import_begin(owner, full.looked.id)
    assert transfer_run(full.stage.tenant.id, imported.id) == "done"
    waiting = export_begin(owner, "jsonl")
    return {"imported": show_id("job", imported.id), "waiting": show_id("job", waiting.id)}


@pytest.mark.parametrize("width", [1440, 390])
def test_pages__checked_by_axe__have_no_violation(full: Full, open_as: OpenAs, width: int) -> None:
    snapshots(full.stage)
    full.stage.owner.user.is_operator = True
    full.stage.owner.user.save()
    gone = write(full.stage.coder, content="Rack 7 of hall 3 holds the spare router number 310.")
    write(full.stage.coder, content="Rack 8 of hall 4 holds the spare modem number 411.", tool="cam")
    memory_delete(full.stage.owner.principal, gone.id, "no longer needed")
    filled, found = names(full), []
    tab = open_as(full.stage.owner, width=width, height=900 if width > 500 else 844)
    filled["gone"] = show_id("mem", gone.id)
    filled["step"] = show_id("job", _held(full).id)
    filled["deleted"] = show_id("job", _deleted(full).id)
    filled |= _transfers(full)
    paths = [full.at(path.format(**filled)) for path in (*READABLE, *FOR_REVIEWERS, *FOR_ADMINS, *MORE)]
    front = ["/", "/help/", "/tenants/", "/me/", "/ops/tenants/", "/accounts/2fa/", "/accounts/sessions/"]
    for path in [*front, *paths]:
        if path.endswith((".csv", ".json")):
            continue
        found += faults(tab.go(path), path)
    assert found == []
