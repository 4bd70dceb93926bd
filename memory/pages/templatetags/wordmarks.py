"""Word by word differences between two wordings, as safe HTML for the two columns of a diff."""

import difflib
import re
from typing import NamedTuple

from django.utils.safestring import SafeString, mark_safe

from memory.pages.templatetags.plaintext import reveal

# Below this similarity, marked words are noise: both wordings are shown plain.
TOO_DIFFERENT = 0.5
# SequenceMatcher is quadratic at worst; longer texts are shown plain rather than holding up a page.
LONGEST_WORDS = 1200


class WordDiff(NamedTuple):
    """Both sides, escaped. `marked` says whether differing words are wrapped in del and ins."""

    old: SafeString
    new: SafeString
    marked: bool


def _marked(tokens: list[str], tag: str) -> str:
    text = "".join(tokens)
    core = text.strip()
    if not core:
        return reveal(text)
    head, tail = text[: text.index(core)], text[text.index(core) + len(core) :]
    return f"{head}<{tag}>{reveal(core)}</{tag}>{tail}"


def word_diff(old: str, new: str) -> WordDiff:
    """Marks removed words in `old` with del and added words in `new` with ins."""
    left, right = re.findall(r"\s+|\S+", old), re.findall(r"\s+|\S+", new)
    plain = WordDiff(reveal(old), reveal(new), marked=False)
    if len(left) + len(right) > LONGEST_WORDS:
        return plain
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    words = difflib.SequenceMatcher(None, old.split(), new.split(), autojunk=False)
    if words.ratio() < TOO_DIFFERENT:
        return plain
    out_old: list[str] = []
    out_new: list[str] = []
    for op, a1, a2, b1, b2 in matcher.get_opcodes():
        if op == "equal":
            same = reveal("".join(left[a1:a2]))
            out_old.append(same)
            out_new.append(same)
            continue
        if a2 > a1:
            out_old.append(_marked(left[a1:a2], "del"))
        if b2 > b1:
            out_new.append(_marked(right[b1:b2], "ins"))
    # reveal() escapes every word; only del and ins are added
    return WordDiff(mark_safe("".join(out_old)), mark_safe("".join(out_new)), marked=True)
