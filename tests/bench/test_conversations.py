"""Reading LoCoMo-shaped files: what is taken, and how a file that is none is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.conversations import FileRefused, read

CONVERSATION: dict[str, Any] = {
    "sample_id": "mill",
    "conversation": {
        "speaker_a": "Miller",
        "session_2": [{"speaker": "Baker", "dia_id": "D2:1", "text": "The oven is fixed."}],
        "session_1": [
            {
                "speaker": "Miller",
                "dia_id": "D1:1",
                "text": "The wheel turns.",
                "blip_caption": "a mill wheel",
            },
            {"speaker": "Baker", "dia_id": "D1:2", "text": "The flour is here."},
        ],
        "session_1_date_time": "a morning",
    },
    "qa": [
        {"question": "What turns?", "evidence": ["D1:1; D2:1"], "category": 4},
        {"question": "What is unknown?", "evidence": ["D9:9"], "category": 5},
        {"question": "What is a typing error?", "evidence": ["D:1:1"]},
        {"question": "What is asked without evidence?"},
    ],
}


def written(folder: Path, document: object) -> Path:
    file = folder / "conversations.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return file


def test_read__conversation__turns_in_order_and_questions_with_evidence(tmp_path: Path) -> None:
    (found,) = read(written(tmp_path, [CONVERSATION]))
    assert [(turn.id, turn.session) for turn in found.turns] == [
        ("D1:1", "session_1"), ("D1:2", "session_1"), ("D2:1", "session_2"),
    ]  # fmt: skip
    assert found.turns[0].text == "Miller: The wheel turns. [a mill wheel]"
    assert [(one.text, sorted(one.evidence)) for one in found.questions] == [
        ("What turns?", ["D1:1", "D2:1"])
    ]
    assert found.unanswerable == 3


@pytest.mark.parametrize(
    "document",
    [
        "not json",
        [],
        {},
        [{}],
        [1],
        [{"conversation": {"session_1": [{}]}, "qa": []}],
        [{"conversation": []}],
    ],
)
def test_read__something_else__refused_with_its_name(tmp_path: Path, document: object) -> None:
    with pytest.raises(FileRefused, match=r"conversations\.json"):
        read(written(tmp_path, document))


def test_read__no_file__refused(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="No such file"):
        read(tmp_path / "missing.json")
