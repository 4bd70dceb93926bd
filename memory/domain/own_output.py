"""Knows the store's own output when it comes back as a candidate: block, digest, redaction and id lines.

Without this a store fed with its own prompts grows by what it already holds.
"""

from __future__ import annotations

import re
from typing import Final

from memory.domain.digest import AGING_HEADING, DIGEST_TAG, FRESH_HEADING
from memory.domain.injection import BLOCK_TAG, ENTRY_TAG, MARKDOWN_END, MARKDOWN_HEADING, REFERENCE_ONLY

_BULLET: Final = " \t-*•"
_HEADINGS: Final = frozenset(
    heading.casefold()
    for heading in (FRESH_HEADING, AGING_HEADING, MARKDOWN_HEADING, MARKDOWN_END.strip("*"))
)
_TAG = re.compile(rf"</?(?:{DIGEST_TAG}|{BLOCK_TAG}|{ENTRY_TAG}\s+id=)", re.IGNORECASE)
_DIGEST_MARK = re.compile(r"\(mem~[0-9a-f]{8}, learned \d{4}-\d\d-\d\d\)")
_ENTRY_MARKDOWN = re.compile(rf"^(?:```{ENTRY_TAG}\s*$|id: (?:mem|wrk)_[0-9a-f]{{32}}\s*$)", re.MULTILINE)
# The lines of an entry in Markdown, when they come back one by one; a label alone states no fact.
_LABEL = re.compile(
    r"(?:version: \d+|trust: [01](?:\.\d+)?|band: \w+|scope: [a-z]+:\S+|source: \S+"
    r"|recorded_at: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"
)
_ENTRY_JSON = re.compile(r'\{\s*"id":\s*"mem_[0-9a-f]{32}"')
_BARE_ID = re.compile(r"(?:[a-z]{3}_[0-9a-f]{32}[\s,;]*)+")
_ONLY_REDACTION = re.compile(r"(?:\[REDACTED:[\w-]+\][\s.,;:]*)+")


def own_output(text: str) -> str | None:
    """The rule by which a text is recognised as the store's own output, else None."""
    line = text.strip(_BULLET + "\r\n")
    if _TAG.search(text) or _ENTRY_JSON.search(text) or _ENTRY_MARKDOWN.search(text):
        return "own_output.block"
    if _LABEL.fullmatch(line):
        return "own_output.block"
    if _DIGEST_MARK.search(text):
        return "own_output.digest_line"
    if line.casefold() in _HEADINGS or REFERENCE_ONLY.casefold() in line.casefold():
        return "own_output.heading"
    if _BARE_ID.fullmatch(line):
        return "own_output.bare_id"
    if _ONLY_REDACTION.fullmatch(line):
        return "own_output.only_redaction"
    return None
