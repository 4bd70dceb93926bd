"""`replace`: a person vouches for a file; its values take the place of live ones, audited and undone with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memory.importers import open_store
from memory.models import AuditEvent, Contradiction, Memory
from memory.services import foreign_import_undo as foreign_import_undo_module
from memory.services.audit_verify import audit_verify
from memory.services.candidate_admit import candidate_admit
from memory.services.errors import Denied, Invalid
from memory.services.foreign_import import Imported, foreign_import
from memory.services.foreign_import_undo import TakenBack, foreign_import_undo
from memory.services.memory_edit import memory_edit
from memory.services.memory_write import memory_write
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.retention import memory_delete, memory_pin
from memory.services.write_types import WriteRequest
from tenants.principals import system
from tests.audit.test_import import written
from tests.factories import Stage, make_tenant
from tests.killed import Killed

pytestmark = pytest.mark.usefixtures("database")

SCOPE = "user:42"
FILE = "- Lives in Oslo\n- Drinks tea without sugar\n- ok\n"


@pytest.fixture
def stage(database: None) -> Stage:
    """A tenant that holds where somebody lives, by a person's word."""
    made = make_tenant()
    known(made, "Lives in Bern")
    return made


def known(stage: Stage, text: str) -> Memory:
    outcome = memory_write(
        stage.coder.principal, WriteRequest(content=text, scope=SCOPE, origin="user_explicit")
    )
    assert outcome.memory is not None
    return outcome.memory


def vouched(stage: Stage, path: Path, **how: object) -> Imported:
    parts = open_store(path).parts()
    return foreign_import(stage.reviewer.principal, parts, scope=SCOPE, on_conflict="replace", **how)  # type: ignore[arg-type]


def undone(stage: Stage, path: Path, **how: bool) -> TakenBack:
    return foreign_import_undo(
        system(stage.tenant.id, "import"), open_store(path).parts(), scope=SCOPE, **how
    )


def statuses(stage: Stage) -> dict[str, str]:
    with stage.context():
        return dict(Memory.objects.values_list("content", "status"))


def test_replace__other_value__takes_the_live_ones_place(stage: Stage, tmp_path: Path) -> None:
    result = vouched(stage, written(tmp_path, FILE))
    assert dict(result.counts) == {"replaced": 1, "held": 1, "rejected": 1}
    assert result.added == 2
    assert statuses(stage) == {
        "Lives in Bern": "superseded", "Lives in Oslo": "live", "Drinks tea without sugar": "candidate",
    }  # fmt: skip
    with stage.context():
        old, new = Memory.objects.get(content="Lives in Bern"), Memory.objects.get(content="Lives in Oslo")
        assert old.superseded_by == new.id and new.metadata["import"]["pointer"] == "line 1"
        assert (new.trust, new.confidence) > (0.0, 0.0), "a person's word lifts it to the floors of its scope"
        pair = Contradiction.objects.get()
        assert (pair.status, pair.resolution, pair.resolved_by) == (
            "settled", "keep_b", stage.reviewer.principal.name,
        )  # fmt: skip
        actions = list(
            AuditEvent.objects.filter(target_kind="contradiction")
            .order_by("seq")
            .values_list("action", flat=True)
        )
        assert actions == ["contradiction.opened", "contradiction.settled"]
        event = AuditEvent.objects.get(action="memory.superseded")
        assert (event.actor_kind, event.reason) == (
            "member",
            "replaced by an import that a person vouches for",
        )
    found = memory_retrieve(
        stage.coder.principal, RetrieveRequest(query="where does 42 live?", scopes=(SCOPE,))
    )
    assert "Oslo" in found.block and "Bern" not in found.block


def test_replace__dry_run__says_how_many_and_changes_nothing(stage: Stage, tmp_path: Path) -> None:
    path, before = written(tmp_path, FILE), statuses(stage)
    dry = vouched(stage, path, dry_run=True)
    assert (dry.counts["replaced"], dry.dry_run) == (1, True)
    assert statuses(stage) == before
    with stage.context():
        assert not Contradiction.objects.exists()
    assert vouched(stage, path).counts == dry.counts


