"""Obligations and permissions: modals whose subject is the reader, whoever acts, or a class of people.

Who is bound decides. "Agents must …", "every reply has to …", "nobody may …" direct a reader; "Tom has to
renew his passport", "the team agreed that reviewers must sign off" and "the parcel should be here by now"
state something about the world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from memory.domain.sanitisation.clauses import at
from memory.domain.sanitisation.tokens import Sentence, Token
from memory.domain.sanitisation.verbs import word_set
from memory.domain.sanitisation.words import (
    FREQUENCY,
    MODALS,
    PREPOSITIONS,
    RELATIVES,
    is_known_verb,
    is_past,
)

Found = tuple[int, int]

READERS: Final = word_set(
    """
    you assistant assistants agent agents model models ai ais bot bots chatbot chatbots llm llms copilot
    helper helpers planner instance instances reader readers system systems session sessions tool tools
    yourself machine machines responder responders successor successors y'all
    """
)
# What a reading assistant makes or does; a rule about it is a rule for the assistant.
PRODUCTS: Final = word_set(
    """
    answer answers reply replies response responses summary summaries output outputs recommendation
    recommendations suggestion suggestions message messages completion completions report reports comparison
    comparisons email emails e-mail e-mails newsletter newsletters conversation conversations digest digests
    draft drafts translation translations memory memories note notes entry entries paragraph passage
    instruction instructions
    """
)
_CLASS_OF_PEOPLE: Final = word_set(
    """
    staff everyone everybody anyone anybody nobody noone one personnel people someone whoever workers
    employees users operators reviewers members customers managers developers engineers colleagues teams
    auditors callers support clients contractors administrators admins humans visitors
    """
)
_PERSONAL: Final = word_set("i we he she it they who user user's tom")
_STRONG: Final = word_set("must shall mustn't shan't should shouldn't ought")
_PERMISSIVE: Final = word_set("may can cannot can't might could")
_PREDICTED: Final = word_set(
    """
    arrive land finish reach take come last end start open cost rise fall drop ship work fit leave appear
    happen return recover heal resolve go suffice stay remain exceed grow bloom see hold
    """
)
_REPORTING: Final = word_set(
    """
    agreed agree agrees decided decide said says say thinks think thought believes believe believed noted
    notes wrote writes argued argues suggested suggests asked asks wants hopes hoped hope expects expected
    complained complains mentioned mentions explained explains feels felt insisted insists reported reports
    recommended announced warned warns stated states confirmed confirms told proposed proposes concluded
    voted requested demanded knew knows realised realized heard learned understood
    """
)
_PARTICIPLES: Final = {
    "required": "to", "supposed": "to", "expected": "to", "obliged": "to", "instructed": "to", "requested": "to",
    "advised": "to", "encouraged": "to", "asked": "to", "urged": "to", "told": "to", "obligated": "to", "bound": "to",
    "forbidden": "to", "permitted": "to", "allowed": "to", "authorised": "to", "authorized": "to", "free": "to",
    "entitled": "to", "cleared": "to", "prohibited": "from", "barred": "from", "exempt": "from", "invited": "to",
    "welcome": "to", "reminded": "to", "ordered": "to", "directed": "to", "not": "to",
}  # fmt: skip
_BE: Final = word_set("is are was were be 're 's isn't aren't am being been")
_PERFECT: Final = word_set("been gone had done known seen taken given")
_IMPERSONAL: Final = word_set(
    """
    important essential crucial necessary mandatory imperative vital advisable recommended best compulsory
    obligatory forbidden prohibited required critical paramount acceptable permissible preferable advised
    wise
    """
)


def obligations(sentence: Sentence) -> Iterator[tuple[str, Found]]:
    """("obligation" or "permission", span) for each clause that binds or frees a reader."""
    if sentence.is_question:
        return
    tokens = sentence.tokens
    for index, token in enumerate(tokens):
        if token.kind != "word":
            continue
        found = _modal(tokens, index) or _participle(tokens, index) or _impersonal(tokens, index)
        if found is not None:
            start = _subject_start(tokens, index)
            yield found, (tokens[start].start, tokens[-1].end)
            return


def _modal(tokens: Sequence[Token], index: int) -> str | None:
    low = tokens[index].low
    if low in _STRONG:
        return _strong(tokens, index, index + 1)
    after = at(tokens, index + 1)
    if low in ("had", "'d") and after is not None and after.low == "better":
        return _strong(tokens, index, index + 2)
    if low in ("need", "needs", "have", "has", "'ve") and after is not None and after.low == "to":
        return _need(tokens, index, index + 2)
    if low in ("is", "are") and _is_to(tokens, index):
        return _is_to_be(tokens, index)
    if low in ("will", "would", "'ll", "won't") and _reader(tokens, index):
        return "obligation" if _follows_verb(tokens, index + 1) else None
    if low in ("may", "can", "cannot", "can't", "need") and index:
        return _permission(tokens, index)
    return None


def _strong(tokens: Sequence[Token], modal: int, verb: int) -> str | None:
    if modal == 0 or tokens[modal - 1].low in ("the", "a", "this") or at(tokens, verb) is None:
        return None
    if _reader(tokens, modal):
        return "obligation"
    if _epistemic(tokens, modal, verb) or _reported(tokens, modal) or _personal(tokens, modal):
        return None
    return "obligation"


def _need(tokens: Sequence[Token], modal: int, verb: int) -> str | None:
    if _reader(tokens, modal) or (_product(tokens, modal) and not _reported(tokens, modal)):
        return "obligation"
    if _reported(tokens, modal) or _personal(tokens, modal):
        return None
    return "obligation" if _binds_a_class(tokens, modal) else None


def _is_to(tokens: Sequence[Token], index: int) -> bool:
    after = at(tokens, index + 1)
    if after is None:
        return False
    position = index + 2 if after.low in ("not", "never", "always", "only") else index + 1
    to, verb = at(tokens, position), at(tokens, position + 1)
    return to is not None and to.low == "to" and verb is not None and is_known_verb(verb.low)


def _is_to_be(tokens: Sequence[Token], index: int) -> str | None:
    if _reader(tokens, index) or _product(tokens, index) or _binds_a_class(tokens, index):
        return "obligation"
    subject = _subject(tokens, index)
    # "the goal is to halve the queue" defines; "invoices are to be paid" directs
    passive = any(token.low == "be" for token in tokens[index + 1 : index + 4])
    return "obligation" if passive and subject and not _personal(tokens, index) else None


def _permission(tokens: Sequence[Token], modal: int) -> str | None:
    low = tokens[modal].low
    subject = {token.low for token in _subject(tokens, modal)}
    if subject & (READERS - {"you", "system", "systems", "tool", "tools", "model", "models", "machine"}):
        return "permission"
    if "you" in subject and low == "may":
        return "permission"
    if subject & {"nobody", "noone", "none", "no", "anyone"} and low == "may":
        return "permission"
    return None


def _participle(tokens: Sequence[Token], index: int) -> str | None:
    word = tokens[index].low
    link = _PARTICIPLES.get(word)
    after = at(tokens, index + 1)
    if link is None or word == "not" or after is None or after.low != link or index < 2:
        return None
    verb = index - 1
    while verb > 0 and tokens[verb].low in (FREQUENCY | {"not", "hereby", "fully"}):
        verb -= 1
    if tokens[verb].low not in _BE | {"been"} or tokens[verb].low in ("was", "were"):
        return None
    if tokens[verb].low == "been":
        verb -= 1
    if _reader(tokens, verb) or _product(tokens, verb):
        return "obligation"
    if _reported(tokens, verb):
        return None
    return "obligation" if _binds_a_class(tokens, verb) else None


def _impersonal(tokens: Sequence[Token], index: int) -> str | None:
    if tokens[index].low != "it" or index + 3 >= len(tokens) or _believed(tokens, index):
        return None
    position = index + 1
    if tokens[position].low not in ("is", "'s", "will", "remains"):
        return None
    for offset in range(1, 4):
        token = at(tokens, position + offset)
        if token is not None and token.low in _IMPERSONAL:
            then = at(tokens, position + offset + 1)
            return "obligation" if then is not None and then.low in ("to", "that", "for", "not") else None
    return None


def _believed(tokens: Sequence[Token], index: int) -> bool:
    """ "Believes it is important to …" tells of someone's belief."""
    return index > 0 and any(token.low in _REPORTING for token in tokens[max(0, index - 3) : index])


