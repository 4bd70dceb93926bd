"""What remains of a finished task: a line for each step worth remembering, and one structured episode of the rest.

Text and data only; the same task always gives the same text, so that an end that is repeated finds what the
first one wrote.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory.domain.graphemes import cut, preview

_STEP_LIMIT: Final = 2000
_LINE_LIMIT: Final = 160
_EPISODE_LIMIT: Final = 4000
_MOST_NAMED: Final = 40


@dataclass(frozen=True, slots=True)
class Step:
    """One working value at the end of its task; `succeeded` None: the agent never said."""

    key: str
    value: object
    summary: str = ""
    succeeded: bool | None = None
    promoted: bool = False


def value_line(value: object) -> str:
    """A JSON value as one text: a string as it is, the rest as compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "), sort_keys=True)


def step_text(step: Step) -> str:
    """What is remembered of a successful step: its summary, else what it holds."""
    if step.summary:
        return step.summary
    text = value_line(step.value)
    return cut(text if isinstance(step.value, str) else f"{step.key}: {text}", _STEP_LIMIT)


def episode_text(task: str, outcome: str, summary: str, steps: Sequence[Step]) -> str:
    """The sentence of the episode: what the task was, how it ended, which steps it took."""
    head = f"Task {task} {_ENDS.get(outcome, outcome)}"
    parts = [f"{head}: {summary.rstrip('.')}." if summary else f"{head}."]
    for succeeded, words in _SAID.items():
        named = [step.key for step in steps if step.succeeded is succeeded]
        if named:
            more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
            parts.append(f"{words}: {', '.join(named[:_MOST_NAMED])}{more}.")
    return cut(" ".join(parts), _EPISODE_LIMIT)


_ENDS: Final = {
    "succeeded": "was finished",
    "failed": "ended without success",
    "abandoned": "was left unfinished",
}
_SAID: Final[dict[bool | None, str]] = {
    True: "Steps that worked",
    False: "Steps that failed",
    None: "Other steps",
}


def episode_data(task: str, outcome: str, steps: Sequence[Step]) -> dict[str, Any]:
    """The structure of the episode, for its metadata: every step in one line."""
    return {
        "task": task,
        "outcome": outcome,
        "steps": [
            {
                "key": step.key,
                "succeeded": step.succeeded,
                "remembered": step.promoted,
                "line": preview(step.summary or value_line(step.value), _LINE_LIMIT),
            }
            for step in steps
        ],
    }
