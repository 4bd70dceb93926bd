"""One file as records: its sources, the format of each, and its rows one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory.importers import (
    assistant_export,
    crewai,
    graph_edges,
    instruction_file,
    langgraph,
    letta,
    mapped_rows,
    mcp_memory,
    mem0,
    plain_lines,
)
from memory.importers.detect import Detected, detect, layout_of
from memory.importers.mapping import BadMapping
from memory.importers.records import Item, Unreadable, Unusable
from memory.importers.source import DAMAGED, Source, Watch, sources


@dataclass(frozen=True, slots=True)
class Options:
    """How to read: whether the messages of agent files count, and which field is which in rows of any shape."""

    messages: bool = False
    mapping: Mapping[str, str] | None = None


Reader = Callable[[Source, str, Options], Iterator[Item]]

FORMATS: Final[Mapping[str, tuple[str, Reader]]] = {
    "plain_lines": ("plain text, one memory a line", lambda s, lay, o: plain_lines.read(s, lay)),
    "mem0_list": ("mem0, list of memories", lambda s, lay, o: mem0.read_list(s, lay)),
    "mem0_platform": ("mem0, page of the platform", lambda s, lay, o: mem0.read_list(s, lay)),
    "mem0_history": ("mem0, history of changes", lambda s, lay, o: mem0.read_history(s, lay)),
    "mcp_memory": ("MCP memory server, entities and relations", lambda s, lay, o: mcp_memory.read(s, lay)),
    "langgraph": ("LangGraph store, rows", lambda s, lay, o: langgraph.read(s, lay)),
    "letta": ("Letta agent file", lambda s, lay, o: letta.read(s, lay, messages=o.messages)),
    "zep_edges": ("Zep, edges of a graph", lambda s, lay, o: graph_edges.read(s, lay)),
    "graphiti_edges": ("Graphiti, edges of a graph", lambda s, lay, o: graph_edges.read(s, lay)),
    "crewai": ("CrewAI, memory records", lambda s, lay, o: crewai.read(s, lay)),
    "assistant_export": ("an assistant's memory export", lambda s, lay, o: assistant_export.read(s, lay)),
    "instruction_file": (
        "AGENTS.md, CLAUDE.md or other Markdown",
        lambda s, lay, o: instruction_file.read(s, lay),
    ),
    "rows": ("JSON rows", lambda s, lay, o: mapped_rows.read_json(s, lay, mapping=o.mapping)),
    "csv": ("CSV", lambda s, lay, o: mapped_rows.read_csv(s, lay, mapping=o.mapping)),
}
"""Name for `--format`, name for people, reader."""


@dataclass(frozen=True, slots=True)
class Part:
    """One source of the file with its format; `items` can be gone through once."""

    name: str
    format: str
    title: str
    items: Iterator[Item]


@dataclass(frozen=True, slots=True)
class Reading:
    """A file about to be read; at most `most` bytes are unpacked from an archive."""

    path: Path
    format: str = "auto"
    options: Options = Options()
    watch: Watch | None = None
    most: int | None = None

    def parts(self) -> Iterator[Part]:
        """The sources one after another. Raises `Unusable` for what is no file that can be read."""
        try:
            for source in sources(self.path, self.watch, self.most):
                if isinstance(source, Unreadable):
                    yield Part(source.pointer, "", "not readable", iter([source]))
                else:
                    yield self._part(source)
        except OSError as error:
            raise Unusable(f"{self.path}: {error.strerror or error}") from None

    def _part(self, source: Source) -> Part:
        try:
            head = source.head()
        except DAMAGED as error:
            damaged = Unreadable(source.name, f"is damaged ({error})")
            return Part(source.name, "", "not readable", iter([damaged]))
        if self.format == "auto":
            found = detect(head, mapping=self.options.mapping is not None)
        else:
            found = Detected(self.format, layout_of(head))
        title, reader = FORMATS[found.format]
        return Part(source.name, found.format, title, self._items(source, reader, found.layout))

    def _items(self, source: Source, reader: Reader, layout: str) -> Iterator[Item]:
        try:
            yield from reader(source, layout, self.options)
        except BadMapping as error:
            raise Unusable(f"{source.name}: {error}") from None
        except DAMAGED as error:
            yield Unreadable(source.name, f"cannot be read to its end ({error})")


def open_store(
    path: Path,
    format: str = "auto",
    *,
    options: Options | None = None,
    watch: Watch | None = None,
    most: int | None = None,
) -> Reading:
    """A file to be read. Raises `Unusable` for an unknown format or a file that is not there."""
    if format != "auto" and format not in FORMATS:
        raise Unusable(f"no format is called {format!r}; there are auto, {', '.join(FORMATS)}")
    if not path.is_file():
        raise Unusable(f"{path}: {'is no file' if path.exists() else 'there is no such file'}")
    return Reading(path, format, options or Options(), watch, most)
