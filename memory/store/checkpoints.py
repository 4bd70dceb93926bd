"""Checkpoints of the audit chain: a row in the database, and a line in a file outside it.

Whoever can write tables can cut the chain and the row together; the file is what then tells.  One line is one
JSON object of tenant, seq, hash (hex) and at.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from uuid import UUID

from memgov.ids import new_id
from memory.domain.audit_chain import Checkpoint
from memory.models import AuditCheckpoint
from tenants.context import current_tenant_id


def insert(point: Checkpoint, now: datetime) -> None:
    """Keep the head in the database, unless the newest row already says so."""
    newest = AuditCheckpoint.objects.order_by("-seq").values_list("seq", flat=True).first()
    if newest == point.seq:
        return
    row = AuditCheckpoint(
        tenant_id=current_tenant_id(), id=new_id(now), seq=point.seq, hash=point.hash, at=now
    )
    AuditCheckpoint.objects.bulk_create([row])


def append_to_file(path: Path, tenant_id: UUID, point: Checkpoint, now: datetime) -> None:
    """Add a line, unless the file's last word on this tenant is the same.  Raises OSError."""
    if point in read_file(path, tenant_id):
        return
    line = json.dumps(
        {"tenant": str(tenant_id), "seq": point.seq, "hash": point.hash.hex(), "at": now.isoformat()}
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    # One write of a whole line to a file opened for appending: several workers cannot mix theirs.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, line.encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_file(path: Path, tenant_id: UUID) -> list[Checkpoint]:
    """The file's checkpoints of one tenant.  A line that was cut off by a crash says nothing and is passed over."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    wanted = str(tenant_id)
    return [point for line in lines if wanted in line and (point := _parsed(line, wanted))]


def _parsed(line: str, tenant: str) -> Checkpoint | None:
    try:
        said = json.loads(line)
        return Checkpoint(int(said["seq"]), bytes.fromhex(said["hash"])) if said["tenant"] == tenant else None
    except (ValueError, KeyError, TypeError):
        return None
