"""Every format, from fixtures in the shapes that the foreign products write: told by content, read with the
right counts, and nothing made up."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.importers import ForeignRecord, Note, Options, Unreadable, open_store, read_mapping
from memory.importers.records import Item

FIXTURES = Path(__file__).parent / "fixtures"


def read(name: str | Path, options: Options | None = None, format: str = "auto") -> tuple[str, list[Item]]:
    """The format that was told and everything that was read."""
    parts = list(open_store(FIXTURES / name, format, options=options).parts())
    assert len(parts) == 1
    return parts[0].format, list(parts[0].items)


def records(items: list[Item]) -> list[ForeignRecord]:
    return [item for item in items if isinstance(item, ForeignRecord)]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "format", "rows", "unreadable"),
    [
        ("plain.txt", "plain_lines", 3, 0),
        ("mem0_list.json", "mem0_list", 2, 1),
        ("mem0_platform.json", "mem0_platform", 2, 0),
        ("mem0_history.json", "mem0_history", 1, 0),
        ("mcp_memory.jsonl", "mcp_memory", 3, 1),
        ("mcp_memory_underscore.jsonl", "mcp_memory", 2, 0),
        ("mcp_memory_document.json", "mcp_memory", 2, 0),
        ("langgraph.jsonl", "langgraph", 2, 1),
        ("letta_new.af", "letta", 4, 0),
        ("letta_old.af", "letta", 2, 0),
        ("zep.json", "zep_edges", 2, 0),
        ("graphiti.json", "graphiti_edges", 1, 0),
        ("crewai.json", "crewai", 1, 0),
        ("assistant_export.txt", "assistant_export", 3, 1),
        ("AGENTS.md", "instruction_file", 7, 0),
        ("memories.csv", "csv", 2, 2),
        ("strings.json", "rows", 2, 2),
    ],
)
def test_format__by_content_alone__told_and_counted(
    name: str, format: str, rows: int, unreadable: int, tmp_path: Path
) -> None:
    nameless = shutil.copy(FIXTURES / name, tmp_path / "store")
    told, items = read(Path(nameless))
    counts = Counter(type(item) for item in items)
    assert (told, counts[ForeignRecord], counts[Unreadable]) == (format, rows, unreadable)


def test_mem0_list__zones_owners_and_ends__as_the_store_says() -> None:
    first, last = records(read("mem0_list.json")[1])
    assert (first.text, first.owner, first.scope, first.foreign_id) == (
        "Prefers receipts in SEK", "tove", "user:tove", "5a",
    )  # fmt: skip
    assert first.created_at == at("2026-03-02T16:10:00")
    assert first.expires_at == at("2027-01-02T00:00:00"), "a day lasts until it is over"
    assert first.extra == {"metadata": {"source": "desk"}}
    assert (last.scope, last.created_at, last.dated) == ("agent:desk-bot", None, False)


def test_mem0_history__changes_and_deletes__only_the_state_that_is_left() -> None:
    items = read("mem0_history.json")[1]
    assert [one.text for one in records(items)] == ["Works night shifts"]
    assert Counter(item.what for item in items if isinstance(item, Note)) == {
        "earlier state of a memory, replaced by a later one": 2,
        "memory deleted in the store": 1,
    }


def test_mcp_memory__observation_that_names_nobody__told_of_its_entity() -> None:
    rules = records(read("mcp_memory.jsonl")[1])
    assert [one.text for one in rules] == [
        "Lantern Rules: Lanterns above 50 EUR need a countersignature",
        "Lantern Rules: Return window is 14 days",
        "Tove approves Lantern Rules",
    ]
    assert (rules[2].subject, rules[2].predicate, rules[2].value) == ("Tove", "approves", "Lantern_Rules")
    assert records(read("mcp_memory_underscore.jsonl")[1])[0].created_at == at("2026-02-01T00:00:00")


def test_langgraph__nested_value_and_time_to_live() -> None:
    first, second = records(read("langgraph.jsonl")[1])
    assert (first.text, first.owner) == ("Deliveries on Fridays are frozen", "memories.tove")
    assert first.expires_at == at("2026-06-02T08:00:00")
    assert (second.owner, second.created_at) == ("memories.ole", None)


def test_letta__blocks_by_statement__messages_and_environment_left_out() -> None:
    items = read("letta_new.af")[1]
    assert [one.text for one in records(items)] == [
        "The red dye needs two hours",
        "Name: Tove",
        "Likes short answers, written without headings and without any bullet points at all",
        '{"a": [1, 2]}',
    ]
    assert records(items)[1].provenance == {"block": "human", "heading": "Notes on the person"}
    notes = Counter(item.what for item in items if isinstance(item, Note))
    assert notes["environment variable dropped"] == 2 and notes["message ignored"] == 2
    assert "LANTERN_KEY" not in str(items) and "plain-words-here" not in str(items)


def test_letta__messages_asked_for__what_people_said_and_not_what_tools_did() -> None:
    items = read("letta_new.af", Options(messages=True))[1]
    assert "The mill closes at four" in [one.text for one in records(items)]
    assert len(records(items)) == 5


def test_zep__edges__triples_with_their_time_and_what_the_store_retired() -> None:
    old, new = records(read("zep.json")[1])
    assert (old.subject, old.predicate, old.value) == ("Tove", "WORKS_AT", "Northmill")
    assert (old.valid_from, old.valid_to) == (at("2025-12-01T00:00:00"), at("2026-06-30T00:00:00"))
    assert old.retired and new.retired is None


def test_graphiti__nodes_without_names__a_sentence_and_no_triple() -> None:
    (edge,) = records(read("graphiti.json")[1])
    assert (edge.text, edge.subject, edge.owner) == ("Tove works at Northmill", None, "mill")


def test_instruction_file__headings_bullets_and_includes() -> None:
    items = read("AGENTS.md")[1]
    assert [(one.text, one.provenance["heading"]) for one in records(items)] == [
        ("Intro paragraph that goes on over two lines.", "Project rules"),
        ("Run `make test` before a commit", "Project rules"),
        ("Pin every version", "Project rules › Dependencies"),
        ("Never vendor code without a licence", "Project rules › Dependencies"),
        ("Prefer small modules", "Project rules › Style"),
        ("tool | use", "Project rules › Style"),
        ("ruff | lint", "Project rules › Style"),
    ]
    assert [item.what for item in items if isinstance(item, Note)] == [
        "include of another file, not followed", "comment left out", "code block left out",
    ]  # fmt: skip


def test_assistant_export__unknown_date__is_no_date() -> None:
    found = records(read("assistant_export.txt")[1])
    assert [one.created_at for one in found] == [at("2026-02-11T00:00:00"), None, None]
    assert found[0].text == "Answer in British English."


def test_rows__with_a_mapping__nested_fields_and_broken_lines_named() -> None:
    mapping = read_mapping((FIXTURES / "rows_mapping.yaml").read_text())
    told, items = read("rows.jsonl", Options(mapping=mapping))
    assert told == "rows"
    assert [(one.text, one.owner, one.created_at) for one in records(items)] == [
        ("The press halls open at seven", "tove", at("2026-01-01T00:00:00")),
        ("The red dye needs two hours", "ole", at("2026-01-01T00:00:00")),
    ]
    broken = [item.pointer for item in items if isinstance(item, Unreadable)]
    assert broken == ["line 2", "line 3", "line 4"]


def test_csv__with_a_mapping_of_triples__semicolons_read() -> None:
    mapping = read_mapping((FIXTURES / "odd_mapping.yaml").read_text())
    told, items = read("odd.csv", Options(mapping=mapping))
    assert told == "csv"
    assert [(one.subject, one.predicate, one.value) for one in records(items)] == [
        ("Tove", "plan", "pro"), ("Tove", "plan", "basic"),
    ]  # fmt: skip


def test_csv__cell_over_several_lines__pointers_stay_right() -> None:
    items = read("memories.csv")[1]
    assert [item.pointer for item in items if not isinstance(item, Note)] == [
        "line 2", "line 3", "line 4", "line 6",
    ]  # fmt: skip