def test_replace__pinned__stays_and_a_person_sees_both(stage: Stage, tmp_path: Path) -> None:
    with stage.context():
        row = Memory.objects.get()
    memory_pin(stage.reviewer.principal, row.id, "checked", version=row.version)
    result = vouched(stage, written(tmp_path, "Lives in Oslo"))
    assert dict(result.counts) == {"held": 1}
    assert statuses(stage) == {"Lives in Bern": "live", "Lives in Oslo": "candidate"}
    with stage.context():
        assert Contradiction.objects.get().status == "open"


def test_replace__two_values_in_one_file__the_last_one_lives(stage: Stage, tmp_path: Path) -> None:
    path = written(tmp_path, "Lives in Oslo\nMoved to Turin\n")
    assert vouched(stage, path).counts["replaced"] == 2
    assert statuses(stage) == {
        "Lives in Bern": "superseded",
        "Lives in Oslo": "superseded",
        "Moved to Turin": "live",
    }


def test_undo__gives_the_place_back(stage: Stage, tmp_path: Path) -> None:
    path = written(tmp_path, FILE)
    vouched(stage, path)
    dry = undone(stage, path, dry_run=True)
    assert (dry.removed, dry.restored, dry.stayed) == (2, 1, 0)
    assert statuses(stage)["Lives in Oslo"] == "live"
    back = undone(stage, path)
    assert (back.removed, back.restored, back.stayed) == (2, 1, 0)
    assert statuses(stage) == {
        "Lives in Bern": "live", "Lives in Oslo": "deleted", "Drinks tea without sugar": "deleted",
    }  # fmt: skip
    found = memory_retrieve(
        stage.coder.principal, RetrieveRequest(query="where does 42 live?", scopes=(SCOPE,))
    )
    assert "Bern" in found.block
    again = undone(stage, path)
    assert (again.removed, again.restored, again.stayed) == (0, 0, 0)
    assert vouched(stage, path).counts["replaced"] == 1, "and it comes in again"


def chain(*places: str) -> str:
    return "".join(f"- Lives in {place}\n" for place in places)


def open_pairs(stage: Stage) -> int:
    with stage.context():
        return Contradiction.objects.filter(status="open").count()


def test_undo__several_values_of_one_fact__gives_the_place_back_through_all_of_them(
    stage: Stage, tmp_path: Path
) -> None:
    path = written(tmp_path, chain("Oslo", "Rome", "Turin"))
    assert vouched(stage, path).counts["replaced"] == 3
    before = statuses(stage)
    assert undone(stage, path, dry_run=True) == TakenBack(True, removed=3, restored=1)
    assert statuses(stage) == before
    assert undone(stage, path) == TakenBack(False, removed=3, restored=1)
    assert statuses(stage) == {
        "Lives in Bern": "live",
        **dict.fromkeys(("Lives in Oslo", "Lives in Rome", "Lives in Turin"), "deleted"),
    }
    assert open_pairs(stage) == 0
    assert undone(stage, path) == TakenBack(False)
    assert vouched(stage, path).counts["replaced"] == 3
    assert undone(stage, path).restored == 1 and statuses(stage)["Lives in Bern"] == "live"
    assert audit_verify(stage.tenant.id).report.ok


def test_undo__of_one_import_and_then_of_the_one_before__gives_the_first_value_back(
    stage: Stage, tmp_path: Path
) -> None:
    first, second = (tmp_path / name for name in ("first.md", "second.md"))
    first.write_text(chain("Oslo"))
    second.write_text(chain("Rome"))
    vouched(stage, first)
    vouched(stage, second)
    assert undone(stage, first) == TakenBack(False, stayed=1), "the other import's value has its place"
    assert undone(stage, second) == TakenBack(False, removed=1, restored=1)
    assert statuses(stage)["Lives in Oslo"] == "live"
    assert undone(stage, first) == TakenBack(False, removed=1, restored=1)
    assert statuses(stage)["Lives in Bern"] == "live" and open_pairs(stage) == 0


def test_undo__several_values__one_in_between_changed_since__is_kept_with_what_is_before_it(
    stage: Stage, tmp_path: Path
) -> None:
    path = written(tmp_path, chain("Oslo", "Rome"))
    vouched(stage, path)
    with stage.context():
        row = Memory.objects.get(content="Lives in Bern")
    memory_delete(stage.reviewer.principal, row.id, "wrong anyway", version=row.version)
    dry = undone(stage, path, dry_run=True)
    assert (dry.removed, dry.stayed, dry.restored) == (1, 1, 1)
    assert undone(stage, path) == TakenBack(False, removed=1, stayed=1, restored=1)
    assert statuses(stage) == {
        "Lives in Bern": "deleted", "Lives in Oslo": "live", "Lives in Rome": "deleted",
    }  # fmt: skip


