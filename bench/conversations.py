"""LoCoMo-shaped files: long conversations in sessions, with questions and the ids of the turns that answer them.

The file is the caller's; its texts are data and nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TURN_ID = re.compile(r"D\d+:\d+")
_SESSION = re.compile(r"session_(\d+)")


class FileRefused(ValueError):
    """The file is not of this shape; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said: its id in the conversation, its session, and the text that is remembered."""

    id: str
    session: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the ids of the turns that answer it, all of which exist."""

    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation; `unanswerable` counts questions that name no turn of it."""

    name: str
    turns: list[Turn]
    questions: list[Asked]
    unanswerable: int


def read(path: Path) -> list[Conversation]:
    """The conversations of a file.  Raises `FileRefused`."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileRefused(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise FileRefused(f"{path} is not JSON: {error}") from None
    if not isinstance(document, list) or not document:
        raise FileRefused(f"{path} has to be a list of conversations")
    try:
        return [_conversation(item, number) for number, item in enumerate(document)]
    except (KeyError, TypeError, AttributeError) as error:
        raise FileRefused(f"{path} is not LoCoMo-shaped: {type(error).__name__} {error}") from None


def _conversation(item: dict[str, Any], number: int) -> Conversation:
    turns = list(_turns(item["conversation"]))
    known = {turn.id for turn in turns}
    questions, unanswerable = [], 0
    for asked in item["qa"]:
        evidence = frozenset(_TURN_ID.findall(" ".join(map(str, asked.get("evidence", ()))))) & known
        if evidence:
            questions.append(Asked(str(asked["question"]), str(asked.get("category", "")), evidence))
        else:
            unanswerable += 1
    return Conversation(str(item.get("sample_id", number)), turns, questions, unanswerable)


def _turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    """Session by session in the order of their numbers, as they were said."""
    numbers = sorted(int(found[1]) for name in conversation if (found := _SESSION.fullmatch(name)))
    for number in numbers:
        for turn in conversation[f"session_{number}"]:
            yield Turn(str(turn["dia_id"]), f"session_{number}", _text(turn))


def _text(turn: dict[str, Any]) -> str:
    """Who said what, and what the picture shows that was sent with it."""
    said = f"{turn['speaker']}: {turn['text']}"
    return f"{said} [{turn['blip_caption']}]" if turn.get("blip_caption") else said
