"""What the store gives out must not come back as something learned."""

from datetime import timedelta

import pytest

from memory.domain.digest import DigestEntry, build_digest
from memory.domain.ids import new_id, show_id
from memory.domain.injection import (
    MARKDOWN_END,
    MARKDOWN_HEADING,
    REFERENCE_ONLY,
    BlockEntry,
    render_block,
)
from memory.domain.own_output import own_output
from memory.domain.policy import Policy
from memory.domain.types import Band

from .candidates import NOON

TEXTS = ["Invoices go out monthly", "Loves <b>green</b> tea", "Deploys\nhappen on Tuesdays"]


def test_own_output__digest_line_by_line__every_line_is_recognised():
    entries = [
        DigestEntry(new_id(NOON), 1, text, NOON - timedelta(days=age)) for text in TEXTS for age in (1, 45)
    ]
    digest = build_digest(entries, NOON, Policy(), 1500)
    assert len(digest.fresh) == len(digest.aging) == 3
    assert own_output(digest.text)
    assert [line for line in digest.text.splitlines() if not own_output(line)] == []


@pytest.mark.parametrize("format", ["xml", "json"])
def test_own_output__injection_block__is_recognised_whole_and_by_line(format: str):
    entry = BlockEntry(show_id("mem", new_id(NOON)), 1, "project:a", "tool", 0.5, Band.FRESH, NOON, TEXTS[0])
    block = render_block([entry], format)  # type: ignore[arg-type]
    assert own_output(block) == "own_output.block"
    assert all(own_output(line) for line in block.splitlines())


def test_own_output__markdown_block__is_recognised_whole_and_by_its_marks():
    entry = BlockEntry(show_id("mem", new_id(NOON)), 1, "project:a", "tool", 0.5, Band.FRESH, NOON, TEXTS[0])
    block = render_block([entry], "markdown")
    assert own_output(block) == "own_output.block"
    known = [line for line in block.splitlines() if own_output(line)]
    heading, statement, opening, shown, *_, end = known
    assert (heading, statement, end) == (MARKDOWN_HEADING, REFERENCE_ONLY, MARKDOWN_END)
    assert (opening, shown) == ("```memory", f"id: {entry.id}")


@pytest.mark.parametrize("text", ["[REDACTED:api_key].", "mem_" + "0" * 32, "- Known:"])
def test_own_output__marks_alone__are_recognised(text: str):
    assert own_output(text)


@pytest.mark.parametrize(
    "text",
    ["The <memory> element of the config is limited to 512 MB", "Known: the API is slow in August",
     "The key [REDACTED:api_key] belongs to the sandbox", "Ticket mem_12 is about memory"],
)  # fmt: skip
def test_own_output__text_about_such_things__passes(text: str):
    assert own_output(text) is None