def test_undo__lost_between_two_values__goes_on(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, chain("Oslo", "Rome"))
    vouched(stage, path)
    real, calls = foreign_import_undo_module._reverted, []

    def dying(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 2:
            raise Killed
        return real(*given)

    monkeypatch.setattr(foreign_import_undo_module, "_reverted", dying)
    with pytest.raises(Killed):
        undone(stage, path)
    assert statuses(stage)["Lives in Oslo"] == "live"
    monkeypatch.undo()
    assert undone(stage, path).restored == 1
    assert statuses(stage)["Lives in Bern"] == "live"


def test_undo__pair_of_a_row_that_waits__leaves_the_queue_with_it(stage: Stage, tmp_path: Path) -> None:
    path = written(tmp_path, chain("Oslo"))
    parts = open_store(path).parts()
    foreign_import(stage.reviewer.principal, parts, scope=SCOPE)
    assert open_pairs(stage) == 1
    undone(stage, path, dry_run=True)
    assert open_pairs(stage) == 1
    assert undone(stage, path).removed == 1
    with stage.context():
        assert Contradiction.objects.get().resolution == "moot"
    assert statuses(stage) == {"Lives in Bern": "live", "Lives in Oslo": "deleted"}


def _edited(stage: Stage, row: Memory) -> None:
    memory_edit(stage.reviewer.principal, row.id, {"tags": ["home"]}, version=row.version)


def _replaced(stage: Stage, row: Memory) -> None:
    known(stage, "Lives in Turin")


@pytest.mark.parametrize("since", [_edited, _replaced])
def test_undo__changed_since__stays(
    stage: Stage, tmp_path: Path, since: Callable[[Stage, Memory], None]
) -> None:
    path = written(tmp_path, "Lives in Oslo")
    vouched(stage, path)
    with stage.context():
        row = Memory.objects.get(content="Lives in Oslo")
    since(stage, row)
    before = statuses(stage)
    back = undone(stage, path)
    assert (back.removed, back.restored, back.stayed) == (0, 0, 1)
    assert statuses(stage) == before


def test_undo__what_a_reviewer_admitted__is_no_replacement_and_stays(stage: Stage, tmp_path: Path) -> None:
    path = written(tmp_path, FILE)
    vouched(stage, path)
    with stage.context():
        row = Memory.objects.get(status="candidate")
    candidate_admit(stage.reviewer.principal, row.id, "checked", version=row.version)
    back = undone(stage, path)
    assert (back.removed, back.restored, back.stayed) == (1, 1, 1)
    assert statuses(stage)["Drinks tea without sugar"] == "live"


def test_replace__by_whom_it_is_not_for__refused_before_anything_is_read(
    stage: Stage, tmp_path: Path
) -> None:
    path, before = written(tmp_path, FILE), statuses(stage)
    auditor = replace(stage.reviewer.principal, role="auditor")
    parts = open_store(path).parts()
    with pytest.raises(Denied):
        foreign_import(auditor, parts, scope=SCOPE, on_conflict="replace")
    with pytest.raises(Invalid, match="person"):
        foreign_import(system(stage.tenant.id, "import"), parts, scope=SCOPE, on_conflict="replace")
    assert statuses(stage) == before


def test_command__replace_as_a_member__and_its_undo(
    stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tenants.models import Membership

    with stage.context():
        email = Membership.objects.filter(role="reviewer").values_list("email", flat=True).get()
    path = written(tmp_path, FILE)
    how = ["audit", str(path), "--import", "--tenant", stage.tenant.slug, "--scope", SCOPE]
    with pytest.raises(CommandError, match="person"):
        call_command(*how, "--on-conflict", "replace")
    with pytest.raises(CommandError, match="no member"):
        call_command(*how, "--on-conflict", "replace", "--as", "nobody@example.test")
    assert statuses(stage) == {"Lives in Bern": "live"}
    call_command(*how, "--on-conflict", "replace", "--as", email)
    assert "1 took the place of a live memory's value" in capsys.readouterr().out
    call_command(*how, "--undo", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["removed"], told["restored"]) == (2, 1)
    assert statuses(stage)["Lives in Bern"] == "live"
