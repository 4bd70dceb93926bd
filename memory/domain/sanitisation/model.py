"""The data that sanitisation takes and gives: rules, views of a text, spans, the outcome.

Plain frozen data. Nothing here looks at a text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memory.domain.types import Finding

Verdict = Literal["pass", "quarantine", "reject"]
Reason = Literal["contains_secret", "contains_pii", "contains_instruction"]


@dataclass(frozen=True, slots=True)
class SanitiseRules:
    """What a tenant wants done with each kind of finding."""

    secrets: Literal["redact", "reject"] = "redact"
    personal: Literal["allow", "redact", "quarantine"] = "allow"
    instructions: Literal["quarantine", "reject", "allow"] = "quarantine"
    instruction_trust: float = 0.8
    hold_procedures: bool = True
    hold_kinds: frozenset[str] = frozenset()
    """Other kinds that are held from untrusted sources, whatever they say."""


@dataclass(frozen=True, slots=True)
class Sanitised:
    """The texts as they may be stored, and what is to happen to them.

    `findings` is empty when no rule matched. That is never a statement that the text is safe.
    """

    fields: dict[str, str]
    metadata: dict[str, object]
    verdict: Verdict
    reason: Reason | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A secret or a piece of personal data: the characters it covers and the rule that saw it."""

    span: tuple[int, int]
    rule: str


@dataclass(frozen=True, slots=True)
class DirectiveFinding:
    """A speech act that directs instead of stating. `span` counts characters of the text as given."""

    reason: str
    span: tuple[int, int]
    rule: str
    view: str


@dataclass(frozen=True, slots=True)
class View:
    """One reading of a text.

    `offsets` gives, for each character of the view, the character of the text as given that it stands for;
    `whole` is used instead where a passage was decoded and single characters have no counterpart.
    """

    name: str
    text: str
    offsets: tuple[int, ...] = ()
    whole: tuple[int, int] | None = None

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        if self.whole is not None:
            return self.whole
        if not self.offsets or start >= end:
            return start, end
        return self.offsets[start], self.offsets[min(end, len(self.offsets)) - 1] + 1
