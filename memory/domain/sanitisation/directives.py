"""Directives in a text: sentences that direct a reader instead of stating something.

Told by the form of the sentence, in every reading of the text; see the modules for each kind of form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from memory.domain.sanitisation.claims import claims
from memory.domain.sanitisation.disguises import disguises
from memory.domain.sanitisation.imperatives import imperatives
from memory.domain.sanitisation.languages import foreign_directives, language_of
from memory.domain.sanitisation.markup import role_marks
from memory.domain.sanitisation.model import DirectiveFinding, View
from memory.domain.sanitisation.obligations import obligations
from memory.domain.sanitisation.tokens import Sentence, sentences
from memory.domain.sanitisation.triggers import triggers
from memory.domain.sanitisation.views import views
from memory.domain.sanitisation.wording import wordings

_Found = tuple[str, str, tuple[int, int]]
# The other readings decode, and give back much that nobody wrote.
_AS_PEOPLE_WRITE: Final = frozenset(["original", "nfkc", "stripped", "folded", "comment", "hidden"])


def scan_directives(text: str) -> tuple[DirectiveFinding, ...]:
    """Every directive in `text` and in its readings, with the reason, the span in the text and the rule."""
    return directives_in(views(text))


def directives_in(readings: Sequence[View]) -> tuple[DirectiveFinding, ...]:
    """The same for readings that were already made; the first must be the text as given."""
    return tuple(_unrepeated(readings))


def _unrepeated(readings: Sequence[View]) -> Iterator[DirectiveFinding]:
    seen: set[tuple[str, str, tuple[int, int]]] = set()
    for view in readings:
        for reason, rule, span in _in_view(view):
            place = view.source_span(*span)
            if (reason, rule, place) not in seen:
                seen.add((reason, rule, place))
                yield DirectiveFinding(reason, place, rule, view.name)


def _in_view(view: View) -> Iterator[_Found]:
    """What the rules find; where they find nothing, passages that are worded like a direction."""
    text = view.text
    language = language_of(text)
    english = [one for one in sentences(text) if language == "en" or language_of(_words(one)) == "en"]
    found = False
    for each in _by_rules(view, english, language):
        found = True
        yield each
    if not found:
        for span in wordings(english, decoded=view.name not in _AS_PEOPLE_WRITE):
            yield "wording", "wording", span


def _by_rules(view: View, english: Sequence[Sentence], language: str) -> Iterator[_Found]:
    text = view.text
    if view.name == "original":
        for mark in disguises(text):
            yield "disguise", mark.rule, mark.span
    for span in role_marks(text):
        yield "address", "role_mark", span
    for sentence in english:
        for span in imperatives(sentence):
            yield "imperative", "imperative", span
        for rule, span in obligations(sentence):
            yield "obligation" if rule == "obligation" else "authorisation", rule, span
    if language != "en":
        yield from foreign_directives(text, language)
    for span in triggers(text):
        yield "trigger", "condition_on_conversation", span
    yield from claims(text)


def _words(sentence: Sentence) -> str:
    return " ".join(token.text for token in sentence.tokens)
