"""Marks that pretend another speaker: chat templates, role prefixes, tags of a system message.

A stored fact has no reason to carry the framing of a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_TEMPLATE: Final = re.compile(
    r"<\|[a-z_]{2,24}\|?>|\[/?INST\]|<</?SYS>>|<start_of_turn>|<end_of_turn>|</?(?:system|assistant"
    r"|instructions?|developer|prompt|"
    r"admin|important|tool_call|function_call|system-reminder|system_prompt)\b[^>]*>|\[(?:SYSTEM|ADMIN"
    r"|DEVELOPER|OVERRIDE|ASSISTANT|"
    r"INSTRUCTIONS?)\b[^\]\n]*\]|^\s*#{1,6}\s*(?:system|instructions?|new instructions?|assistant"
    r"|developer|override)\b\s*:?"
    r"|(?:^|\n)[ \t]*(?:system|assistant|developer|ai|human|SYSTEM|OVERRIDE|ADMIN)\s*:\s+(?=\S+\s)",
)


def role_marks(text: str) -> Iterator[tuple[int, int]]:
    """Spans of role marks and chat template tokens."""
    for match in _TEMPLATE.finditer(text):
        yield match.span()
