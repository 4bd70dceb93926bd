"""Shows hostile text so that a person sees every character of it, and the browser obeys none.

Memory text comes from agents, mails and web pages. Characters that are invisible, that turn the reading
direction or that are only there for machines (Unicode tags) are drawn as visible escapes. Everything else
is HTML-escaped. Detection of threats does not live here (see `memory.domain`): this file only draws.
"""

import re
import unicodedata
from collections.abc import Iterable

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

# Controls (except tab and newline), soft hyphen, joiners, bidi marks and isolates, invisible operators,
# byte order mark, interlinear marks, variation selectors of plane 14, and the Unicode tag block.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\uffff\U000e0000-\U000e0fff]"
)
_JOINERS = {"\u200c", "\u200d"}
_NAMES = {
    0x200B: "ZWSP", 0x200C: "ZWNJ", 0x200D: "ZWJ", 0x200E: "LRM", 0x200F: "RLM", 0x061C: "ALM",
    0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO", 0x202E: "RLO",
    0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI",
    0x00AD: "SHY", 0x2060: "WJ", 0xFEFF: "BOM",
}  # fmt: skip
_TAG_FIRST, _TAG_LAST = 0xE0020, 0xE007E

Span = tuple[int, int, str]


def runs_from_the_right(text: str) -> bool:
    """Whether some of the text is written from right to left."""
    return not text.isascii() and any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in text)


def _escape_name(char: str) -> str:
    point = ord(char)
    if _TAG_FIRST <= point <= _TAG_LAST:
        return f"TAG {chr(point - 0xE0000)}".rstrip()
    return _NAMES.get(point, f"U+{point:04X}")


def _drawn(char: str) -> str:
    return f'<span class="esc" title="U+{ord(char):04X}">{escape(_escape_name(char))}</span>'


def _is_script_joiner(text: str, at: int) -> bool:
    """Joiners between two non-ASCII characters are ordinary writing (Persian, Indic scripts, emoji)."""
    if text[at] not in _JOINERS:
        return False
    around = (text[at - 1 : at], text[at + 1 : at + 2])
    return all(char and not char.isascii() for char in around)


def reveal(text: str, *, strict: bool = False) -> SafeString:
    """Escaped text with hidden characters drawn. `strict` draws joiners of ordinary writing as well."""
    parts: list[str] = []
    end = 0
    for found in _HIDDEN.finditer(text):
        if not strict and _is_script_joiner(text, found.start()):
            continue
        parts += [escape(text[end : found.start()]), _drawn(found.group())]
        end = found.end()
    parts.append(escape(text[end:]))
    return mark_safe("".join(parts))  # every part above is escaped or built from a code point


def reveal_spans(text: str, spans: Iterable[Span]) -> SafeString:
    """Inert text with the matched spans marked.

    `spans` are (start, end, rule) in characters of `text`. Spans that overlap an earlier one start where that
    one ended, so no character is drawn twice. Spans outside the text are cut to it.
    """
    parts: list[str] = []
    end = 0
    for start, stop, rule in sorted(spans):
        start, stop = max(start, end), min(stop, len(text))
        if stop <= start:
            continue
        parts.append(reveal(text[end:start], strict=True))
        inner = reveal(text[start:stop], strict=True)
        parts.append(f'<mark title="{escape(rule)}">{inner}<span class="vh"> ({escape(rule)})</span></mark>')
        end = stop
    parts.append(reveal(text[end:], strict=True))
    return mark_safe("".join(parts))  # made of escaped parts only
