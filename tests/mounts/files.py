"""Mount manifests for tests, and applying them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from memory.domain.ids import show_id
from memory.models import Memory, Mount, MountEntry
from memory.services.memory_write import memory_write
from memory.services.mount_types import MountResult
from memory.services.mounts import MountCall, mount_apply
from memory.services.recall import Retrieval, RetrieveRequest, memory_retrieve
from memory.services.write_types import WriteRequest
from tenants.principals import Principal, system
from tests.factories import Stage

STAGING = "Deployments of alpha go through the staging cluster first."
TABS = "Source files of alpha are indented with tabs."
SIGNED = "A release of alpha is signed by two people."


def manifest(entries: Sequence[Mapping[str, Any]], *, name: str = "alpha", **more: Any) -> bytes:
    """The bytes of a file with these entries."""
    return yaml.safe_dump({"name": name, **more, "entries": list(entries)}, sort_keys=False).encode()


def say(content: str, **more: Any) -> dict[str, Any]:
    """An entry by content, in project:alpha unless it says otherwise."""
    return {"content": content, "scope": "project:alpha", **more}


def ref(memory: Memory, **more: Any) -> dict[str, Any]:
    """An entry by id."""
    return {"id": show_id("mem", memory.id), **more}


def apply(stage: Stage, document: bytes, **call: Any) -> MountResult:
    """Apply as the command does."""
    return mount_apply(system(stage.tenant.id, "cli.mount"), document, MountCall(**call))


def write(principal: Principal, content: str, **fields: object) -> Memory:
    """A memory that is live, or the test is wrong."""
    request = {"scope": "project:alpha", "origin": "tool_verified", **fields}
    outcome = memory_write(principal, WriteRequest(content=content, **request))  # type: ignore[arg-type]
    assert outcome.memory is not None and outcome.memory.status == "live", outcome
    return outcome.memory


def read(principal: Principal, query: str = "something else entirely", **fields: Any) -> Retrieval:
    """A retrieval whose query finds nothing unless it says so."""
    return memory_retrieve(principal, RetrieveRequest(query=query, **fields))


def given(found: Retrieval, channel: str = "declared") -> list[str]:
    """The contents of a channel, in order."""
    return [entry.found.content for entry in found.entries if entry.channel == channel]


def rows(stage: Stage, name: str = "alpha") -> list[MountEntry]:
    """The stored entries of a mount, in order."""
    with stage.context():
        mount = Mount.objects.get(name=name)
        return list(MountEntry.objects.filter(mount_id=mount.id).order_by("sort_order", "place"))


def memory_of(stage: Stage, content: str) -> Memory:
    """The newest memory that says this."""
    with stage.context():
        row = Memory.objects.filter(content=content).order_by("-id").first()
    assert row is not None
    return row
