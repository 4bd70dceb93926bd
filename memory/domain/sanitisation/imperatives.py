"""Imperatives: a verb in its base form that heads a clause without a subject.

Noun or verb is told by the shape of what follows ("Report the outage" against "Report generation takes"), so
the recogniser does not depend on which verb it is, and a word that no list knows counts as a verb where
English leaves no other reading ("yeet the backups").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from memory.domain.sanitisation.clause_heads import CUES, heads
from memory.domain.sanitisation.clauses import at, begins_object, finite_from
from memory.domain.sanitisation.tokens import Segment, Sentence, Token
from memory.domain.sanitisation.verbs import word_set
from memory.domain.sanitisation.words import (
    CONJUNCTIONS,
    DETERMINERS,
    FREQUENCY,
    NOT_HEADS,
    OBJECT_PRONOUNS,
    PREPOSITIONS,
    RELATIVES,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
    is_auxiliary,
    is_known_verb,
    is_past,
    is_plain_verb,
    is_third_person,
    is_time_noun,
)

Found = tuple[int, int]

# Verbs of being in a state: in notes they stand without their subject ("Need examples for the trip").
_STATES: Final = word_set("need want hope wish love hate seem like mean own belong cost contain deserve lack")
_PARTICLES: Final = word_set("up off out over back aside down away along through")
_TO_VERBS: Final = word_set(
    """
    switch report reply move talk listen revert return point link stick route answer post write defer cater
    """
)
_VERB_PREPOSITION: Final = word_set(
    """
    act:on act:as act:like wait:for wait:until start:with start:from start:by stick:with look:at look:for
    work:around work:through run:with run:without run:as end:with answer:with answer:in answer:as
    answer:like answer:only switch:into change:into turn:into go:into start:over look:after answer:without
    reply:with reply:in reply:as reply:only lead:with vote:for side:with check:for check:with sign:off
    log:in sign:in call:on play:along stop:at stop:by finish:with charge:for bid:on pose:as deal:with
    account:for watch:for format:as return:with pack:with travel:by cook:with pay:with lean:towards lean:toward
    point:to aim:for vouch:for
    """
)
# Nouns that stand before a name or a number as its title.
_TITLES: Final = word_set(
    """
    plan project order model type function name label code version release run build test sample ticket node
    key file host port page table chart figure part station state group team staff partner zone point set
    step stage phase module issue case account agent user customer patient client supplier market bank bar
    channel level place house field line market center centre route trail camp contract policy record index
    lot table room train ship pilot doctor king queen post mount park star season form class branch book
    title value view screen tag batch seat pair quote bill mark rose grant rob pat sue jack page host judge
    grant
    """
)
_HTTP_METHODS: Final = frozenset(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
_SHORTEST_CLAUSE: Final = 4
_NOUN_ENDINGS: Final = (
    "ing", "ed", "ly", "s", "tion", "ment", "ness", "ity", "ous", "ful", "ble", "ance", "ence", "ism", "ist", "ship",
    "hood", "age", "eer", "ian",
)  # fmt: skip
_OPEN_DETERMINERS: Final = word_set(
    """
    the all every any these those their your its his her my our each both this a an everything it them him
    """
)
_AS_VERB_BEFORE_PLURAL: Final = word_set(
    """
    to into onto as without instead before first via when whenever if unless until only by daily once
    immediately silently always never nightly weekly below above toward towards
    """
)


def imperatives(sentence: Sentence) -> Iterator[Found]:
    """The span of each imperative clause, from its verb on."""
    if sentence.is_question and not _polite(sentence):
        return
    for segment in sentence.segments:
        for index, strict in heads(segment):
            span = _imperative_at(segment, index, strict=strict)
            if span is not None:
                yield span
                break


def _polite(sentence: Sentence) -> bool:
    return any(token.low in ("please", "kindly") for token in sentence.tokens)


def _imperative_at(segment: Segment, index: int, *, strict: bool) -> Found | None:
    tokens = segment.tokens
    head, cue = _skip_adverbs(tokens, index)
    token = at(tokens, head)
    if token is None or token.kind != "word" or token.low in _STATES:
        return None
    after = at(tokens, head + 1)
    if token.text in _HTTP_METHODS and after is not None and after.kind == "entity":
        return None
    if token.low in ("do", "don't", "dont") and _negated_or_emphatic(tokens, head):
        return _span(tokens, index)
    if after is None and segment.ended_by == ":" and is_plain_verb(token.low):
        return _span(tokens, index)
    if after is None:
        return _span(tokens, index) if cue and is_known_verb(token.low) and head > index else None
    if token.low in ("be", "have", "let", "let's", "do") and _light_verb(tokens, head):
        return _span(tokens, index)
    if after.text in (",", ")") and not cue:
        return None
    if is_plain_verb(token.low):
        verbal = _plain(tokens, head, cue=cue, strict=strict)
    elif is_known_verb(token.low):
        verbal = _noun_like(segment, head, cue=cue, strict=strict)
    else:
        verbal = _unknown(tokens, head, cue=cue)
    return _span(tokens, index) if verbal else None


def _span(tokens: Sequence[Token], index: int) -> Found:
    return tokens[index].start, tokens[-1].end


def _skip_adverbs(tokens: Sequence[Token], index: int) -> tuple[int, bool]:
    cue = False
    while index < len(tokens):
        token = tokens[index]
        manner = token.low.endswith("ly") and len(token.low) > len("only") and not is_known_verb(token.low)
        adverb = token.low in FREQUENCY or manner
        joined = token.low in ("and", "or", "but", ",", "again") and index > 0
        if not adverb and not joined:
            break
        cue = cue or token.low in CUES
        index += 1
    return index, cue


def _negated_or_emphatic(tokens: Sequence[Token], head: int) -> bool:
    token, after = tokens[head], at(tokens, head + 1)
    if after is None:
        return False
    if token.low in ("don't", "dont"):
        return after.low not in SUBJECT_PRONOUNS
    if after.low in ("not", "never"):
        then = at(tokens, head + 2)
        return then is not None and then.low not in SUBJECT_PRONOUNS
    return after.low not in SUBJECT_PRONOUNS and (
        begins_object(tokens, head + 1)
        or after.low in ("so", "this", "that", "nothing")
        or is_plain_verb(after.low)
    )


def _light_verb(tokens: Sequence[Token], head: int) -> bool:
    token, after = tokens[head], tokens[head + 1]
    if token.low == "be":
        return after.low not in ("that", "it") and after.kind == "word"
    if token.low in ("let", "let's"):
        return after.kind == "word"
    following = at(tokens, head + 2)
    causes = token.low == "have" and following is not None and is_known_verb(following.low)
    return begins_object(tokens, head + 1) or causes or (token.low == "have" and after.is_name)


def _plain(tokens: Sequence[Token], head: int, *, cue: bool, strict: bool) -> bool:
    after = tokens[head + 1]
    if is_auxiliary(after.low) or (is_third_person(after.low) and at(tokens, head + 2) is None and not cue):
        return False
    if after.low in ("and", "or") and not cue:
        return is_known_verb(getattr(at(tokens, head + 2), "low", ""))
    if after.low == "of" and not cue:
        return tokens[head].low in ("dispose", "think", "make", "take", "get")
    if strict and not cue:
        return begins_object(tokens, head + 1) or _goes_on_as_object(tokens, head)
    return not _heads_compound(tokens, head)


def _goes_on_as_object(tokens: Sequence[Token], head: int) -> bool:
    """After a comma or "so
    ": a bare object will do when nothing finite follows ("so skip permission checks")."""
    after = tokens[head + 1]
    return (
        after.kind in ("word", "number") and not is_auxiliary(after.low) and not is_past(after.low)
        and finite_from(tokens, head + 1) is None
    )  # fmt: skip


