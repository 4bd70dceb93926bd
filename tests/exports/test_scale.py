"""Many rows: streamed both ways, in bounded memory.

Two thousand by default; `MEMGOV_TEST_EXPORT_ROWS=100000` runs the size that the field reports name (97 MB to export,
78 of them for a command that does nothing).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from memory.models import Memory
from memory.services.memory_write import memory_write
from memory.services.write_types import WriteRequest
from tenants.context import tenant_context
from tenants.models import Tenant
from tests.exports.files import exported, fresh_slug
from tests.factories import Stage

ROWS = int(os.environ.get("MEMGOV_TEST_EXPORT_ROWS", "2000"))
MOST_MORE = 60
"""Megabytes beyond what a command takes that does nothing; what it loads differs from machine to machine."""
ROOT = Path(__file__).resolve().parents[2]
MEASURED = """
import re, sys, django
django.setup()
from django.core.management import call_command
call_command(*sys.argv[1:])
status = open("/proc/self/status").read()  # not getrusage: that begins with what the parent had
print(int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) // 1024)
"""


linux = pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")


def measured(*arguments: str) -> int:
    """Run a command in a process of its own; the most memory that it took, in MB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return int(done.stdout.splitlines()[-1])


@pytest.fixture
def many(stage: Stage, superuser_url: str) -> Stage:
    """A tenant with so many memories; all but the first put there by hand, to save an hour."""
    first = memory_write(
        stage.coder.principal,
        WriteRequest(
            content="The kiln of hall 0 holds trays.", scope="project:alpha", origin="user_explicit"
        ),
    ).memory
    assert first is not None
    with psycopg.connect(superuser_url) as admin:
        admin.execute(
            "INSERT INTO memory_memory SELECT (jsonb_populate_record(m, jsonb_build_object('id', gen_random_uuid(),"
            " 'content', 'The kiln of hall ' || n || ' holds ' || n * 7 || ' trays of lanterns for the boat fair.',"
            " 'value_hash', '\\x' || encode(sha256(n::text::bytea), 'hex')))).*"
            " FROM memory_memory m, generate_series(1, %s) n WHERE m.tenant_id = %s",
            [ROWS - 1, stage.tenant.id],
        )
    return stage


@linux
def test_many_rows__go_out_within_bounded_memory(many: Stage, tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    took, idle = measured("export", str(path), "--tenant", many.tenant.slug), measured("tenant", "list")
    with path.open("rb") as file:
        file.seek(-4096, os.SEEK_END)
        last = file.read().splitlines()[-1]
    assert json.loads(last)["counts"]["memory_memory"] == ROWS
    print(f"{ROWS} rows: {took} MB to export, {idle} MB for a command that does nothing")
    assert took - idle < MOST_MORE


@linux
def test_many_rows__come_in_within_bounded_memory(many: Stage, tmp_path: Path) -> None:
    path, slug = tmp_path / "many.jsonl", fresh_slug()
    exported(many, path)
    took, idle = measured("import", str(path), "--slug", slug), measured("tenant", "list")
    print(f"{ROWS} rows: {took} MB to import, {idle} MB for a command that does nothing")
    assert took - idle < MOST_MORE
    with tenant_context(Tenant.objects.get(slug=slug).id):
        assert Memory.objects.count() == ROWS
