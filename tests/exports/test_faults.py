"""Broken, cut, changed, newer and repeated files; interruptions; secrets older than the scanner; formulas."""

from __future__ import annotations

import csv
import json
import os
import stat
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from psycopg.types.json import Jsonb

from memory.domain.exports import FORMAT, cell
from memory.models import AuditEvent, Job, Memory
from memory.services import tenant_import as importing
from memory.services.memory_write import memory_write
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.write_types import WriteRequest
from memory.store import tenant_rows
from tenants.authentication import authenticate_key
from tenants.context import tenant_context
from tenants.models import Tenant
from tests.exports.files import exported, fresh_slug, imported, rows_by_table, tenant_of
from tests.factories import Stage

SECRET = "ghp_" + "Zk3vT9qLm2XwB7RtY5NcJ8HdPf4GsQ6UeA1o"


def remember(stage: Stage, content: str, **fields: Any) -> Memory:
    fields = {"scope": "project:alpha", "origin": "user_explicit", **fields}
    outcome = memory_write(stage.coder.principal, WriteRequest(content=content, **fields))
    assert outcome.memory is not None, outcome
    return outcome.memory


@pytest.fixture
def file(stage: Stage, tmp_path: Path) -> Path:
    """An export with sixty memories."""
    for number in range(60):
        remember(stage, f"The kiln of hall {number} holds {number + 3} trays of lantern {number * 7}.")
    path = tmp_path / "tenant.jsonl"
    exported(stage, path)
    return path


def memory_line(path: Path, number: int) -> int:
    """The index of the line of this memory."""
    lines = path.read_bytes().splitlines()
    return [at for at, line in enumerate(lines) if line.startswith(b'{"table":"memory_memory"')][number]


def broken(path: Path, at: int, line: bytes) -> None:
    lines = path.read_bytes().splitlines()
    lines[at] = line
    path.write_bytes(b"\n".join(lines) + b"\n")


def tenants() -> int:
    return Tenant.objects.count()


@pytest.mark.parametrize(
    "line", [b"{", b"[1]", b'"x"', b"\xff\xfe", b"", b'{"table":"auth_user","row":{}}', b'{"table":"memory_memory"}',
             b'{"a":' * 5000],
)  # fmt: skip
def test_broken_line__is_named_and_nothing_is_imported(file: Path, line: bytes) -> None:
    at = memory_line(file, 7)
    broken(file, at, line)
    before = tenants()
    with pytest.raises(CommandError, match=rf"line {at + 1}: .* nothing was imported"):
        imported(file)
    assert tenants() == before


def test_broken_line__skipped_on_request__the_rest_is_imported(file: Path) -> None:
    at = memory_line(file, 56)
    broken(file, at, b'{"table": "memory_memory", "row": {"id": ')
    answer = imported(file, "--skip-broken")
    assert answer["rows"]["memory_memory"] == 59
    lines = {one["line"] for one in answer["skipped"]}
    assert at + 1 in lines and len(lines) == 2, "and the revision of the memory that did not come"
    with tenant_context(tenant_of(answer).id):
        assert Memory.objects.count() == 59


def test_row_that_does_not_fit__names_its_line_and_leaves_no_tenant(file: Path) -> None:
    at = memory_line(file, 3)
    lines = file.read_bytes().splitlines()
    row = json.loads(lines[at])
    row["row"]["confidence"] = "high"
    _rewritten(file, at, json.dumps(row).encode())
    before = tenants()
    with pytest.raises(CommandError, match=rf"line {at + 1}: .* nothing was imported"):
        imported(file)
    assert tenants() == before


def _rewritten(path: Path, at: int, line: bytes) -> None:
    """Change a line and give the file a digest that fits: as somebody would who wants it imported."""
    import hashlib

    lines = path.read_bytes().splitlines()
    lines[at] = line
    end = json.loads(lines[-1])
    end["sha256"] = hashlib.sha256(b"\n".join(lines[:-1]) + b"\n").hexdigest()
    lines[-1] = json.dumps(end).encode()
    path.write_bytes(b"\n".join(lines) + b"\n")


def test_changed_and_cut_files__are_refused(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"holds 3 trays", b"holds 4 trays"))
    with pytest.raises(CommandError, match="digest"):
        imported(file)
    file.write_bytes(b"\n".join(whole.splitlines()[:-1]))
    with pytest.raises(CommandError, match="cut off"):
        imported(file)
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CommandError, match=r"cut off|JSON"):
        imported(file)
    file.write_bytes(whole + b"{}\n")
    with pytest.raises(CommandError, match="after the end"):
        imported(file)


