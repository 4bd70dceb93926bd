"""Who a modal binds: the reader, what the reader makes, a class of people, or someone in the world.

Also whether the modal supposes or reports instead of binding. Questions only; verdicts are in `obligations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memory.domain.sanitisation.clauses import at
from memory.domain.sanitisation.tokens import Token
from memory.domain.sanitisation.verbs import word_set
from memory.domain.sanitisation.words import FREQUENCY, PREPOSITIONS, is_past

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
_PERSONAL: Final = word_set("i we he she it they who user user's tom")
_PREDICTED: Final = word_set(
    """
    arrive land finish reach take come last end start open cost rise fall drop ship work fit leave appear
    happen return recover heal resolve go suffice stay remain exceed grow bloom see hold
    """
)
_MARKED: Final = word_set("all every each any your future the this")
# What a document "says" is a rule; what a person said is a report.
_DOCUMENTS: Final = word_set(
    """
    guideline guidelines policy policies handbook manual rule rules notice memo law regulation regulations standard
    directive document note section paragraph clause contract agreement procedure protocol instruction instructions
    """
)
REPORTING: Final = word_set(
    """
    agreed agree agrees decided decide said says say thinks think thought believes believe believed noted
    notes wrote writes argued argues suggested suggests asked asks wants hopes hoped hope expects expected
    complained complains mentioned mentions explained explains feels felt insisted insists reported reports
    recommended announced warned warns stated states confirmed confirms told proposed proposes concluded
    voted requested demanded knew knows realised realized heard learned understood
    """
)
_SAYING: Final = word_set("says said say thinks thought believes believed writes wrote")
_PERFECT: Final = word_set("been gone had done known seen taken given")


def subject_start(tokens: Sequence[Token], modal: int) -> int:
    """Back to the beginning of the noun phrase or clause before a modal."""
    position = modal
    while position > 0:
        token = tokens[position - 1]
        if (
            token.text in (",", ";", ":")
            or token.low in _SAYING
            or token.low
            in (
                "that",
                "and",
                "but",
                "so",
                "because",
                "if",
                "when",
                "then",
            )
        ):
            break
        position -= 1
    return position


def subject_of(tokens: Sequence[Token], modal: int) -> Sequence[Token]:
    return tokens[subject_start(tokens, modal) : modal]


def _head_words(tokens: Sequence[Token], modal: int) -> set[str]:
    """Words of the subject before its first preposition: "every reply to Lyon" is about a reply."""
    words: set[str] = set()
    for token in subject_of(tokens, modal):
        if token.low in PREPOSITIONS and words:
            break
        words.add(token.low)
    return words


def is_reader(tokens: Sequence[Token], modal: int) -> bool:
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
    return not is_supposition(tokens, modal, modal + 1)


def is_product(tokens: Sequence[Token], modal: int) -> bool:
    words = _head_words(tokens, modal)
    bare = len(words) == 1 and subject_start(tokens, modal) == 0
    return bool(words & PRODUCTS) and (bare or bool(words & _MARKED))


def binds_a_class(tokens: Sequence[Token], modal: int) -> bool:
    subject = subject_of(tokens, modal)
    words = _head_words(tokens, modal)
    if words & {"every", "all", "each", "any", "no", "nobody", "everyone", "anyone", "everybody"}:
        return not words & {"i", "we", "he", "she"}
    return bool(subject) and bool(
        words & {"staff", "personnel", "employees", "operators", "reviewers", "admins"}
    )


def is_personal(tokens: Sequence[Token], modal: int) -> bool:
    """A particular person or group as the subject: a pronoun, a name, "her brother", "the plumber"."""
    subject = subject_of(tokens, modal)
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


def is_supposition(tokens: Sequence[Token], modal: int, verb: int) -> bool:
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


def is_reported(tokens: Sequence[Token], modal: int) -> bool:
    """Whether someone is said to have agreed, said or wished what the modal says."""
    start = subject_start(tokens, modal)
    if _reported_after(tokens, modal):
        return not {token.low for token in tokens[start:modal]} & READERS
    before = [token.low for token in tokens[:start]]
    if not any(low in REPORTING for low in before) or any(low in _DOCUMENTS for low in before):
        return False
    return not {token.low for token in tokens[start:modal]} & READERS


def _reported_after(tokens: Sequence[Token], modal: int) -> bool:
    """ "…, says the sign at the door", "… according to the foreman": a person or thing in the world says it."""
    for position in range(modal + 2, len(tokens)):
        low, source = tokens[position].low, {token.low for token in tokens[position + 1 : position + 5]}
        told = low in _SAYING and tokens[position - 1].text == ","
        if told or (low == "according" and "to" in source):
            return not source & _DOCUMENTS
    return False
