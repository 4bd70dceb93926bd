"""Sentences that a conversation leaves behind in a store: what is refused, and its durable neighbour that stays."""

from __future__ import annotations

import pytest

from memory.domain.durability import transient
from memory.domain.smalltalk import vague


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Visited the lighthouse museum yesterday", "transient.present_moment"),
        ("Upcoming ferry trip on June 3rd", "transient.present_moment"),
        ("User is celebrating a friend's graduation", "transient.activity"),
        ("Chatting with the assistant to practise Danish", "transient.activity"),
        ("User looks at a map", "transient.activity"),
        ("User misunderstood the word 'terse'", "transient.conversation_turn"),
        ("Need some examples for the essay", "transient.conversation_turn"),
        ("Need recommendations for each town", "transient.conversation_turn"),
        ("Has not chosen a hotel", "transient.undecided"),
        ("User didn't confirm the table", "transient.undecided"),
    ],
)
def test_transient__said_for_the_moment__refused(text: str, rule: str) -> None:
    assert transient(text) == rule


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday's figures are loaded at six every morning",
        "The upcoming-events page is built from the calendar",
        "User celebrates Midsummer with the whole family",
        "Talks are held in the harbour hall",
        "User looks at the logs before the dashboards",
        "Needs examples rather than definitions",
        "Need two approvals for a release",
        "For each release, write a changelog entry",
        "Each service has one owner",
        "Did not attend university",
        "Has not eaten meat since 2019",
    ],
)
def test_transient__its_durable_neighbour__kept(text: str) -> None:
    assert transient(text) is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("User really likes the proposed layout", "vague.judgement"),
        ("Loves the assistant", "vague.judgement"),
        ("User agrees with the suggestion", "vague.judgement"),
        ("Lyrics of 'Harbour Lights' by The Tidal Band", "vague.fragment"),
        ("Scenes from 'A Winter at Sea'", "vague.fragment"),
        ("They will send the parcel to the office by courier", "vague.dangling_reference"),
    ],
)
def test_vague__about_something_only_the_talk_knows__refused(text: str, rule: str) -> None:
    assert vague(text) == rule


@pytest.mark.parametrize(
    "text",
    [
        "User likes the new-wave band Tidal",
        "User prefers the provided Docker image over building one",
        "Loves the sea",
        "Author of 'A Winter at Sea'",
        "User likes the song 'Harbour Lights'",
        "The Hansens will move to Porto; they have rented a flat there",
    ],
)
def test_vague__its_telling_neighbour__kept(text: str) -> None:
    assert vague(text) is None