@pytest.mark.parametrize(
    ("heading", "said"),
    [
        ({"format": "other"}, "does not begin"),
        ({"format": FORMAT, "version": 2}, "version 2"),
        ({"format": FORMAT, "version": 1}, "lacks"),
        (
            {"format": FORMAT, "version": 1, "tenant": {"slug": "x"}, "columns": {"memory_memory": ["new"]}},
            "newer",
        ),
        ({"format": FORMAT, "version": 1, "tenant": {"slug": "x"}, "columns": {"memory_new": []}}, "newer"),
    ],
)
def test_other_formats_and_versions__say_so(
    tmp_path: Path, heading: dict[str, Any], said: str, database: None
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(heading) + "\n", encoding="utf-8")
    with pytest.raises(CommandError, match=said):
        imported(path)


@pytest.mark.parametrize("content", [b"", b"\x00\x01", b"id,content\n1,x\n", b"[]"])
def test_other_files__say_so(tmp_path: Path, content: bytes, database: None) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(CommandError):
        imported(path)
    with pytest.raises(CommandError, match="No such file"):
        imported(tmp_path / "none")


def test_the_same_file_again__adds_nothing(file: Path) -> None:
    first = imported(file)
    again = imported(file, slug=first["tenant"])
    assert (again["known"], again["added"], again["rows"]) == (True, 0, {})
    with tenant_context(tenant_of(first).id):
        assert Memory.objects.count() == 60
        assert AuditEvent.objects.filter(action="tenant.imported").count() == 1


def test_slug_of_another_tenant__is_refused(file: Path, stage: Stage) -> None:
    for options in ((), ("--dry-run",)):
        with pytest.raises(CommandError, match="already"):
            imported(file, *options, slug=stage.tenant.slug)


