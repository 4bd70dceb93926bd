"""What the categories are called in a report, and in one sentence what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memory.audit.model import KEEP, Category

TITLES: Final[Mapping[str, str]] = {
    KEEP: "Worth keeping",
    Category.OWN_OUTPUT: "A store's own output",
    Category.TOO_VAGUE: "Too vague",
    Category.TRANSIENT: "Transient",
    Category.TOO_LONG: "Too long",
    Category.EXACT_DUPLICATE: "Exact duplicates",
    Category.NEAR_DUPLICATE: "Near duplicates",
    Category.STALE: "Stale",
    Category.CONTRADICTION: "Contradictions",
    Category.SECRET: "Secrets",
    Category.PERSONAL: "Personal data",
    Category.INSTRUCTION: "Instructions",
    Category.SIMILAR: "Perhaps the same",
}

MEANINGS: Final[Mapping[str, str]] = {
    Category.OWN_OUTPUT: "digests, prompt blocks or identifiers that a memory store wrote and then learned again",
    Category.TOO_VAGUE: "says nothing that could be used later: fragments, questions, acknowledgements",
    Category.TRANSIENT: "was true for the moment only: requests, states of a run, what someone was doing",
    Category.TOO_LONG: "more than one memory can hold",
    Category.EXACT_DUPLICATE: "the same text about the same owner again",
    Category.NEAR_DUPLICATE: "the same fact in other words",
    Category.STALE: "expired, ended, replaced, or not confirmed for a long time",
    Category.CONTRADICTION: "another value for something that has one value at a time",
    Category.SECRET: "passwords, keys and tokens; never shown here",
    Category.PERSONAL: "identifies a person or tells of their private life",
    Category.INSTRUCTION: "directs whoever reads it instead of stating something",
    Category.SIMILAR: "alike in wording; a person should look",
}
