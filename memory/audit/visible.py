"""Foreign text made safe to look at: what would steer a terminal or turn the reading direction is spelled out."""

from __future__ import annotations

import unicodedata
from typing import Final

from memory.domain.graphemes import preview
from memory.domain.sanitisation import scan_secrets
from memory.domain.sanitisation.redaction import redact

LONGEST_SHOWN: Final = 240
_JOINERS: Final = "\u200c\u200d\ufe0f"
_HIDDEN: Final = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def visible(text: str, longest: int = LONGEST_SHOWN) -> str:
    """One line, at most so long, control and format characters as their code."""
    line = " ".join(text[: 4 * longest].split())
    safe = "".join(one if _shown(one) else f"<U+{ord(one):04X}>" for one in line)
    return preview(safe, longest)


def masked(text: str, longest: int = LONGEST_SHOWN) -> str:
    """The same, secrets replaced first."""
    return visible(redact(text, scan_secrets(text)), longest)


def _shown(one: str) -> bool:
    return one in _JOINERS or unicodedata.category(one) not in _HIDDEN
