"""Reading a mount manifest: its entries, or every problem with its line, for any bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.mount import MountFile, mount_schema, parse_mount

PUBLISHED = Path(__file__).resolve().parents[2] / "docs" / "mount.schema.json"
GOOD = """
# What the project alpha declares.
name: acme/alpha
scopes: [project:alpha, "user:*"]
entries:
- id: mem_0198f2d1a4c87b3e9d10c2f4a6b8e0d1
  order: 10

- content: >
    Deployments of alpha go through
    the staging cluster first.
  scope: project:alpha
  kind: procedure
  applies_to:
    paths: ["deploy/*"]
    tags: [ops]
"""


def told(text: str | bytes) -> list[tuple[int, str]]:
    file = parse_mount(text if isinstance(text, bytes) else text.encode())
    return [(one.line, one.code) for one in file.problems]


def test_parse__good_file__entries_with_their_lines() -> None:
    file = parse_mount(GOOD.encode())
    assert (file.name, file.scopes, file.problems) == ("acme/alpha", ("project:alpha", "user:*"), ())
    first, second = file.entries
    assert (first.line, first.order, first.content, first.scope) == (6, 10, "", None)
    assert (second.line, second.place, second.scope, second.kind) == (9, 1, "project:alpha", "procedure")
    assert second.content == "Deployments of alpha go through the staging cluster first."
    assert (second.paths, second.tags) == (("deploy/*",), ("ops",))


def test_parse__one_scope__is_that_of_every_sentence() -> None:
    file = parse_mount(b"name: a\nscopes: [project:alpha]\nentries:\n- content: The desk opens at seven.\n")
    assert [one.scope for one in file.entries] == ["project:alpha"]
    assert told("name: a\nscopes: ['project:*']\nentries:\n- content: The desk opens.\n") == [
        (4, "missing_field")
    ]


def test_parse__json_and_bom_and_windows_lines__are_read_as_well() -> None:
    whole = {"name": "a", "entries": [{"content": "The desk opens at seven.", "scope": "shared"}]}
    for text in (
        json.dumps(whole),
        "\ufeff" + json.dumps(whole),
        yaml.safe_dump(whole).replace("\n", "\r\n"),
    ):
        file = parse_mount(text.encode())
        assert file.problems == () and len(file.entries) == 1


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("{}", "invalid"),
        ("{id: mem_1}", "invalid"),
        ("{id: mem_0198f2d1a4c87b3e9d10c2f4a6b8e0d1, content: x y z}", "invalid"),
        ("{id: mem_0198f2d1a4c87b3e9d10c2f4a6b8e0d1, kind: fact}", "invalid"),
        ("{content: The desk opens at seven.}", "missing_field"),
        ("{content: '', scope: shared}", "invalid"),
        ("{content: ' ', scope: shared}", "invalid"),
        ("{content: 12, scope: shared}", "invalid"),
        ("{content: yes, scope: shared}", "invalid"),
        ('{content: "\\ud800", scope: shared}', "invalid"),
        ("{content: The desk opens., scope: nowhere}", "invalid"),
        ("{content: The desk opens., scope: 'session:s1'}", "out_of_scope"),
        ("{content: The desk opens., scope: 'task:t1'}", "out_of_scope"),
        ("{content: The desk opens., scope: shared, kind: rumour}", "invalid"),
        ("{content: The desk opens., scope: shared, order: '1'}", "invalid"),
        ("{content: The desk opens., scope: shared, order: 1.5}", "invalid"),
        ("{content: The desk opens., scope: shared, order: yes}", "invalid"),
        ("{content: The desk opens., scope: shared, order: 99999999999999999999}", "invalid"),
        ("{content: The desk opens., scope: shared, applies_to: [a]}", "invalid"),
        ("{content: The desk opens., scope: shared, applies_to: {path: a}}", "unknown_field"),
        ("{content: The desk opens., scope: shared, priority: 1}", "unknown_field"),
        ("[a]", "invalid"),
        ("null", "invalid"),
    ],
)
def test_parse__one_bad_entry__is_told_with_its_line(entry: str, code: str) -> None:
    good = "{content: The press halls open at seven., scope: shared}"
    found = told(f"name: a\nentries:\n- {good}\n- {entry}\n")
    assert set(found) == {(4, code)}, found
    assert told(f"name: a\nentries:\n- {good}\n") == []


def test_parse__the_same_sentence__is_a_duplicate_also_in_other_letters() -> None:
    lines = ["The desk opens at seven.", "the desk opens at SEVEN", "The desk opens at eight."]
    text = "name: a\nscopes: [shared]\nentries:\n" + "".join(f"- content: {line}\n" for line in lines)
    assert told(text) == [(5, "duplicate")]
    assert told(
        text.replace("[shared]", "[shared, global]").replace("- content", "- scope: shared\n  content")
    ) == [(6, "duplicate")]


def test_parse__too_much__is_refused_before_it_is_read() -> None:
    assert told(b"#" * 1_048_577) == [(1, "unreadable")]
    assert told("name: a\nentries: " + "[" * 9 + "]" * 9) == [(2, "unreadable")]
    many = "".join(f"- {{content: The hall {n} is closed at night., scope: shared}}\n" for n in range(501))
    assert (3, "invalid") in told(f"name: a\nentries:\n{many}") or (2, "invalid") in told(
        f"name: a\nentries:\n{many}"
    )
    lol = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    assert told(lol) == [(2, "unreadable")]


PIECES = st.lists(
    st.sampled_from(
        ["name: a\n", "entries:\n", "- ", "content: The desk opens.\n", "  scope: shared\n", "id: ", "mem_", "[", "{",
         "&x ", "*x", "!!int ", "!", "? ", "- - -", '"', "\\ud800", "\t", "\r", "---\n", "...\n", "<<: ", "%YAML 1.1\n",
         "\x07", "\u2028", "|\n", ">-\n", "#", "0x", "1:2:3", ".inf", "null", "order: ", "\n", ": "]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(st.one_of(st.binary(max_size=200), PIECES.map(lambda text: text.encode()), st.text().map(str.encode)))
def test_parse__any_bytes__gives_entries_or_problems_and_never_raises(document: bytes) -> None:
    file: MountFile = parse_mount(document)
    lines = document.count(b"\n") + document.count(b"\r") + document.count("\u2028".encode()) + 2
    lines += document.count("\u2029".encode()) + document.count("\x85".encode())
    assert all(1 <= one.line <= lines and one.message and one.code for one in file.problems)
    assert file.problems or file.name


def test_schema__as_published__is_current_and_agrees_with_the_reader() -> None:
    assert json.loads(PUBLISHED.read_text()) == mount_schema(), "run `make docs`"
    validator: Any = jsonschema_rs.validator_for(mount_schema())
    assert validator.is_valid(yaml.safe_load(GOOD))
    for wrong in ({"name": "a"}, {"name": "a", "entries": [{"weight": 1}]}, {"name": "a b", "entries": []},
                  {"name": "a", "scopes": ["session:x"], "entries": []},
                  {"name": "a", "entries": [{"id": "mem_1"}]}):  # fmt: skip
        assert not validator.is_valid(wrong)
        assert told(json.dumps(wrong))
