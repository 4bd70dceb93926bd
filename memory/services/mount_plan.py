"""One apply under way, inside its transaction: what the file wants, what is mounted, and the way between them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from memgov.ids import new_id
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.mount import Declared, MountFile, Problem
from memory.domain.types import Status
from memory.models import Memory, Mount, MountEntry
from memory.selectors.mounts import also_declared, entries_of, mount_named
from memory.selectors.policies import active_policy
from memory.services.changes import Changes
from memory.services.mount_entries import is_fresh, is_given, listed, said, says_still, written
from memory.services.mount_types import MountChange, MountResult, Resolved
from memory.store import memories, mounts
from tenants.principals import Principal, system

_STORED = ("memory_id", "place", "sort_order", "line", "paths", "tags", "said", "made")


class Plan:
    """Call `resolve`, then `conclude`.  What stands against the file collects in `problems`."""

    def __init__(
        self, actor: Principal, file: MountFile, now: datetime, covers: Callable[[str], bool]
    ) -> None:
        self.actor, self.file, self.now, self.covers = actor, file, now, covers
        self.problems: list[Problem] = []
        self._active = active_policy()
        self._writer = system(actor.tenant_id, f"mount:{file.name}", actor.request_id)
        self._changes = Changes(actor, now, self._active)
        self._before = mount_named(file.name) if file.name else None
        self._present = entries_of(self._before) if self._before else []
        named = {one.memory_id for one in file.entries if one.memory_id}
        wanted = named | {entry.memory_id for entry in self._present}
        self._known: dict[UUID, Memory] = memories.lock(wanted)
        self._found: dict[Declared, Resolved] = {}
        self._confirmed = 0

    def resolve(self) -> None:
        """Find or write the memory of every entry.  What the mount itself no longer says goes first, or the new
        wording of a sentence would be taken for a repetition of the old one."""
        kept = {entry.said: self._known[entry.memory_id] for entry in self._present if entry.said}
        mine: dict[Declared, Memory] = {}
        for one in self.file.entries:
            memory = kept.get(said(one)) if one.memory_id is None else None
            if memory is not None and is_given(memory, self.now) and says_still(memory, one):
                mine[one] = memory
        named = {one.memory_id for one in self.file.entries if one.memory_id}
        staying = named | {memory.id for memory in mine.values()} | self._contested()
        self._retire([entry for entry in self._present if entry.memory_id not in staying])
        taken: dict[UUID, int] = {}
        for one in self.file.entries:
            self._settle(one, self._resolved(one, mine.get(one)), taken)

    def _contested(self) -> set[UUID]:
        """Memories that the file still says and that a person has to settle: taking one away would settle it."""
        wanted = {said(one) for one in self.file.entries if one.memory_id is None}
        rows = [self._known[entry.memory_id] for entry in self._present if entry.said in wanted]
        return {memory.id for memory in rows if memory.status == Status.CONTESTED}

    def _resolved(self, one: Declared, mine: Memory | None) -> Resolved | Problem:
        if one.memory_id is not None:
            return listed(one, self._known, self.now, self.covers)
        if one.scope is not None and not self.covers(one.scope):
            return Problem(one.line, "out_of_scope", f"{one.scope} is not among the scopes that are allowed")
        if mine is not None and is_fresh(mine, self.now, self._active):
            return Resolved(mine, "kept")
        self._confirmed += mine is not None
        return written(self._writer, self.file.name, one)

    def _settle(self, one: Declared, found: Resolved | Problem, taken: dict[UUID, int]) -> None:
        if isinstance(found, Problem):
            self.problems.append(found)
        elif found.memory.id in taken:
            line = taken[found.memory.id]
            self.problems.append(Problem(one.line, "duplicate", f"says the same as the entry in line {line}"))
        else:
            taken[found.memory.id] = one.line
            self._found[one] = found

    def _retire(self, gone: list[MountEntry]) -> None:
        """Take away the memories that exist only because the mount said them."""
        made = {entry.memory_id for entry in gone if entry.made}
        if not made or self._before is None:
            return
        for other in also_declared(made, self._before):
            made.discard(other.memory_id)
            if other.said:
                mounts.inherit(other)
        reason = f"no longer declared by the mount {self.file.name}"
        for memory_id in sorted(made):
            memory = self._known[memory_id]
            if memory.status in lifecycle.READABLE:
                self._changes.move(memory, lifecycle.Event.DELETE, "memory.deleted", reason)

    def conclude(self, *, commit: str, by: str, dry_run: bool) -> MountResult:
        """Store the mount and its entries, if anything of them is new, with the audit event."""
        rows = [self._row(one, found) for one, found in self._found.items()]
        changes = tuple(self._differences(rows))
        moved = [_stored(row) for row in rows] != [
            _stored(row) for row in sorted(self._present, key=lambda row: row.place)
        ]
        mount = self._mount(len(rows), commit, by)
        new = self._before is None or moved or _header(mount) != _header(self._before)
        if new and self.file.name:
            mounts.put(mount, rows if moved or self._before is None else None)
            self._audit(mount, changes)
        self._changes.finish()
        return MountResult(
            name=self.file.name,
            sha256=self.file.sha256,
            commit=commit,
            dry_run=dry_run,
            entries=len(rows),
            changes=changes,
            confirmed=self._confirmed,
            stored=new,
        )

    def _row(self, one: Declared, found: Resolved) -> MountEntry:
        was = {entry.memory_id: entry for entry in self._present}.get(found.memory.id)
        made = found.how in ("stored", "superseded", "near_duplicate") or (was is not None and was.made)
        return MountEntry(
            id=new_id(self.now),
            memory_id=found.memory.id,
            place=one.place,
            sort_order=one.order,
            line=one.line,
            paths=list(one.paths),
            tags=list(one.tags),
            said=said(one),
            made=made and one.memory_id is None,
        )

    def _mount(self, entries: int, commit: str, by: str) -> Mount:
        before = self._before
        return Mount(
            id=before.id if before else new_id(self.now),
            name=self.file.name,
            sha256=self.file.sha256,
            commit=commit,
            scopes=list(self.file.scopes),
            entry_count=entries,
            revision=before.revision + 1 if before else 1,
            applied_at=self.now,
            applied_by=by,
        )

    def _differences(self, rows: list[MountEntry]) -> list[MountChange]:
        present = {entry.memory_id: entry for entry in self._present}
        found = {row.memory_id: resolved for row, resolved in zip(rows, self._found.values(), strict=True)}
        moved = _moved(self._present, sorted(rows, key=_sequence))
        changes = []
        for row in rows:
            memory, was = found[row.memory_id].memory, present.get(row.memory_id)
            note = found[row.memory_id].how if was is None else _note(was, row, row.memory_id in moved)
            if note:
                what: Literal["add", "change"] = "add" if was is None else "change"
                made = was is None and row.made
                changes.append(
                    MountChange(what, row.line, memory.id, memory.scope, memory.content, note, made)
                )
        for memory_id in present.keys() - found.keys():
            memory = self._known[memory_id]
            note = "deleted" if memory.status == "deleted" else "stays a memory"
            changes.append(MountChange("remove", None, memory_id, memory.scope, memory.content, note))
        return sorted(changes, key=lambda one: (one.line or 0, one.memory_id))

    def _audit(self, mount: Mount, changes: tuple[MountChange, ...]) -> None:
        before = self._before
        after: dict[str, Any] = {**_header(mount), "name": mount.name, "by": mount.applied_by}
        for what in ("add", "remove", "change"):
            ids = [show_id("mem", one.memory_id) for one in changes if one.what == what]
            after |= {what: ids} if ids else {}
        self._changes.add(
            "mount.applied", "mount", show_id("mnt", mount.id), before=_header(before) if before else None, after=after
        )  # fmt: skip


def _stored(row: MountEntry) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in _STORED)


def _header(mount: Mount) -> dict[str, Any]:
    return {
        "sha256": mount.sha256, "commit": mount.commit, "scopes": mount.scopes, "entries": mount.entry_count,
    }  # fmt: skip


def _sequence(row: MountEntry) -> tuple[int, int]:
    return row.sort_order, row.place


def _moved(old: list[MountEntry], new: list[MountEntry]) -> set[UUID]:
    """Memories that are in both, under the same order, but no longer stand in the same sequence."""
    orders = {row.memory_id: row.sort_order for row in old}
    after = [row.memory_id for row in new if orders.get(row.memory_id) == row.sort_order]
    before = [row.memory_id for row in old if row.memory_id in set(after)]
    return {one for one, other in zip(after, before, strict=True) if one != other}


def _note(was: MountEntry, row: MountEntry, moved: bool) -> str:
    """What of an entry differs, in words; "" when nothing does that a reader could notice."""
    notes = []
    if was.sort_order != row.sort_order:
        notes.append(f"order {was.sort_order} → {row.sort_order}")
    elif moved:
        notes.append("place")
    if (sorted(was.paths), sorted(was.tags)) != (sorted(row.paths), sorted(row.tags)):
        notes.append("applies to")
    if bool(was.said) != bool(row.said):
        notes.append("now by content" if row.said else "now by id")
    return ", ".join(notes)
