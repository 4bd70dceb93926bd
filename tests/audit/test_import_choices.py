"""What an operator chooses of an import: what becomes of conflicts, and taking the whole import back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from memory.domain.scopes import parse_scope
from memory.importers import ForeignRecord, open_store
from memory.models import AuditEvent, Contradiction, Memory
from memory.services.candidate_admit import candidate_admit
from memory.services.foreign_import import key_of
from memory.services.memory_write import memory_write
from memory.services.write_types import WriteRequest
from tests.audit.test_import import LINES, bring_in, written
from tests.factories import Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def stage(database: None) -> Stage:
    return make_tenant()


def undone(stage: Stage, path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, object]:
    call_command("audit", str(path), "--import", "--undo", "--tenant", stage.tenant.slug, "--json", *more)
    answer: dict[str, object] = json.loads(capsys.readouterr().out)
    return answer


def statuses(stage: Stage) -> dict[str, str]:
    with stage.context():
        return dict(Memory.objects.values_list("content", "status"))


def test_conflict__skipped_on_request__left_out_and_named(stage: Stage, tmp_path: Path) -> None:
    known = {"subject": "user:42", "predicate": "residence", "scope": "user:42", "origin": "user_explicit"}
    memory_write(stage.coder.principal, WriteRequest(content="", value="Bern", **known))
    rows = [
        {"s": "user:42", "p": "residence", "v": "Oslo"},
        {"s": "user:42", "p": "favourite_tea", "v": "Lapsang"},
    ]
    path = written(tmp_path, "\n".join(map(json.dumps, rows)), "rows.jsonl")
    mapping = written(tmp_path, "subject: s\npredicate: p\nvalue: v\n", "mapping.yaml")
    how = [
        str(path),
        "--mapping",
        str(mapping),
        "--import",
        "--scope",
        "user:42",
        "--tenant",
        stage.tenant.slug,
    ]
    call_command("audit", *how, "--on-conflict", "skip")
    assert {one.split(": ")[-1]: status for one, status in statuses(stage).items()} == {
        "Bern": "live",
        "Lapsang": "candidate",
    }
    with stage.context():
        assert not Contradiction.objects.exists()
        assert AuditEvent.objects.filter(action="write.rejected", reason="conflict").count() == 1
    call_command("audit", *how)
    with stage.context():
        assert Contradiction.objects.filter(kind="conflict").count() == 1, "a person sees both"


def test_undo__what_waits_goes_and_comes_in_again(
    stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, LINES)
    bring_in(stage, path, scope="project:alpha")
    where = ("--scope", "project:alpha")
    dry = undone(stage, path, capsys, *where, "--dry-run")
    assert (dry["removed"], dry["dry_run"]) == (3, True)
    assert "deleted" not in statuses(stage).values()
    assert undone(stage, path, capsys, *where)["removed"] == 3
    assert set(statuses(stage).values()) == {"deleted"}
    with stage.context():
        events = AuditEvent.objects.filter(action="memory.deleted", reason="the import was taken back")
        assert events.count() == 3
    again = undone(stage, path, capsys, *where)
    assert (again["removed"], again["stayed"]) == (0, 0), (
        "what an undo took is nothing that somebody decided on"
    )
    assert bring_in(stage, path, scope="project:alpha").added == 3


def test_undo__what_a_person_admitted_stays(
    stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, LINES)
    bring_in(stage, path, scope="project:alpha")
    with stage.context():
        row = Memory.objects.get(content="Prefers window seats on night trains")
    candidate_admit(stage.reviewer.principal, row.id, "checked", version=row.version)
    answer = undone(stage, path, capsys, "--scope", "project:alpha")
    assert (answer["removed"], answer["stayed"]) == (2, 1)
    assert statuses(stage)["Prefers window seats on night trains"] == "live"
    assert bring_in(stage, path, scope="project:alpha").counts["known"] == 2  # with its repetition


@pytest.mark.parametrize("forged", ["import:xyz", "import:" + "f" * 40, "import:", "import:-1", None])
def test_import_and_undo__beside_an_agents_forged_key__go_by_what_was_imported(
    stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str], forged: str | None
) -> None:
    """`input_hash` is free text of whoever writes."""
    path = written(tmp_path, "- The press halls of the north wing open at seven\n")
    (part,) = open_store(path).parts()
    (record,) = part.items
    assert isinstance(record, ForeignRecord)
    scope = parse_scope("project:alpha")
    memory_write(
        stage.coder.principal,
        WriteRequest(
            content="Deliveries come before noon.", scope="project:alpha", origin="user_explicit", tool="import",
            input_hash=f"import:{key_of(record, scope):016x}" if forged is None else forged,
        ),
    )  # fmt: skip
    assert bring_in(stage, path, scope="project:alpha").counts["held"] == 1
    answer = undone(stage, path, capsys, "--scope", "project:alpha")
    assert (answer["removed"], answer["stayed"]) == (1, 0)
    left = {one: status for one, status in statuses(stage).items() if one.startswith("Deliveries")}
    assert list(left.values()) == ["live"]


def test_undo__of_another_file_or_tenant__touches_nothing(
    stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, other = written(tmp_path, LINES), make_tenant()
    bring_in(stage, path)
    memory_write(
        stage.coder.principal,
        WriteRequest(content="The press halls open at eight", scope="project:alpha", origin="user_explicit"),
    )
    before = statuses(stage)
    elsewhere = written(tmp_path, "- The press halls open at eight\n", "other.txt")
    assert undone(stage, elsewhere, capsys)["removed"] == 0
    assert undone(other, path, capsys)["removed"] == 0
    assert statuses(stage) == before


def test_undo__no_scope__refused(stage: Stage, tmp_path: Path) -> None:
    path = written(tmp_path, LINES)
    with pytest.raises(CommandError, match="scope"):
        call_command(
            "audit", str(path), "--import", "--undo", "--tenant", stage.tenant.slug, "--scope", "nowhere"
        )