def _subject_start(tokens: Sequence[Token], modal: int) -> int:
    """Back to the beginning of the noun phrase or clause before a modal."""
    position = modal
    while position > 0:
        token = tokens[position - 1]
        if token.text in (",", ";", ":") or token.low in (
            "that",
            "and",
            "but",
            "so",
            "because",
            "if",
            "when",
            "then",
        ):
            break
        position -= 1
    return position


def _subject(tokens: Sequence[Token], modal: int) -> Sequence[Token]:
    return tokens[_subject_start(tokens, modal) : modal]


def _head_words(tokens: Sequence[Token], modal: int) -> set[str]:
    """Words of the subject before its first preposition: "every reply to Lyon" is about a reply."""
    words: set[str] = set()
    for token in _subject(tokens, modal):
        if token.low in PREPOSITIONS and words:
            break
        words.add(token.low)
    return words


def _reader(tokens: Sequence[Token], modal: int) -> bool:
    words = _head_words(tokens, modal)
    if not words & READERS:
        return False
    if "you" in words or words & {
        "assistant",
        "assistants",
        "ai",
        "agents",
        "bots",
        "bot",
        "chatbot",
        "llm",
        "llms",
    }:
        return "manager" not in words and "coach" not in words
    # a "system" or "model" that must have failed is a thing in the world
    return not _epistemic(tokens, modal, modal + 1)


