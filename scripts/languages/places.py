"""Which places of sentences hold words of ours: a status, the name of a metric, or a sentence within the sentence.

`{0!}` marks such a place: what stands there is said in the reader's language too, and at `{0*}` each part of a list
with commas. Everything else is left as it is: it is data of people and agents, who may be called `worker`, and the key
of a scope may be `above`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

OURS: Final = (
    "The audit chain is {0!}",
    "The sweep {0} failed: {1!}",
    "The sweep {0} stopped before it removed too much, and waits for a person: {1!}",
    "The {0!} gives no sign of life: {1!}.",
    "a memory that is {0!} cannot be edited; restore it first",
    "a memory that is {0!} cannot be restored; nothing was changed",
    "a memory that is {0!} does not wait for a review; nothing was changed",
    "cannot be stored: {0!}",
    "has to be {0!}",
    "it is {0!} already; nothing was changed",
    "none of the domain's keywords{0!}",
    "nothing matches that could go ({0*}); nothing was deleted",
    "one of the two is {0!} by now; nothing was changed",
    "only a live memory can be pinned; this one is {0!}",
    "only a live memory can be promoted; this one is {0!}",
    "only a live memory can be verified; this one is {0!}",
    "the {0!} has {1} letters; the audit keeps {2}, so shorten it",
    "the guard would stop decay and ask a person in {0}{1!}",
    "the one to keep is {0!} by now; restore it first, or keep the other. Nothing was changed",
    "the request is already {0!}",
    "the request is already {0!}; nothing was saved",
    "the request is {0!} already",
    "would not be {0!}",
    "write {0!}, above {1} to {2}",
    "write {0!}, {1} to {2}",
    "write {0!}{1!}",
    "{0!} of {1!} is {2!}, at or {3!} {4!} ({5!}).",
    "{0} is {1!}: only a live memory can be mounted",
    "{0!}: the next reviewer will ask",
    "{0!}; nothing was changed",
    "{0!}; nothing was saved",
)
_OURS: Final = re.compile(r"\{(\d+)[!*]\}")


def marked(sentences: Iterable[str]) -> list[str]:
    """The sentences with the places of our words marked.  ValueError for a mark whose sentence is gone."""
    texts = set(sentences)
    marks = {_OURS.sub(r"{\1}", one): one for one in OURS}
    if gone := marks.keys() - texts:
        raise ValueError(f"scripts/languages/places.py marks what nobody says any more: {sorted(gone)}")
    return [marks.get(text, text) for text in sorted(texts)]
