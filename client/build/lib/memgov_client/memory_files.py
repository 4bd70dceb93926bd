"""Files below `/memories` as memories: the six commands of the memory tool, as plans.  Knows no framework."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memgov_client.documents import HELD, MAX_TEXT, Shelf, same_words, why_not
from memgov_client.errors import RefusedError, VersionConflictError
from memgov_client.models import Memory, Outcome
from memgov_client.plans import Plan

ROOT: Final = "/memories"
DEPTH: Final = 2
_WIDTH: Final = 6
_CONTEXT: Final = 2


class FileError(Exception):
    """A command that cannot be carried out, in words for the agent."""


class MemoryFiles:
    """The commands over one shelf.  Every plan returns what the agent is told; FileError is what went wrong."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def view(self, path: str, view_range: Sequence[int] | None = None) -> Plan[str]:
        """A file's lines with their numbers, or what is below a folder, two levels deep."""
        path = checked(path)
        memory = yield from self._find(path)
        if memory is not None:
            return f"Here's the content of {path} with line numbers:\n" + _numbered(
                self.text(memory), view_range
            )
        below = yield from self._below(path)
        if not below and path != ROOT:
            raise _missing(path)
        sizes = {name: len(self.text(memory).encode()) for name, memory in below.items()}
        return _listing(path, sizes)

    def create(self, path: str, text: str) -> Plan[str]:
        """A new file; one that is there already is not overwritten."""
        path = _file(path)
        if (yield from self._exists(path)):
            raise FileError(f"File {path} already exists")
        held = yield from self._put(path, text)
        return held or f"File created successfully at: {path}"

    def str_replace(self, path: str, old: str, new: str) -> Plan[str]:
        """Replace what stands exactly once."""
        path = checked(path)
        memory = yield from self._file_at(path)
        text = self.text(memory)
        count = text.count(old) if old else 0
        if count == 0:
            raise FileError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )
        if count > 1:
            raise FileError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{', '.join(map(str, _lines_of(text, old)))}. Please ensure it is unique"
            )
        line = text[: text.index(old)].count("\n")
        changed = text.replace(old, new)
        memory = yield from self._change(memory, path, changed)
        first, last = max(1, line + 1 - _CONTEXT), line + 1 + _CONTEXT
        snippet = _numbered(self.text(memory), (first, last))
        told = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return f"{told}\n{snippet}"

    def insert(self, path: str, line: int, text: str) -> Plan[str]:
        """Insert a text after a line, 0 for the beginning."""
        path = checked(path)
        memory = yield from self._file_at(path)
        lines = _split(self.text(memory))
        if not 0 <= line <= len(lines):
            raise FileError(
                f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(line, text.rstrip("\n"))
        yield from self._change(memory, path, "\n".join(lines) + "\n")
        return f"The file {path} has been edited."

    def delete(self, path: str) -> Plan[str]:
        """Delete a file, or a folder with all that is below it."""
        path = checked(path)
        if path == ROOT:
            raise FileError(f"Cannot delete the {ROOT} directory itself")
        found = yield from self._at_or_below(path)
        for memory in found.values():
            yield from self.shelf.remove(memory, f"the agent deleted {path}")
        return f"Successfully deleted {path}"

    def rename(self, old: str, new: str) -> Plan[str]:
        """Write the files under their new names, then delete the old ones: after a failure half way there are both."""
        old, new = checked(old), _file(new)
        if old == ROOT:
            raise FileError(f"Cannot rename the {ROOT} directory itself")
        if new == old or new.startswith(f"{old}/"):
            raise FileError(f"Cannot rename {old} to {new}, which is itself or below it")
        if (yield from self._exists(new)):
            raise FileError(f"The destination {new} already exists")
        found = yield from self._at_or_below(old)
        said, moved = "", []
        for path, memory in found.items():
            held = yield from self._put(new + path[len(old) :], self.text(memory))
            said = held or said
            if not held:  # a copy that waits for a person does not take the place of what is there
                moved.append(memory)
        for memory in moved:
            yield from self.shelf.remove(memory, f"the agent renamed {old} to {new}")
        return said or f"Successfully renamed {old} to {new}"

    def clear(self) -> Plan[str]:
        """Delete every file."""
        for memory in (yield from self.shelf.all()):
            yield from self.shelf.remove(memory, "the agent cleared its memory")
        return "All memory cleared"

    def text(self, memory: Memory) -> str:
        """The exact text; what a person has changed meanwhile is what counts."""
        content, exact = memory.content or "", self.shelf.kept(memory).get("text")
        return exact if isinstance(exact, str) and same_words(exact, content) else content

    def _put(self, path: str, text: str) -> Plan[str]:
        """Write a file.  What is to be said when it is held; nothing when it is there."""
        yield from self._fit(path, text)
        outcome: Outcome = yield self.shelf.write(path, text, {"text": text})
        if outcome.rejected:
            raise FileError(why_not(outcome))
        return f"{path}: {HELD}" if outcome.held else ""

    def _change(self, memory: Memory, path: str, text: str) -> Plan[Memory]:
        yield from self._fit(path, text)
        try:
            changed: Memory = yield self.shelf.change(memory, text, {"text": text})
        except (RefusedError, VersionConflictError) as error:
            raise FileError(why_not(error)) from error
        return changed

    def _fit(self, path: str, text: str) -> Plan[None]:
        _fits(path, text)
        refused = yield from self.shelf.refused(text)
        if refused is not None:
            raise FileError(why_not(refused))

    def _find(self, path: str) -> Plan[Memory | None]:
        return (yield from self.shelf.find(path)) if path != ROOT else None

    def _file_at(self, path: str) -> Plan[Memory]:
        memory = yield from self._find(path)
        if memory is not None:
            return memory
        if path == ROOT or (yield from self._below(path)):
            raise FileError(f"The path {path} is not a file.")
        raise _missing(path)

    def _below(self, folder: str) -> Plan[dict[str, Memory]]:
        """The files below a folder by path, in order."""
        memories = yield from self.shelf.all()
        found = {str(self.shelf.kept(memory)["address"]): memory for memory in memories}
        return {path: found[path] for path in sorted(found) if path.startswith(f"{folder}/")}

    def _at_or_below(self, path: str) -> Plan[dict[str, Memory]]:
        memory = yield from self._find(path)
        found = {path: memory} if memory is not None else (yield from self._below(path))
        if not found:
            raise FileError(f"The path {path} does not exist")
        return found

    def _exists(self, path: str) -> Plan[bool]:
        memory = yield from self._find(path)
        return memory is not None or bool((yield from self._below(path)))


def checked(path: str) -> str:
    """The path in one spelling.  FileError for whatever is not below `/memories`, or tries to leave it."""
    if not isinstance(path, str) or "\x00" in path or "\\" in path or "%" in path:
        raise FileError(f"Path {path!r} has characters that no path here may have")
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise FileError(f"Path must start with {ROOT}, got: {path}")
    parts = [part for part in path[len(ROOT) :].split("/") if part]
    if any(part in (".", "..") or part != part.strip() for part in parts):
        raise FileError(f"Path {path} would escape {ROOT} directory")
    return "/".join([ROOT, *parts])


def _file(path: str) -> str:
    path = checked(path)
    if path == ROOT:
        raise FileError(f"{ROOT} is a directory; name a file below it")
    return path


def _fits(path: str, text: str) -> None:
    if len(text) > MAX_TEXT:
        raise FileError(
            f"{path} would have {len(text)} characters and a memory has at most {MAX_TEXT}; nothing was changed. "
            "Keep what matters, or split it into several files."
        )
    if not text.strip():
        raise FileError(
            f"{path} would be empty, and an empty text is nothing to remember; nothing was changed."
        )


def _missing(path: str) -> FileError:
    return FileError(f"The path {path} does not exist. Please provide a valid path.")


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _lines_of(text: str, part: str) -> list[int]:
    found, at = [], text.find(part)
    while at >= 0:
        found.append(text[:at].count("\n") + 1)
        at = text.find(part, at + 1)
    return found


def _numbered(text: str, view_range: Sequence[int] | None = None) -> str:
    lines = text.split("\n")
    first, last = 1, len(lines)
    if view_range and len(view_range) == 2:
        first = max(1, view_range[0])
        last = len(lines) if view_range[1] == -1 else min(view_range[1], len(lines))
    return "\n".join(f"{at:>{_WIDTH}}\t{lines[at - 1]}" for at in range(first, last + 1))


def _listing(folder: str, sizes: dict[str, int]) -> str:
    """Files and folders up to two levels deep, without hidden ones, each with its size."""
    totals: dict[str, int] = {}
    for path, size in sizes.items():
        parts = path[len(folder) + 1 :].split("/")
        if any(part.startswith(".") for part in parts):
            continue
        for depth in range(1, min(len(parts), DEPTH) + 1):
            name = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
            totals[name] = totals.get(name, 0) + size
    lines = [f"{_size(sum(sizes.values()))}\t{folder}"]
    lines += [f"{_size(totals[name])}\t{folder}/{name}" for name in sorted(totals)]
    heading = (
        f"Here're the files and directories up to {DEPTH} levels deep in {folder}, excluding hidden items:"
    )
    return "\n".join([heading, *lines])


def _size(count: int) -> str:
    return f"{count}B" if count < 1024 else f"{count / 1024:.1f}K"