def _product(tokens: Sequence[Token], modal: int) -> bool:
    words = _head_words(tokens, modal)
    return bool(words & PRODUCTS) and bool(
        words & {"all", "every", "each", "any", "your", "future", "the", "this"}
    )


def _binds_a_class(tokens: Sequence[Token], modal: int) -> bool:
    subject = _subject(tokens, modal)
    words = _head_words(tokens, modal)
    if words & {"every", "all", "each", "any", "no", "nobody", "everyone", "anyone", "everybody"}:
        return not words & {"i", "we", "he", "she"}
    return bool(subject) and bool(
        words & {"staff", "personnel", "employees", "operators", "reviewers", "admins"}
    )


def _personal(tokens: Sequence[Token], modal: int) -> bool:
    """A particular person or group as the subject: a pronoun, a name, "her brother", "the plumber"."""
    subject = _subject(tokens, modal)
    if not subject:
        return False
    words = {token.low for token in subject}
    if words & PRODUCTS and words & {"all", "every", "each", "your"}:
        return False
    last = subject[-1]
    if last.low in _PERSONAL or words & {"user", "he", "she", "i", "we", "his", "her", "my", "their"}:
        return True
    if last.is_name and (len(subject) == 1 or last.start != subject[0].start):
        return not last.low.endswith("s") or len(subject) > 1
    return False


def _epistemic(tokens: Sequence[Token], modal: int, verb: int) -> bool:
    """Supposition, not obligation: "must have been lost", "should arrive", "must be the oldest"."""
    position = verb
    while position < len(tokens) and (
        tokens[position].low in FREQUENCY or tokens[position].low in ("not", "also")
    ):
        position += 1
    token, after = at(tokens, position), at(tokens, position + 1)
    if token is None:
        return True
    if token.low == "have" and after is not None and (is_past(after.low) or after.low in _PERFECT):
        return True
    if token.low == "be" and after is not None:
        return not _is_participle(tokens, position + 1)
    modal_word = tokens[modal].low
    return modal_word in ("should", "ought") and token.low in _PREDICTED


def _is_participle(tokens: Sequence[Token], index: int) -> bool:
    while index < len(tokens) and tokens[index].low in FREQUENCY:
        index += 1
    token = at(tokens, index)
    if token is None:
        return False
    irregular = (
        "done",
        "given",
        "taken",
        "shown",
        "written",
        "known",
        "chosen",
        "driven",
        "hidden",
        "drawn",
        "seen",
    )
    return is_past(token.low) or token.low in irregular


def _reported(tokens: Sequence[Token], modal: int) -> bool:
    """Whether someone is said to have agreed, said or wished what the modal says."""
    start = _subject_start(tokens, modal)
    before = [token.low for token in tokens[:start]]
    if not any(low in _REPORTING for low in before):
        return False
    return not {token.low for token in tokens[start:modal]} & READERS


def _follows_verb(tokens: Sequence[Token], index: int) -> bool:
    token = at(tokens, index)
    while token is not None and (token.low in FREQUENCY or token.low == "not"):
        index += 1
        token = at(tokens, index)
    return token is not None and (is_known_verb(token.low) or token.low == "be")


_UNUSED: Final = MODALS | RELATIVES