def test_interrupted_import__goes_on_where_it_stood(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slug, insert, calls = fresh_slug(), tenant_rows.insert, [0]
    monkeypatch.setattr(importing, "BATCH", 25)

    def dies(table: str, rows: Any) -> None:
        calls[0] += 1
        if calls[0] > 9:
            raise KeyboardInterrupt
        insert(table, rows)

    monkeypatch.setattr(tenant_rows, "insert", dies)
    with pytest.raises(KeyboardInterrupt):
        imported(file, slug=slug)
    half = Tenant.objects.get(slug=slug)
    assert half.status == Tenant.Status.SUSPENDED, "nobody uses half a tenant"
    with tenant_context(half.id):
        job = Job.objects.get(kind="tenant_import")
        assert 0 < job.done < job.total
    monkeypatch.setattr(tenant_rows, "insert", insert)
    answer = imported(file, slug=slug)
    assert answer["chain_holds"] is True and answer["skipped"] == []
    with tenant_context(half.id):
        assert Memory.objects.count() == 60
    again = file.with_name("again.jsonl")
    from memory.services.tenant_export import tenant_export
    from tenants.principals import system

    tenant_export(system(half.id, "test"), Tenant.objects.get(slug=slug), again)
    assert rows_by_table(again)["memory_revision"] == rows_by_table(file)["memory_revision"]


def test_dry_runs__change_nothing(file: Path, stage: Stage, tmp_path: Path) -> None:
    before = tenants()
    answer = imported(file, "--dry-run")
    assert (answer["added"], answer["rows"]["memory_memory"], tenants()) == (0, 60, before)
    with stage.context():
        events = AuditEvent.objects.count()
    out = tmp_path / "never.jsonl"
    said = exported(stage, out, "--dry-run")
    assert said["rows"]["memory_memory"] == 60 and not out.exists()
    with stage.context():
        assert AuditEvent.objects.count() == events


def test_secret_older_than_the_scanner__leaves_blanked_out(
    stage: Stage, tmp_path: Path, superuser_url: str
) -> None:
    memory = remember(
        stage, "The token of the shade-store is kept by the desk.", metadata={"note": "as agreed"}
    )
    text = f"The token of the shade-store is {SECRET}, kept by the desk."
    with psycopg.connect(superuser_url) as admin:  # as a row that was written before there was a scanner
        admin.execute(
            "UPDATE memory_memory SET content = %s, metadata = %s WHERE tenant_id = %s AND id = %s",
            [text, Jsonb({"note": {"deep": [SECRET]}}), stage.tenant.id, memory.id],
        )
    path = tmp_path / "a.jsonl"
    assert exported(stage, path, "--dry-run")["secrets"] == 2
    assert exported(stage, path)["secrets"] == 2
    assert SECRET not in path.read_text(encoding="utf-8")
    there = tenant_of(imported(path))
    with tenant_context(there.id):
        row = Memory.objects.get(id=memory.id)
    assert "[REDACTED:" in row.content and "[REDACTED:" in row.metadata["note"]["deep"][0]


def test_secret_in_a_file__is_blanked_out_on_the_way_in(file: Path) -> None:
    at = memory_line(file, 0)
    row = json.loads(file.read_bytes().splitlines()[at])
    row["row"]["content"] = f"The token of the shade-store is {SECRET}, kept by the desk."
    _rewritten(file, at, json.dumps(row).encode())
    assert imported(file, "--dry-run")["secrets"] == 1
    answer = imported(file)
    with tenant_context(tenant_of(answer).id):
        assert not Memory.objects.filter(content__contains=SECRET).exists()
        assert Memory.objects.filter(content__contains="[REDACTED:").count() == 1


def test_csv__formulas_are_text_and_every_memory_is_a_row(stage: Stage, tmp_path: Path) -> None:
    for text in (
        '=HYPERLINK("http://example.test","pay here") is what the form said',
        "+49 is the country code of the north desk",
        "-5 degrees is the limit of the glue in hall two",
        "@desk is the handle of the refund desk in the chat",
    ):
        remember(stage, text, metadata={"k": "=1+1"}, tags=["=tag"])
    path = tmp_path / "m.csv"
    assert exported(stage, path, "--format", "csv")["rows"] == {"memory_memory": 4}
    rows = list(csv.DictReader(path.open(encoding="utf-8", newline="")))
    assert len(rows) == 4
    for row in rows:
        for value in row.values():
            assert not value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")), value
    assert {row["content"][:2] for row in rows} == {"'=", "'+", "'-", "'@"}
    assert all(row["id"].startswith("mem_") for row in rows)
    with stage.context():
        last = AuditEvent.objects.order_by("-seq").first()
    assert last is not None and (last.action, last.after) == ("tenant.exported", {"format": "csv"})


@pytest.mark.parametrize(
    "text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "＝1", "\ufeff=1", "=cmd|' /C calc'!A0"]
)
def test_cell__what_a_spreadsheet_would_execute__gets_an_apostrophe(text: str) -> None:
    assert cell(text) == "'" + text


@pytest.mark.parametrize("value", ["a=1", "1-2", "", 3, -3, None, True])
def test_cell__anything_else__stays(value: Any) -> None:
    assert cell(value) == value


def test_file__is_for_its_owner_and_there_only_when_whole(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    exported(stage, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    good = path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        exported(stage, path)
    assert path.read_bytes() == good and [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]
    monkeypatch.undo()
    with pytest.raises(CommandError, match="cannot be written"):
        exported(stage, tmp_path / "none" / "a.jsonl")


@pytest.mark.parametrize("laid", ["file", "link"])
def test_part__that_lies_there__neither_followed_nor_overwritten(
    stage: Stage, tmp_path: Path, laid: str
) -> None:
    victim, part = tmp_path / "victim", tmp_path / "a.jsonl.part"
    victim.write_text("mine")
    part.symlink_to(victim) if laid == "link" else part.write_text("mine")
    with pytest.raises(CommandError, match="Remove it first"):
        exported(stage, tmp_path / "a.jsonl")
    assert (victim.read_text(), part.read_text(), (tmp_path / "a.jsonl").exists()) == ("mine", "mine", False)


def test_broken_chain__imported_and_told_by_the_exit_code(file: Path) -> None:
    lines = file.read_bytes().splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith(b'{"table":"memory_auditevent"'))
    row = json.loads(lines[at])
    row["row"]["actor_name"] = "somebody else"
    _rewritten(file, at, json.dumps(row).encode())
    slug = fresh_slug()
    for _again in range(2):
        with pytest.raises(CommandError, match="the audit chain does NOT hold") as refused:
            call_command("import", str(file), "--slug", slug)
        assert refused.value.returncode == 1
    assert Tenant.objects.filter(slug=slug).exists(), "what came is there to be looked at"


def test_hostile_export__grants_nothing_beyond_its_own_tenant(file: Path, stage: Stage) -> None:
    """A file that names another tenant's id in its rows still lands in its own."""
    at = memory_line(file, 0)
    row = json.loads(file.read_bytes().splitlines()[at])
    row["row"]["tenant_id"] = str(stage.tenant.id)
    _rewritten(file, at, json.dumps(row).encode())
    answer = imported(file)
    with stage.context():
        assert Memory.objects.count() == 60
    with tenant_context(tenant_of(answer).id):
        assert Memory.objects.count() == 60
    found = memory_retrieve(authenticate_key(stage.coder.key_text), RetrieveRequest(query="kiln of hall 7"))
    assert found.entries
