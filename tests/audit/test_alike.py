"""Which earlier row of a foreign store is found to say the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory.audit.alike import Comparison
from memory.domain.similarity import judge
from memory.importers.records import ForeignRecord

PAIRS = Path(__file__).resolve().parent.parent / "domain" / "similarity"
RELEASES = """The release train leaves every Tuesday.
Releases go out on Tuesdays.
We ship releases each Tuesday.
Tuesday is release day.
Every week the release is on Tuesday.
Our weekly release takes place on Tuesday.
Release day is Tuesday.
The team releases on Tuesdays.
Weekly releases are scheduled for Tuesday.
Software is released each week on a Tuesday.
On Tuesdays we release.""".splitlines()


def found_in(texts: list[str], owners: list[str] | None = None) -> list[str | None]:
    """For each row, in which way an earlier one was alike."""
    comparison = Comparison()
    whose = owners or [""] * len(texts)
    found = [
        comparison.earlier(ForeignRecord(text, str(at), owner=owner), text, at)
        for at, (text, owner) in enumerate(zip(texts, whose, strict=True))
    ]
    return [one.kind if one else None for one in found]


@pytest.mark.parametrize("name", ["pairs_dev", "pairs_first", "pairs_second", "pairs_third"])
def test_pairs__that_the_rule_calls_the_same__are_all_found_in_one_store(name: str) -> None:
    """Also those that share hardly a word as it is written: K8s and Kubernetes, 3pm and 15:00."""
    rows = [json.loads(line) for line in (PAIRS / f"{name}.jsonl").read_text().splitlines()]
    same = [(row["a"], row["b"]) for row in rows if judge(row["a"], row["b"], None).verdict == "same"]
    found = found_in([text for pair in same for text in pair])
    assert len(same) > 25
    assert [pair for pair, kind in zip(same, found[1::2], strict=True) if kind != "same"] == []


def test_row__among_many_that_share_its_words__is_compared_with_the_most_alike() -> None:
    assert judge(RELEASES[-1], RELEASES[7], None).verdict == "same"
    assert found_in(RELEASES)[-1] == "same"


def test_rows_of_two_owners__are_never_compared() -> None:
    texts = ["Infra runs on K8s", "Infrastructure runs on Kubernetes"]
    assert found_in(texts) == [None, "same"]
    assert found_in(texts, ["ana", "ben"]) == [None, None]
