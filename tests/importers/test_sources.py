"""Bytes to texts: archives, encodings, long and broken lines, documents larger than the window, bad mappings."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.importers import BadMapping, ForeignRecord, Unreadable, Unusable, open_store, read_mapping, weight
from memory.importers.json_stream import Element, elements
from memory.importers.records import Item
from memory.importers.text_lines import Line, lines
from memory.importers.times import read_end, read_time

FIXTURES = Path(__file__).parent / "fixtures"


def everything(path: Path) -> list[tuple[str, str, list[Item]]]:
    return [(part.name, part.format, list(part.items)) for part in open_store(path).parts()]


def texts(items: list[Item]) -> list[str]:
    return [item.text for item in items if isinstance(item, ForeignRecord)]


def stored(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "store"
    path.write_bytes(data)
    return path


def test_gzip__as_the_file_within(tmp_path: Path) -> None:
    packed = stored(tmp_path, gzip.compress((FIXTURES / "mem0_list.json").read_bytes()))
    ((_, told, items),) = everything(packed)
    assert (told, len(texts(items))) == ("mem0_list", 2)


def test_zip__each_member_by_its_own_content(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(FIXTURES / "mcp_memory.jsonl", "a/memory.jsonl")
        archive.write(FIXTURES / "plain.txt", "notes.txt")
        archive.writestr("packed.gz", gzip.compress(b"Drinks tea without sugar\n"))
        archive.writestr("__MACOSX/._notes.txt", b"\x00\x05\x16\x07")
        archive.mkdir("empty")
    found = everything(path)
    assert [(name, told, len(texts(items))) for name, told, items in found] == [
        ("a/memory.jsonl", "mcp_memory", 3), ("notes.txt", "plain_lines", 3), ("packed.gz", "plain_lines", 1),
    ]  # fmt: skip
    assert weight(path) > 0


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("kind", ["gzip", "zip", "gzip in zip", "many in a zip"])
def test_archive__that_unpacks_to_more_than_it_may__ends_with_a_word_about_it(
    tmp_path: Path, kind: str
) -> None:
    blank = b"\n" * 3_000_000
    path = tmp_path / "store"
    if kind == "gzip":
        path.write_bytes(gzip.compress(blank))
    elif kind == "many in a zip":
        zipped(path, {f"{number}.txt": blank[:500_000] for number in range(6)})
    else:
        zipped(path, {"a": gzip.compress(blank) if kind == "gzip in zip" else blank})
    assert path.stat().st_size < 30_000
    with pytest.raises(Unusable, match="more than 2 MiB"):
        for part in open_store(path, most=2 * 1024**2).parts():
            list(part.items)
    assert everything(path), "without a limit it is read, as by the command line"


def test_zip__of_a_thousand_files__read_at_once_and_of_more_refused(tmp_path: Path) -> None:
    full = zipped(tmp_path / "full", {f"{number}.txt": b"" for number in range(1_000)})
    began = process_time()
    assert len(everything(full)) == 1_000
    assert process_time() - began < 5, "the archive was opened again for every member"
    over = zipped(tmp_path / "over", {f"{number}.txt": b"" for number in range(1_001)})
    assert weight(over) == over.stat().st_size
    with pytest.raises(Unusable, match="1,000 files"):
        everything(over)
    long = zipped(tmp_path / "long", {f"{number}{'n' * 60_000}": b"" for number in range(80)})
    with pytest.raises(Unusable, match="1,000 files"):
        everything(long)


@pytest.mark.parametrize("cut", [30, 200])
def test_archive__cut_off__named_and_not_raised(tmp_path: Path, cut: int) -> None:
    lines_ = "\n".join(f"Dye number {number} needs {number} hours" for number in range(2_000))
    ((_, _, items),) = everything(stored(tmp_path, gzip.compress(lines_.encode())[:-cut]))
    assert any(isinstance(item, Unreadable) for item in items)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("notes.txt", lines_)
    assert everything(stored(tmp_path, buffer.getvalue()[:-cut]))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_text__with_a_byte_order_mark__read(tmp_path: Path, encoding: str) -> None:
    ((_, _, items),) = everything(stored(tmp_path, "Trinkt Tee ohne Zucker\nMag Möwen\n".encode(encoding)))
    assert texts(items) == ["Trinkt Tee ohne Zucker", "Mag Möwen"]


def test_lines__too_long_or_no_utf8__named_and_the_next_one_read() -> None:
    stream = io.BytesIO(b"one\n" + b"x" * 50 + b"\n" + b"\xff\xfe\n" + b"\n" + b"y" * 10 + b"\nlast")
    found = list(lines(stream, longest=10))
    assert [(one.number, one.text) for one in found if isinstance(one, Line)] == [
        (1, "one"), (5, "y" * 10), (6, "last"),
    ]  # fmt: skip
    assert [one.pointer for one in found if isinstance(one, Unreadable)] == ["line 2", "line 3"]


def test_document__larger_than_the_window__every_element_once() -> None:
    rows = [{"id": number, "text": "é" * (number % 700), "n": number / 7} for number in range(3_000)]
    document = json.dumps({"count": 3_000, "results": rows, "next": None}, ensure_ascii=False).encode()
    found = list(elements(io.BytesIO(document)))
    assert [one.value for one in found if isinstance(one, Element) and one.key == "results"] == rows
    assert [one.key for one in found if isinstance(one, Element) and one.index is None] == ["count", "next"]


def test_document__broken_element__named_and_the_rest_read() -> None:
    found = list(elements(io.BytesIO(b'[{"a": 1}, {"a": oops}, {"a": 3}]')))
    assert [one.value for one in found if isinstance(one, Element)] == [{"a": 1}, {"a": 3}]
    assert [one.pointer for one in found if isinstance(one, Unreadable)] == ["[1]"]


@pytest.mark.parametrize("document", [b"[" * 100_000, b'{"results": [{"a": ' + b"9" * 5_000 + b"}]}", b'["a'])
def test_document__hostile__ends_with_a_word_about_it(document: bytes) -> None:
    assert isinstance(list(elements(io.BytesIO(document)))[-1], Unreadable)


@pytest.mark.parametrize("element", [b"[" + b"[]," * 3_000_000 + b"[]]", b'"' + b"x" * 9_000_000 + b'"'])
def test_document__with_an_element_too_long_to_hold__ends_with_a_word_about_it(element: bytes) -> None:
    tracemalloc.start()
    try:
        found = list(elements(io.BytesIO(b'[{"a": 1}, ' + element + b', {"a": 3}]')))
        most = tracemalloc.get_traced_memory()[1] / 1024**2
    finally:
        tracemalloc.stop()
    assert isinstance(found[0], Element) and found[0].value == {"a": 1}
    assert isinstance(found[1], Unreadable) and "[1]: it is longer than 4,194,304" in found[1].problem
    assert len(found) == 2 and most < 160


def test_letta__with_an_agent_of_many_messages__still_read(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "x" * 1_000} for _ in range(9_000)]
    agent = {"messages": said, "core_memory": [{"label": "human", "value": "Drinks tea without sugar"}]}
    path = stored(tmp_path, json.dumps({"agents": [agent]}).encode())
    (part,) = open_store(path, "letta").parts()
    assert texts(list(part.items)) == ["Drinks tea without sugar"]


def test_detect__jsonl_whose_first_line_is_broken__still_read_by_line(tmp_path: Path) -> None:
    rows = b'{"prefix": "a", "key": 1, oops}\n' + (FIXTURES / "langgraph.jsonl").read_bytes()
    ((_, told, items),) = everything(stored(tmp_path, rows))
    assert (told, len(texts(items))) == ("langgraph", 2)


def test_open__no_file_unknown_format_or_directory__said_in_one_line(tmp_path: Path) -> None:
    for path, format in (
        (tmp_path / "none", "auto"),
        (tmp_path, "auto"),
        (FIXTURES / "plain.txt", "nonesuch"),
    ):
        with pytest.raises(Unusable):
            open_store(path, format)


@pytest.mark.parametrize("text", ["text: [a]", "- a", "txt: a", "subject: a", "text: {", "1: a"])
def test_mapping__unusable__says_why(text: str) -> None:
    with pytest.raises(BadMapping):
        read_mapping(text)


@pytest.mark.parametrize(
    "value", ["", "soon", "0001-01-01", -1, 10**30, float("nan"), True, None, [], "unknown"]
)
def test_time__no_time__none_is_made_up(value: object) -> None:
    assert read_time(value) is None
    assert read_end(value) is None


FRAGMENTS = st.sampled_from(
    [b'{"results": [', b'{"memory": "a', b'"}', b"]", b"}", b"[2026-01-01] - x", b"# h\n", b"- ", b"\n", b",", b"|",
     b'{"type": "entity", "name": "A", "observations": ["b"]}', b'{"agents": [{"messages": [',
     b"\x1f\x8b\x08", b"PK\x03\x04", b'"\\ud83d"', b"\x00", b'"fact": ',
     b'"prefix": 1, "key": 2, "value": {', b"```", b"<!--", b"---\n", codecs.BOM_UTF16_LE,
     b"id,text\n", b'"source_node_uuid": [],', b"1e999", b"NaN", b"null"]
)  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.one_of(st.binary(max_size=400), st.lists(FRAGMENTS, max_size=12).map(b"".join)))
def test_read__any_bytes_in_any_format__never_raises(data: bytes, tmp_path: Path) -> None:
    path = stored(tmp_path, data)
    everything(path)
    for format in (
        "letta",
        "mem0_history",
        "rows",
        "instruction_file",
        "mcp_memory",
        "langgraph",
        "zep_edges",
    ):
        for part in open_store(path, format).parts():
            list(part.items)
