"""A rule of rewriting: the marks that a text must hold one of for it to be tried, what it finds, what it writes."""

import re
from collections.abc import Callable

Rule = tuple[tuple[str, ...], re.Pattern[str], Callable[[re.Match[str]], str] | str]


def apply(rules: tuple[Rule, ...], text: str) -> str:
    """Apply rules in their order. No marks: always tried."""
    for marks, pattern, replacement in rules:
        for mark in marks:  # most of the cost of a new text is here: a plain loop is faster than any()
            if mark in text:
                break
        else:
            if marks:
                continue
        text = pattern.sub(replacement, text)
    return text
