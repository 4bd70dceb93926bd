"""Letta agent files (`.af`), of both versions: core memory blocks and archival passages.

    {"agents": [ … ], "blocks": [{"label", "value"}], …}            since 2025-08
    {"agent_type", "core_memory": [{"label", "value"}], "messages": [ … ], …}   before

Messages are the conversation and no memory: read only when asked for. Environment variables of tools are
secrets: neither their names nor their values leave this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from memory.importers import json_stream
from memory.importers.json_stream import Element, place
from memory.importers.passages import passages
from memory.importers.records import ForeignRecord, Item, Note, Unreadable
from memory.importers.rows import name_of, picked, text_of
from memory.importers.source import Source
from memory.importers.times import read_time

BLOCKS: Final = ("blocks", "core_memory", "memory_blocks")
PASSAGES: Final = ("archival_memory", "archival_passages", "passages")
_ENVIRONMENT: Final = ("tool_exec_environment_variables", "secrets")
LONGEST_AGENT: Final = 16 * 1024 * 1024
"""Characters. All messages of an agent are in one element."""
_SPEAKERS: Final = ("user", "assistant")


def read(source: Source, layout: str, *, messages: bool) -> Iterator[Item]:
    """A record for every statement of a block and every passage; with `messages` also what was said."""
    with source.open() as stream:
        for part in json_stream.elements(stream, LONGEST_AGENT):
            if isinstance(part, Unreadable):
                yield part
            elif part.key == "agents" and isinstance(part.value, dict):
                yield from _agent(part, messages)
            else:
                yield from _part(part.key, part.value, part.pointer, messages)


def _agent(agent: Element, messages: bool) -> Iterator[Item]:
    for key, inner in agent.value.items():
        pointer = f"{agent.pointer}.{key}"
        if isinstance(inner, list):
            for at, one in enumerate(inner):
                yield from _part(key, one, place(pointer, at), messages)
        else:
            yield from _part(key, inner, pointer, messages)


def _part(key: str, value: Any, pointer: str, messages: bool) -> Iterator[Item]:
    if key in _ENVIRONMENT:
        for _ in range(len(value) if isinstance(value, dict) and "value" not in value else bool(value)):
            yield Note("environment variable dropped", pointer)
    elif key in BLOCKS and isinstance(value, dict):
        yield from _block(value, pointer)
    elif key in PASSAGES and isinstance(value, dict):
        yield _passage(value, pointer)
    elif key == "messages" and isinstance(value, dict):
        yield from _message(value, pointer, messages)
    elif key == "files" and isinstance(value, dict):
        yield Note("file of a data source ignored", pointer)


def _block(block: dict[str, Any], pointer: str) -> Iterator[Item]:
    label, text = name_of(block.get("label")) or "block", text_of(block.get("value"))
    yield Note("memory block" if text else "empty memory block", pointer)
    for passage in passages(text or ""):
        yield ForeignRecord(
            text=passage.text,
            pointer=f"{pointer} ({label}), line {passage.line}",
            owner=label,
            created_at=read_time(block.get("created_at")),
            updated_at=read_time(block.get("updated_at")),
            provenance={"block": label, **({"heading": passage.heading} if passage.heading else {})},
            extra=picked(block, "metadata", "metadata_"),
        )


def _passage(passage: dict[str, Any], pointer: str) -> Item:
    text = text_of(passage.get("text")) or text_of(passage.get("content"))
    if text is None:
        return Unreadable(pointer, "is a passage without text")
    return ForeignRecord(
        text=text,
        pointer=pointer,
        owner="archival",
        created_at=read_time(passage.get("created_at")),
        updated_at=read_time(passage.get("updated_at")),
        foreign_id=name_of(passage.get("id")),
        provenance={"archival": True, **picked(passage, "tags", "source_id", "file_name")},
        extra=picked(passage, "metadata", "metadata_"),
    )


def _message(message: dict[str, Any], pointer: str, wanted: bool) -> Iterator[Item]:
    if not wanted or message.get("role") not in _SPEAKERS:
        yield Note("message ignored", pointer)
        return
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    said = [text for part in parts if isinstance(part, dict) and (text := text_of(part.get("text")))]
    if not said:
        yield Note("message without text", pointer)
        return
    yield ForeignRecord(
        text="\n".join(said),
        pointer=pointer,
        owner="messages",
        created_at=read_time(message.get("created_at")),
        foreign_id=name_of(message.get("id")),
        provenance={"message": True, **picked(message, "role")},
    )
