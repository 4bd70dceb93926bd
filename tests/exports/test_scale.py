"""Many rows: streamed both ways, in bounded memory.

Two thousand by default; `MEMGOV_TEST_EXPORT_ROWS=100000` runs the size that the field reports name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg

from memory.models import Memory
from memory.services.memory_write import memory_write
from memory.services.write_types import WriteRequest
from tenants.context import tenant_context
from tenants.models import Tenant
from tests.exports.files import fresh_slug
from tests.factories import Stage

ROWS = int(os.environ.get("MEMGOV_TEST_EXPORT_ROWS", "2000"))
MOST_MORE = 60
"""Megabytes beyond what a command takes that does nothing; what it loads differs from machine to machine."""
ROOT = Path(__file__).resolve().parents[2]
MEASURED = """
import resource, sys, django
django.setup()
from django.core.management import call_command
call_command(*sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def measured(*arguments: str) -> int:
    """Run a command in a process of its own; the most memory that it took, in MB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return int(done.stdout.splitlines()[-1])


def test_many_rows__go_out_and_in_within_bounded_memory(
    stage: Stage, tmp_path: Path, superuser_url: str
) -> None:
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
    path, slug = tmp_path / "many.jsonl", fresh_slug()
    out = measured("export", str(path), "--tenant", stage.tenant.slug)
    with path.open("rb") as file:
        file.seek(-4096, os.SEEK_END)
        last = file.read().splitlines()[-1]
    assert json.loads(last)["counts"]["memory_memory"] == ROWS
    came = measured("import", str(path), "--slug", slug)
    idle = measured("tenant", "list")
    print(f"{ROWS} rows: {out} MB to export, {came} MB to import, {idle} MB for a command that does nothing")
    assert out - idle < MOST_MORE and came - idle < MOST_MORE
    with tenant_context(Tenant.objects.get(slug=slug).id):
        assert Memory.objects.count() == ROWS