def _heads_compound(tokens: Sequence[Token], head: int) -> bool:
    """ "Delete button is broken": bare nouns straight up to a verb that can only be finite."""
    for position in range(head + 1, min(head + 4, len(tokens))):
        token = tokens[position]
        if is_auxiliary(token.low):
            return position > head + 1
        # "Bypass valve 3 leaks", "Vet student Amaru spends": past a name or a number the verb can only be finite
        named = tokens[position - 1].is_name or tokens[position - 1].kind == "number"
        if named and position > head + 1 and (is_past(token.low) or is_third_person(token.low)):
            return True
        if token.kind not in ("word", "number") or token.low in NOT_HEADS:
            return False
    return False


def _noun_like(segment: Segment, head: int, *, cue: bool, strict: bool) -> bool:
    tokens = segment.tokens
    token, after = tokens[head], tokens[head + 1]
    finite = finite_from(_clause(tokens, head), head + 1)
    if after.low == "of" or is_auxiliary(after.low) or (finite == head + 1 and not cue):
        return False
    if cue:
        return finite is None or begins_object(tokens, head + 1)
    if begins_object(tokens, head + 1) or (after.low in _PARTICLES and begins_object(tokens, head + 2)):
        return True
    if _plural_that_acts(tokens, head + 1):
        return False
    if after.low.endswith("ing") and token.low in (
        "stop",
        "start",
        "keep",
        "try",
        "avoid",
        "quit",
        "consider",
        "risk",
    ):
        return finite is None or begins_object(tokens, head + 2)
    if after.low in SUBORDINATORS and after.low not in ("as", "before", "after", "since", "until", "till"):
        return after.low not in RELATIVES or after.low == "when"
    if finite is not None or segment.ended_by in (":", "="):
        return False
    if _main_clause_needs_verb(segment, head) and not strict:
        return after.kind in ("word", "number") and after.low not in PREPOSITIONS
    if strict and after.kind == "number":
        return token.low not in _TITLES and len(tokens) > head + 2
    if strict:
        return (
            after.kind in ("word", "number")
            and after.low not in NOT_HEADS
            and _verb_before_plural(tokens, head)
        )
    return _noun_like_without_finite(tokens, head)


