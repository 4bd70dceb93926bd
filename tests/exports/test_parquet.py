"""Parquet, with the real pyarrow, which is an extra: it is lent from the environment of the agents' frameworks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from memory.models import AuditEvent
from memory.services.memory_write import memory_write
from memory.services.write_types import WriteRequest
from tests.exports.files import exported, rows_by_table
from tests.factories import Stage

ROOT = Path(__file__).resolve().parents[2]
READ = """
import json, sys, pyarrow.parquet as p
table = p.read_table(sys.argv[1])
print(json.dumps({"rows": table.to_pylist(), "types": {f.name: str(f.type) for f in table.schema}}, default=str))
"""


@pytest.fixture
def lent(tmp_path: Path) -> Path:
    """A folder with nothing but pyarrow, for PYTHONPATH."""
    subprocess.run(["sh", "scripts/client_environments.sh"], cwd=ROOT, check=True, capture_output=True)
    (packages,) = (ROOT / "client" / ".venvs" / "agents" / "lib").glob("python*/site-packages")
    folder = tmp_path / "lent"
    folder.mkdir()
    (folder / "pyarrow").symlink_to(packages / "pyarrow")
    for libraries in packages.glob("pyarrow.libs"):
        (folder / libraries.name).symlink_to(libraries)
    return folder


def test_parquet__has_every_memory_with_types(stage: Stage, tmp_path: Path, lent: Path) -> None:
    for text in ("The kiln of hall two holds nine trays.", "=1+1 is what the form of the press said."):
        fields = {
            "scope": "project:alpha",
            "origin": "user_explicit",
            "tags": ["a", "b"],
            "metadata": {"k": [1]},
        }
        memory_write(stage.coder.principal, WriteRequest(content=text, **fields))
    path, lines = tmp_path / "m.parquet", tmp_path / "m.jsonl"
    environment = {**os.environ, "PYTHONPATH": str(lent)}
    command = [
        "manage.py",
        "export",
        str(path),
        "--tenant",
        stage.tenant.slug,
        "--format",
        "parquet",
        "--json",
    ]
    for arguments in (command, ["-c", READ, str(path)]):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    exported(stage, lines)
    wanted = {f"mem_{row['id'].replace('-', '')}": row for row in rows_by_table(lines)["memory_memory"]}
    assert {row["id"] for row in read["rows"]} == set(wanted)
    for row in read["rows"]:
        source = wanted[row["id"]]
        assert (row["content"], row["tags"], row["confidence"], row["version"]) == (
            source["content"], source["tags"], source["confidence"], source["version"],
        )  # fmt: skip
        assert json.loads(row["metadata"]) == source["metadata"]
    types = read["types"]
    assert (types["recorded_at"], types["use_count"], types["trust"]) == (
        "timestamp[us, tz=UTC]",
        "int64",
        "double",
    )
    assert "value_hash" not in types


def test_parquet__without_pyarrow__says_what_to_install_and_exports_nothing(
    stage: Stage, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match=r"memgov-server\[parquet\]"):
        exported(stage, tmp_path / "m.parquet", "--format", "parquet")
    assert not list(tmp_path.iterdir())
    with stage.context():
        assert not AuditEvent.objects.filter(action="tenant.exported").exists()
