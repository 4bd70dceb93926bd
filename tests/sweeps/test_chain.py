"""The audit chain: one byte changed by a superuser is found and named, and so is a cut tail."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections
from pytest_django import Settings

from memory.services.audit_verify import audit_verify
from memory.services.sweeps import sweep_chain, sweep_expiry
from tests.sweeps.planting import NOW, Plot

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def plot(settings: Settings, tmp_path: Path) -> Plot:
    """A tenant with some audited changes and a checkpoint file of its own."""
    settings.MEMGOV_CHECKPOINT_FILE = tmp_path / "checkpoints.jsonl"
    plot = Plot()
    plot.plant(20, expires_at=NOW)
    sweep_expiry(plot.tenant_id, now=NOW)
    return plot


def _verify(plot: Plot, *more: str) -> str:
    out = StringIO()
    call_command("verify_audit", "--tenant", plot.stage.tenant.slug, *more, stdout=out)
    return out.getvalue()


def _tamper(superuser_url: str, *statements: str) -> None:
    """As somebody who owns the machine: triggers off, then whatever they like."""
    with psycopg.connect(superuser_url) as intruder:
        intruder.execute("SET session_replication_role = replica")
        for statement in statements:
            intruder.execute(statement)


def test_chain__untouched__holds_and_leaves_a_checkpoint_inside_and_outside(
    plot: Plot, settings: Settings
) -> None:
    run = sweep_chain(plot.tenant_id, now=NOW)
    assert (run.status, run.note) == ("done", "")
    assert run.scanned == plot.count("memory_auditevent") > 20
    assert plot.count("memory_auditcheckpoint") == 1
    sweep_chain(plot.tenant_id, now=NOW)
    assert plot.count("memory_auditcheckpoint") == 1, "a head that is known already is not kept again"
    assert len(settings.MEMGOV_CHECKPOINT_FILE.read_text().splitlines()) == 1
    assert "the chain holds" in _verify(plot)


def test_chain__one_byte_changed_by_a_superuser__names_the_event(plot: Plot, superuser_url: str) -> None:
    ((event, action),) = plot.look(
        "SELECT id, action FROM memory_auditevent WHERE tenant_id = %(tenant)s AND seq = 17"
    )
    changed = "x" + action[1:]
    _tamper(superuser_url, f"UPDATE memory_auditevent SET action = '{changed}' WHERE id = '{event}'")
    out = StringIO()
    with pytest.raises(CommandError, match="broken"):
        call_command("verify_audit", "--tenant", plot.stage.tenant.slug, stdout=out)
    assert f"evt_{event.hex}" in out.getvalue()
    assert "(changed)" in out.getvalue()
    events = plot.count("memory_auditevent")
    run = sweep_chain(plot.tenant_id, now=NOW)
    assert run.status == "failed"
    assert f"evt_{event.hex}" in run.note
    assert plot.count("memory_auditcheckpoint") == 0, "a broken chain gets no checkpoint"
    assert plot.count("memory_auditevent") == events, "and is left as it is"


def test_chain__tail_and_head_and_rows_cut__the_file_outside_tells(plot: Plot, superuser_url: str) -> None:
    sweep_chain(plot.tenant_id, now=NOW)
    assert audit_verify(plot.tenant_id).report.ok
    own = f"tenant_id = '{plot.tenant_id}'"
    _tamper(
        superuser_url,
        f"DELETE FROM memory_auditevent WHERE {own} AND seq > 15",
        f"UPDATE memory_audithead SET seq = 15, hash = (SELECT hash FROM memory_auditevent WHERE {own} AND seq = 15)"
        f" WHERE {own}",
        f"DELETE FROM memory_auditcheckpoint WHERE {own}",
    )
    report = audit_verify(plot.tenant_id).report
    assert (report.ok, report.problem) == (False, "tail_cut")
    assert "ends at number 15" in report.explanation


def test_chain__tail_cut_but_head_left__is_found_without_any_checkpoint(
    plot: Plot, superuser_url: str
) -> None:
    _tamper(superuser_url, f"DELETE FROM memory_auditevent WHERE tenant_id = '{plot.tenant_id}' AND seq > 15")
    assert audit_verify(plot.tenant_id).report.problem == "tail_cut"


def test_chain__head_moved_back__is_found(plot: Plot, superuser_url: str) -> None:
    own = f"tenant_id = '{plot.tenant_id}'"
    _tamper(
        superuser_url,
        f"UPDATE memory_audithead SET seq = 15, hash = (SELECT hash FROM memory_auditevent WHERE {own} AND seq = 15)"
        f" WHERE {own}",
    )
    report = audit_verify(plot.tenant_id).report
    assert not report.ok
    assert "its head says 15" in report.explanation


def test_chain__another_tenants_checkpoints__say_nothing_about_this_one(plot: Plot) -> None:
    sweep_chain(plot.tenant_id, now=NOW)
    other = Plot()
    assert audit_verify(other.tenant_id).report.ok


def test_chain__no_room_for_the_file__holds_and_says_so(
    plot: Plot, settings: Settings, tmp_path: Path
) -> None:
    settings.MEMGOV_CHECKPOINT_FILE = tmp_path / "checkpoints.jsonl" / "below-a-file"
    (tmp_path / "checkpoints.jsonl").write_text("")
    run = sweep_chain(plot.tenant_id, now=NOW)
    assert run.status == "done"
    assert "could not be kept outside" in run.note


def test_export__verified_without_a_database__finds_change_and_cut(plot: Plot, tmp_path: Path) -> None:
    export = tmp_path / "chain.jsonl"
    _verify(plot, "--export", str(export))
    connections.close_all()
    out = StringIO()
    call_command("verify_audit", "--file", str(export), stdout=out)
    assert "the chain holds" in out.getvalue()

    lines = export.read_text().splitlines(keepends=True)
    export.write_text("".join(lines).replace("memory.expired", "memory.expires", 1))
    with pytest.raises(CommandError, match="broken"):
        call_command("verify_audit", "--file", str(export), stdout=(out := StringIO()))
    assert "BROKEN at evt_" in out.getvalue()
    export.write_text("".join(lines[:-2]))
    with pytest.raises(CommandError, match="broken"):
        call_command("verify_audit", "--file", str(export), stdout=(out := StringIO()))
    assert "tail_cut" in out.getvalue()
    export.write_text("not an export\n")
    with pytest.raises(CommandError, match="no audit export"):
        call_command("verify_audit", "--file", str(export))