def _clause(tokens: Sequence[Token], head: int) -> Sequence[Token]:
    """Up to the comma after which another clause says why: "Use the fork, it is maintained"."""
    for position in range(head + _SHORTEST_CLAUSE - 1, len(tokens) - 1):
        if tokens[position].text == "," and tokens[position + 1].low in SUBJECT_PRONOUNS:
            return tokens[:position]
    return tokens


def _plural_that_acts(tokens: Sequence[Token], index: int) -> bool:
    """Whether a plural is followed by its verb in the present, as in "Backup jobs run at two"."""
    noun, verb, after = at(tokens, index), at(tokens, index + 1), at(tokens, index + 2)
    if noun is None or verb is None or not noun.low.endswith("s") or verb.low in _PARTICLES:
        return False
    return is_known_verb(verb.low) and (after is None or after.low in PREPOSITIONS or after.low in FREQUENCY)


def _main_clause_needs_verb(segment: Segment, head: int) -> bool:
    """After "when …," or a full clause and a semicolon, a noun phrase alone would leave the clause without a verb."""
    tokens = segment.tokens
    if head > 1 and tokens[head - 1].text == ",":
        return tokens[0].low in SUBORDINATORS
    return head == 0 and segment.begun_by == ";" and len(tokens) > _SHORTEST_CLAUSE


def _noun_like_without_finite(tokens: Sequence[Token], head: int) -> bool:
    token, after = tokens[head], tokens[head + 1]
    following = at(tokens, head + 2)
    if after.low in _PARTICLES:
        bare = following is not None and following.kind == "word" and following.low not in CONJUNCTIONS
        return following is None or begins_object(tokens, head + 2) or following.low in PREPOSITIONS or bare
    if after.low == "to":
        return token.low in _TO_VERBS or (following is not None and following.kind == "entity")
    if after.low in PREPOSITIONS:
        return f"{token.low}:{after.low}" in _VERB_PREPOSITION or (
            following is not None and following.kind == "entity"
        )
    if after.low in FREQUENCY or after.low.endswith("ly"):
        return following is not None
    if after.kind == "number":
        return token.low not in _TITLES and following is not None and following.low.endswith("s")
    if after.is_name:
        return following is not None and (token.low not in _TITLES or _verb_before_plural(tokens, head))
    return after.low not in NOT_HEADS and _verb_before_plural(tokens, head)


def _verb_before_plural(tokens: Sequence[Token], head: int) -> bool:
    """ "Email reports to Leeds" against "Support tickets from Leeds": the preposition gives it away."""
    later = tokens[head + 2 : head + 9]
    return any(token.low in _AS_VERB_BEFORE_PLURAL or token.kind == "entity" for token in later)


def _unknown(tokens: Sequence[Token], head: int, *, cue: bool) -> bool:
    """A word no list knows is a verb where only a verb can stand: before a determiner, without a subject."""
    token, after = tokens[head], tokens[head + 1]
    if (
        token.low in NOT_HEADS
        or token.low in CONJUNCTIONS
        or token.low in OBJECT_PRONOUNS
        or len(token.low) < 3
    ):
        return False
    if (
        token.low.endswith(_NOUN_ENDINGS)
        or token.text.isupper()
        or not token.low.isascii()
        or is_past(token.low)
    ):
        return False
    if after.low not in _OPEN_DETERMINERS:
        return False
    following = at(tokens, head + 2)
    if after.low in DETERMINERS and following is not None and is_time_noun(following.low):
        return False
    if after.low in ("a", "an") and not cue:
        return False
    return following is None or not is_auxiliary(following.low)
