"""YAML as plain values with the line of each: no tags, no aliases, no key twice, bounded depth and size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

MAX_BYTES: Final = 1_048_576
MAX_DEPTH: Final = 8
Path = tuple[str | int, ...]

_CORE: Final = "tag:yaml.org,2002:"
_TEXT: Final = frozenset({f"{_CORE}str", f"{_CORE}timestamp", f"{_CORE}merge", f"{_CORE}value"})
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_SCALARS: Final = {
    f"{_CORE}int": _CONSTRUCTOR.construct_yaml_int,
    f"{_CORE}float": _CONSTRUCTOR.construct_yaml_float,
    f"{_CORE}bool": _CONSTRUCTOR.construct_yaml_bool,
    f"{_CORE}null": _CONSTRUCTOR.construct_yaml_null,
}


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """What is wrong, in which line of the file (from 1), under a stable code."""

    line: int
    code: str
    message: str


@dataclass(slots=True)
class Located:
    """Plain values, and the line of every key and item by its path."""

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line_of(self, path: Path) -> int:
        """The line of the path, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_yaml(document: bytes) -> Located:
    """The document with its lines; where it cannot be read at all, one problem says where and why."""
    try:
        text = _decoded(document)
        _bounded(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except _Unreadable as error:
        return Located(problems=[Problem(error.line, "unreadable", str(error))])
    except yaml.MarkedYAMLError as error:
        return Located(problems=[_marked(error)])
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        return Located(
            problems=[Problem(line, "unreadable", f"the character U+{_code(error):04X} is not allowed")]
        )
    if node is None:
        return Located(problems=[Problem(1, "unreadable", "the file is empty")])
    found = Located()
    found.value = _value(node, (), found)
    return found


class _Unreadable(Exception):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def _decoded(document: bytes) -> str:
    if len(document) > MAX_BYTES:
        raise _Unreadable(1, f"the file has {len(document):,} bytes, at most {MAX_BYTES:,} are allowed")
    try:
        return document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _Unreadable(document.count(b"\n", 0, error.start) + 1, "is not UTF-8") from None


def _bounded(text: str) -> None:
    """Refuse what could grow out of a small file: aliases, and nesting that a reader would recurse into."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            raise _Unreadable(line, "aliases (*name) are not allowed: write it out")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _Unreadable(line, f"is nested more than {MAX_DEPTH} deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _marked(error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    what = " ".join(part for part in (error.context, error.problem) if part)
    return Problem(mark.line + 1 if mark else 1, "unreadable", f"is no YAML: {what}")


def _code(error: yaml.reader.ReaderError) -> int:
    return error.character if isinstance(error.character, int) else ord(error.character)


def _value(node: yaml.Node, path: Path, found: Located) -> Any:
    found.lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, found)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, at), found) for at, item in enumerate(node.value)]
    return _scalar(node, path, found)


def _mapping(node: yaml.MappingNode, path: Path, found: Located) -> Mapping[str, Any]:
    values: dict[str, Any] = {}
    for key, item in node.value:
        line = key.start_mark.line + 1
        name = key.value if isinstance(key, yaml.ScalarNode) else "?"
        if name in values:
            found.problems.append(Problem(line, "duplicate_key", f"{name[:80]!r} stands here a second time"))
            continue
        found.lines[(*path, name)] = line
        values[name] = _value(item, (*path, name), found)
    return values


def _scalar(node: yaml.Node, path: Path, found: Located) -> Any:
    if node.tag in _TEXT:
        return node.value
    read = _SCALARS.get(node.tag)
    try:
        if read is not None and isinstance(node, yaml.ScalarNode):
            return read(node)
    except (ValueError, LookupError, ArithmeticError):
        pass
    found.problems.append(
        Problem(node.start_mark.line + 1, "unreadable", f"cannot be read as {node.tag[:60]}")
    )
    return None
