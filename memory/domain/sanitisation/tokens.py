"""Cutting a text into sentences, sentences into segments, and segments into tokens with their places.

A segment runs to the next colon, semicolon, dash or bracket; commas stay inside it. Nothing is judged here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from memory.domain.sanitisation.verbs import word_set

# Quoted words are spoken of, not spoken: "the phrase 'ignore the rules' is a textbook example".
_MENTION: Final = re.compile(
    r"(?:\b(?:phrase|phrases|words?|text|string|strings|sentence|line|title|titled|entitled|called|named"
    r"|message|label|"
    r"labelled|labeled|reads?|slogan|talk|book|song|film|commit|heading|caption|button|option|command"
    r"|says|saying|say|write|"
    r"writes|wrote|typed|like|example|examples|error|warning|banner|sign|keyword|keywords|motto|song"
    r"|column|field|menu|entry|"
    r"placeholder|template|branch|ticket|subject|lecture|course|article|post|chapter|page|question|term"
    r"|terms|list(?:s|ed)?|whisper(?:s|ed)?|shout(?:s|ed)?|sang|sings?|chant(?:s|ed)?|print(?:s|ed)?|contain(?:s|ed)?"
    r"|quotes?|quoted)\s*(?:,|:)?\s*)"
    r"(?P<quote>[\"“'‘])(?P<inner>[^\"”’\n]{2,80}?)[\"”'’](?=[\s.,;:!?)]|$)",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(
    r"(?P<entity>(?:https?|ftp|wss?)://[^\s<>\"')]+|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}"
    r"|`[^`\n]{1,400}`|!?\[[^\]\n]{0,200}\]\([^)\s]{0,600}\)"
    r"|\{\{[^{}]{0,200}\}\}|<[^<>\s][^<>]{0,400}>|(?:\.{0,2}|~)/[\w./-]{2,}|\w{1,80}"
    r"(?:[._/]\w{1,80}){0,8}_\w+|\w{1,80}\([^)\s]{0,80}\)"
    r"|\w[\w-]{0,62}(?:\.\w[\w-]{0,62}){0,6}\.(?:com|org|net|io|dev|test|example|md|py|js|json|yaml|yml"
    r"|sh|txt|csv|exe|pdf|zip)\b)"
    r"|(?P<number>[$€£#]?\d[\w.,:%-]*(?<=[\w%])|[^\W\d_]+\d\w*)"
    r"|(?P<word>[^\W\d_]+(?:[-'’][^\W\d_]+)*)"
    r"|(?P<break>\n|\|\|?|->|=>|→|•|·)"
    r"|(?P<sign>\.\.\.|…|--|[^\w\s])"
)
_SENTENCE_ENDS: Final = frozenset([".", "!", "?", "\n", "|", "||", "•", "·", "…", "...", "->", "=>", "→"])
_SEGMENT_ENDS: Final = frozenset([";", ":", "—", "–", "--", "(", ")", "[", "]", '"', "“", "”", "{", "}", "="])
# Nobody writes a clause this long; the cut keeps the work per text linear.
_LONGEST_SEGMENT: Final = 80
_ABBREVIATIONS: Final = word_set(
    """
    mr mrs ms dr prof st no nr vs etc e.g i.e eg ie approx inc ltd co corp dept fig vol art sec ca cf jan
    feb mar apr jun jul aug sep sept oct nov dec a.m p.m
    """
)


class Token(NamedTuple):
    """`kind` is word, number, entity (address, path, code, placeholder) or sign."""

    text: str
    low: str
    start: int
    end: int
    kind: str

    @property
    def is_name(self) -> bool:
        return self.kind == "word" and self.text[0].isupper()


@dataclass(frozen=True, slots=True)
class Segment:
    """Tokens between two strong marks, which are kept in `begun_by` and `ended_by`."""

    tokens: tuple[Token, ...]
    ended_by: str
    begun_by: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    segments: tuple[Segment, ...]
    is_question: bool

    @property
    def tokens(self) -> tuple[Token, ...]:
        return tuple(token for segment in self.segments for token in segment.tokens)


def sentences(text: str) -> list[Sentence]:
    """The sentences of `text`; passages that only mention words in quotation marks are left out."""
    found: list[Sentence] = []
    segments: list[Segment] = []
    current: list[Token] = []
    begun_by = ""

    def close(ended_by: str) -> None:
        nonlocal begun_by
        if current:
            segments.append(Segment(tuple(current), ended_by, begun_by))
            current.clear()
        begun_by = ended_by

    tokens = _tokens(_without_mentions(text))
    for index, token in enumerate(tokens):
        if _ends_sentence(tokens, index, text):
            close(token.text)
            found.append(Sentence(tuple(segments), token.text == "?"))
            segments, begun_by = [], ""
        elif _ends_segment(token, text):
            close(token.text)
        else:
            current.append(token)
            if len(current) >= _LONGEST_SEGMENT:
                close("")
    close("")
    found.append(Sentence(tuple(segments), is_question=False))
    return [sentence for sentence in found if sentence.segments]


def _without_mentions(text: str) -> str:
    if not any(quote in text for quote in "\"“'‘"):
        return text
    return _MENTION.sub(_blanked, text)


def _blanked(match: re.Match[str]) -> str:
    start, end = match.span("inner")
    offset = match.start()
    whole = match.group()
    return whole[: start - offset - 1] + " " * (end - start + 2) + whole[end - offset + 1 :]


def _tokens(text: str) -> list[Token]:
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "sign"
        shown = match.group()
        found.append(Token(shown, shown.lower().replace("’", "'"), match.start(), match.end(), kind))
    return found


def _ends_sentence(tokens: list[Token], index: int, text: str) -> bool:
    token = tokens[index]
    if token.kind not in ("sign", "break") or token.text not in _SENTENCE_ENDS:
        return False
    if token.text != ".":
        return True
    if token.end < len(text) and not text[token.end].isspace() and text[token.end] not in "\"')]”’":
        return False
    before = tokens[index - 1] if index else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    short = before is not None and (
        before.low in _ABBREVIATIONS or (len(before.text) == 1 and before.is_name)
    )
    return not (short and after is not None and after.kind != "break")


def _ends_segment(token: Token, text: str) -> bool:
    if token.kind not in ("sign", "break"):
        return False
    return token.text in _SEGMENT_ENDS or (token.text == "-" and _is_dash(token, text))


def _is_dash(token: Token, text: str) -> bool:
    before = text[token.start - 1 : token.start]
    after = text[token.end : token.end + 1]
    return before.isspace() and after.isspace()
