"""All the readings of a text that are scanned: as given, and with every known disguise undone.

Only the text as given is ever stored.
"""

from __future__ import annotations

from typing import Final

from memory.domain.sanitisation.encodings import decoded_views
from memory.domain.sanitisation.model import View
from memory.domain.sanitisation.unicode_views import unicode_views

_DEPTH: Final = 3  # base64 in percent encoding in a comment is still read; nobody nests deeper by accident
_MOST_VIEWS: Final = 40


def views(text: str) -> tuple[View, ...]:
    """The text as given first, then each reading that differs from those before it."""
    found = [View("original", text)]
    seen = {text}
    level = list(found)
    for _ in range(_DEPTH):
        level = [child for parent in level for child in _children(parent) if _new(child, seen)]
        found.extend(level)
        if not level or len(found) >= _MOST_VIEWS:
            break
    return tuple(found[:_MOST_VIEWS])


def _new(view: View, seen: set[str]) -> bool:
    if view.text in seen or not view.text.strip():
        return False
    seen.add(view.text)
    return True


def _children(parent: View) -> list[View]:
    children = [*unicode_views(parent.text), *decoded_views(parent.text)]
    if parent.name == "original":
        return children
    return [_placed(parent, child) for child in children]


def _placed(parent: View, child: View) -> View:
    """A reading of a reading, with its place in the text as given."""
    if parent.whole is not None:
        return View(child.name, child.text, whole=parent.whole)
    if child.whole is not None:
        return View(child.name, child.text, whole=parent.source_span(*child.whole))
    return View(child.name, child.text, tuple(parent.offsets[offset] for offset in child.offsets))
