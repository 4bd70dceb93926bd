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

WHY: Final[Mapping[str, str]] = {
    "vague.empty": "there is no letter or digit in it",
    "vague.short": "too short to say anything",
    "vague.placeholder": "a placeholder",
    "vague.acknowledgement": "an acknowledgement or a greeting",
    "vague.repetition": "one thing over and over",
    "vague.question": "a question, which tells nothing",
    "vague.refusal": "a refusal of an assistant",
    "vague.command": "an order for that moment",
    "vague.judgement": "a judgement on something that only the conversation knew",
    "vague.dangling_reference": "begins with a pronoun that nothing explains",
    "vague.index_line": "a line of an index",
    "vague.fragment": "a fragment: a name, and nothing about it",
    "vague.label": "a heading without its section",
    "transient.run_state": "the state of a run or a service at that moment",
    "transient.count": "a figure of that moment",
    "transient.present_moment": "speaks of now, today, yesterday or what is upcoming",
    "transient.activity": "what someone was doing or looking for at that moment",
    "transient.conversation_turn": "a turn of the conversation: asked, requested, mentioned",
    "transient.next_step": "a next step of the work at hand",
    "transient.status_note": "a note that something was done",
    "transient.undecided": "something that was still open then",
    "transient.temporary_path": "a path that is gone with the process",
    "transient.predicate": "an attribute that changes with the moment",
    "own_output.block": "a prompt block of a memory store",
    "own_output.digest_line": "a line of a digest",
    "own_output.heading": "a heading of a digest or of a prompt block",
    "own_output.bare_id": "an identifier of a memory store and nothing else",
    "own_output.only_redaction": "nothing is left but what was redacted",
}
"""Rules of the gate in words; another rule is explained by the gate itself."""
