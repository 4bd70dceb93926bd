"""How far the verdicts agree with a careful reading of each row.

`mem0_labels.jsonl` judges a real store that is not part of this project: only line numbers, hashes and labels
are kept. A line may carry a second label where two readings are fair; the first is the one that counts first.
`held_out_lines.txt` was written and labelled before the rules were tried on it, and no rule was changed for it.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from memory.audit import Category, Item, audit_records, audit_store
from memory.importers import ForeignRecord, open_store

HERE = Path(__file__).parent
BESIDE = Path(os.environ.get("MEMGOV_TEST_SAMPLES", HERE.parents[2] / "shared"))
STORE = BESIDE / "data" / "mem0" / "full_mem0.txt"
NOW = datetime(2026, 8, 1, tzinfo=UTC)
_DUPLICATES = ("exact_duplicate", "near_duplicate")


def word(item: Item) -> str:
    return "duplicate" if item.verdict in _DUPLICATES else str(item.verdict)


def personal(item: Item) -> bool:
    return any(finding.category is Category.PERSONAL for finding in item.findings)


@pytest.mark.skipif(
    not STORE.exists(), reason=f"no real store at {STORE}; MEMGOV_TEST_SAMPLES names the folder"
)
def test_verdicts__real_store__agree_with_its_reader() -> None:
    labels = [json.loads(line) for line in (HERE / "mem0_labels.jsonl").read_text().splitlines()]
    lines = STORE.read_text(encoding="utf-8").splitlines()
    assert [sha256(line.encode()).hexdigest()[:16] for line in lines] == [label["sha256"] for label in labels]
    report = audit_store(open_store(STORE), NOW)
    assert report.records == len(labels) == len(report.items) == 100, "each line is classified"
    pairs = list(zip(labels, report.items, strict=True))
    first = sum(word(item) == label["verdicts"][0] for label, item in pairs)
    fair = sum(word(item) in label["verdicts"] for label, item in pairs)
    about_people = sum(personal(item) == label["personal"] for label, item in pairs)
    assert (first >= 95, fair >= 97, about_people >= 97) == (True, True, True), (first, fair, about_people)


def test_verdicts__held_out_lines__agree_with_their_reader() -> None:
    rows = [line.split("|", 1) for line in (HERE / "held_out_lines.txt").read_text().splitlines()]
    records = [ForeignRecord(text, f"line {at}") for at, (_, text) in enumerate(rows, 1)]
    pairs = list(zip(rows, audit_records(records, NOW).items, strict=True))
    right = sum(word(item) == label.split()[0] for (label, _), item in pairs)
    about_people = sum(personal(item) == label.endswith(" P") for (label, _), item in pairs)
    assert right >= 0.9 * len(rows) and about_people >= 0.95 * len(rows), (right, about_people, len(rows))
