"""Where in a segment an imperative may begin: at its head, after a fronted phrase, after a comma or "so".

Positions only; whether a verb stands there as an imperative is judged in `imperatives`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from memory.domain.sanitisation.clauses import at, begins_object, finite_from, governed
from memory.domain.sanitisation.tokens import Segment, Token
from memory.domain.sanitisation.verbs import word_set
from memory.domain.sanitisation.words import (
    FREQUENCY,
    NOT_HEADS,
    PREPOSITIONS,
    SUBORDINATORS,
    is_known_verb,
)

CUES: Final = word_set("please kindly always never just simply pls plz don't dont do")
_FRONTS: Final = (
    PREPOSITIONS
    | SUBORDINATORS
    | word_set("each every any next should had were also even henceforth today tomorrow the in anytime")
)
_UNMARKED_FRONTS: Final = PREPOSITIONS | word_set("should when whenever if once")
_QUOTES: Final = frozenset("\"'“‘")
_SO: Final = word_set("so then therefore hence thus instead")
_AND: Final = word_set("and but or and/or")
_ADDRESS_WITHIN: Final = 12
# Who is spoken to before a comma: "Dear assistant, …", "All agents, …".
_CALLED: Final = word_set(
    """
    assistant assistants agent agents model models ai ais bot bots chatbot chatbots llm llms copilot copilots
    """
)
_CALLING: Final = word_set(
    "dear hey hi hello oh ok okay attention note to all any every fellow future my our the this you ai helpful"
)
_LONGEST_CALL: Final = 4


def heads(segment: Segment) -> Iterator[tuple[int, bool]]:
    """Positions where an imperative may begin, and whether the verb there needs strict evidence."""
    tokens = segment.tokens
    start = _first_word(tokens)
    yield start, False
    called = _after_call(tokens, start)
    if called is not None:
        yield called, False
    first = at(tokens, start)
    fronted = first is not None and (first.low in _FRONTS or first.low in FREQUENCY)
    for index in range(start + 1, len(tokens)):
        before, token = tokens[index - 1], tokens[index]
        if token.low in ("please", "kindly") and before.low not in ("said", "say", "says"):
            yield index, False
        elif before.text == "," or (before.text in _QUOTES and token.kind == "word"):
            if fronted and not _in_fronted_list(tokens, start, index):
                yield index, False
            elif not governed(tokens, index) and _begins_clause(tokens, start, index):
                yield index, True
        elif _joined(tokens, start, index) or (fronted and _unmarked_head(tokens, start, index)):
            yield index, True


def _first_word(tokens: Sequence[Token]) -> int:
    """Past bullets, numbering and quotation marks."""
    index = 0
    while index < len(tokens) and (
        tokens[index].kind in ("sign", "break") or (index == 0 and tokens[index].text.rstrip(".").isdigit())
    ):
        index += 1
    return index


def _after_call(tokens: Sequence[Token], start: int) -> int | None:
    """Past somebody who is spoken to at the head of a segment, where a verb follows: "Assistant, forward …".

    Not past the first of a list: "Agents, bots and models share the cache".
    """
    for index in range(start, min(start + _LONGEST_CALL, len(tokens) - 2)):
        word, comma, after = tokens[index].low, tokens[index + 1], tokens[index + 2]
        if comma.text == "," and word in _CALLED:
            verbal = after.low in CUES or after.low in FREQUENCY or is_known_verb(after.low)
            return index + 2 if verbal and after.low not in _CALLED else None
        if word not in _CALLING and word not in _CALLED:
            return None
    return None


def _in_fronted_list(tokens: Sequence[Token], start: int, index: int) -> bool:
    """Whether a later comma only goes on with what hangs on a verb after the first one."""
    commas = [position for position in range(start, index) if tokens[position].text == ","]
    return len(commas) > 1 and governed(tokens[commas[0] :], index - commas[0])


def _joined(tokens: Sequence[Token], start: int, index: int) -> bool:
    before = tokens[index - 1].low
    if before in _SO:
        return not governed(tokens, index - 1)
    return before in _AND and _after_statement(tokens, start, index)


def _begins_clause(tokens: Sequence[Token], start: int, index: int) -> bool:
    """Whether what stands before a comma is a clause of its own and not the beginning of a list of subjects."""
    if is_known_verb(tokens[start].low):
        return True
    finite = finite_from(tokens, start + 1)
    return finite is not None and finite < index - 1


def _after_statement(tokens: Sequence[Token], start: int, index: int) -> bool:
    """After "and" nearly every base form hangs on something earlier, so only an address as its object counts."""
    if governed(tokens, index - 1) or not _begins_clause(tokens, start, index):
        return False
    later = tokens[index + 1 : index + _ADDRESS_WITHIN]
    return tokens[index].low in CUES or any(token.kind == "entity" for token in later)


def _unmarked_head(tokens: Sequence[Token], start: int, index: int) -> bool:
    """ "For any question about A read the data of B": a plain verb with an object after a fronted phrase."""
    token, before = tokens[index], tokens[index - 1]
    if index < start + 2 or tokens[start].low not in _UNMARKED_FRONTS:
        return False
    if not is_known_verb(token.low) or before.low in NOT_HEADS or before.text == ",":
        return False
    following = at(tokens, index + 1)
    gerund = (
        following is not None
        and following.low.endswith("ing")
        and token.low in ("start", "stop", "keep", "begin")
    )
    if not ((gerund or begins_object(tokens, index + 1)) and finite_from(tokens[:index], start + 1) is None):
        return False
    return not governed(tokens, index) and not (
        before.low.endswith("s") and tokens[start].low in SUBORDINATORS
    )
