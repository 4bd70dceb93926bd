"""Too vague to keep: acknowledgements, questions, refusals, one-off commands, fragments, bare judgements.

By shape and closed word classes. A rule that needs English applies to English only; text in other scripts is
judged by length, marks and repetition alone. What is short-lived rather than empty is in `durability`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from memory.domain.english import STANDING_VERBS, bare, sentences, standing, words

_ACKNOWLEDGING: Final = frozenset(
    """
    ok okay k yes yeah yep yup ya no nope nah sure thanks thank thx ty you great cool nice fine good perfect
    awesome right alright correct exactly got it i see understood noted agreed done hello hi hey bye goodbye
    morning evening afternoon night please sorry lol haha ha hehe hm hmm mhm uh um oh ah wow welcome so
    much very a lot again there all sounds makes sense will do of course go ahead np cheers and that's that is
    works for me to problem worries worry then thing indeed
    ja nein danke bitte merci beaucoup oui non si gracias hola adiós obrigado obrigada olá ciao grazie tak tack
    нет да спасибо привет はい いいえ ありがとう ありがとうございます 네 아니요 감사합니다 안녕하세요
    好的 好 谢谢 是 不
    """.split()
)
_PLACEHOLDERS: Final = frozenset(
    "n/a na tbd tba todo null nil undefined unknown nan asdf qwerty foo bar foobar xxx".split()
) | {"lorem ipsum", "hello world", "not specified", "not available", "not provided", "not known"}
# Said while nothing was said.  Not of the value of a triple: its environment may be "test", its allergies "none".
_FILLER: Final = frozenset(
    {
        "one sec", "one moment", "one second", "just a sec", "just a moment", "never mind", "nevermind", "none", "test",
        "testing", "test test", "foo bar", "loading", "thinking", "processing", "[object object]",
    }
)  # fmt: skip
_EVALUATIVE: Final = (
    "good|great|awesome|nice|bad|terrible|amazing|cool|fine|interesting|important|delicious|beautiful|perfect"
    "|horrible|awful|lovely|okay|fun|boring|wonderful|excellent|fantastic|funny|weird|cute|helpful|useful|annoying"
)
_ABILITY_DENIED: Final = (
    r"(?:can't|can’t|cannot|can\ not|could\ not|couldn't|won't|am\ unable\ to|'m\ unable\ to|’m\ unable\ to"
    r"|am\ not\ able\ to|'m\ not\ able\ to|’m\ not\ able\ to|am\ not\ allowed\ to)"
)
_REFUSAL = re.compile(
    rf"""^(?:i['’]?m\ (?:really\ |very\ )?sorry|i\ am\ sorry|sorry|apologies|i\ apologi[sz]e|unfortunately)\b
    .{{0,60}}\b(?:i|we)(?:\ do\ not|\ don't|\ don’t|\ ?{_ABILITY_DENIED})\b
    |^(?:but\ )?(?:i|we)\ ?{_ABILITY_DENIED}\ (?:\w+\ )?(?:help|assist|comply|answer|fulfil|fulfill|provide
    |discuss|continue|generate|browse|complete\ th|do\ (?:that|this))\b
    |\bas\ an?\ (?:ai|artificial|language\ model|large\ language)\b
    |^i\ (?:do\ not|don't|don’t)\ have\ (?:access\ to\ (?:real|your|previous|that|this)|any\ information
    |enough\ (?:information|context)|information\ (?:about|on)|the\ ability)""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKS = re.compile(
    r"""^(?:what|who|where|when|why|how|which|whose)(?:'s|\ (?:is|are|was|were|do|does|did|can|could|should
    |would|will|has|have)\ (?:it|you|we|i|they|he|she|the|this|that|your|my|a|an)\b)
    |^(?:can|could|would|will|do|did|are|have)\ (?:you|we|i)\b|^(?:is|does|was)\ (?:it|there|this|that)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_COMMAND = re.compile(
    r"""^(?:please\ |now\ |just\ |go\ ahead\ and\ )*(?:run|execute|print|echo|show|list|open|close|tell|give
    |write|create|make|fix|explain|translate|summari[sz]e|help|find|search|check|try|start|stop|delete|send|repeat|say|type|do
    |continue|paste|click|look|read|count|compare|describe)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PLACED = re.compile(
    r"\b(?:before|after|when|while|until|for|in|on|at|to|with|instead|as|only|first|from|via|using|by|per|than)\b",
    re.IGNORECASE,
)
_ASKS_FOR_ME = re.compile(r"\b(?:me|this|that|these|it|above|below)\b", re.IGNORECASE)
_JUDGEMENT = re.compile(
    rf"""^(?:(?:the|this|that|these|those|my|our|their|his|her)\ (?:[a-z]+\ ){{1,2}}
    |it|this|that|they|these)\ ?
    (?:is|are|was|were|'s|’s|looks|seems|sounds|tastes)\ (?:(?:very|really|so|too|pretty|quite|not|just)\ )*
    (?:{_EVALUATIVE})[.!]*$""",
    re.VERBOSE,
)
# A judgement on something that only the conversation knows: "likes the suggested format", "loves the assistant".
_ABOUT_THE_TALK = re.compile(
    r"""^(?:(?:the\ )?user\ |i\ )?(?:(?:really|also|very\ much)\ )?
    (?:loves?|likes?|hates?|dislikes?|enjoys?|appreciates?|prefers?|agrees?\ with
    |is\ (?:happy|satisfied|pleased)\ with)
    \ (?:(?:the|this|that)\ (?:suggested|proposed|given|provided|above|previous|following|mentioned|last|latest|new)
    \ \w+|(?:the|this)\ (?:assistant|chatbot|bot|ai|answer|reply|response|suggestion|conversation|chat
    |idea)|you)[.!]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_DANGLING_LATER = re.compile(
    r"^(?:they|he|she|it)\ (?:will|would|is\ going\ to|are\ going\ to)\b", re.IGNORECASE
)
# What a quoted work consists of or who made it, and nothing said about it. "Author of" would speak of a person.
_OF_A_TITLE = re.compile(
    r"""^(?:the\ |an?\ )?(?!\w*(?:er|or|ist|ian|ee)s?\ )\w+\ (?:of|from|to|for)\ (['"“‘«])[^'"”’»]{2,60}['"”’»]
    (?:\ (?:by|from|in)\ [A-Z][\w.&-]*(?:\ [A-Z][\w.&-]*){0,3})?[.!]*$""",
    re.VERBOSE | re.IGNORECASE,
)
_DANGLING = re.compile(r"^(?:it|this|that|they|these|those)\b", re.IGNORECASE)
_NUMBERED_LABEL = re.compile(r"^(?:\(?\d{1,3}[.):]|#{1,6})\s*[^\s.:=]+(?:\s[^\s.:=]+){0,2}:?$")
_INDEX_LINE = re.compile(r"^\[[^\]]+\]\([^)\s]+\)(?:\s*[—–:-].*)?$")
_VERBLESS_START: Final = frozenset(
    "not the a an of in on at for with some any very too and or but lots many more".split()
)
_VERBISH = re.compile(
    r"\b(?:is|are|was|were|be|been|am|has|have|had|do|does|did|can|could|will|would|may|might|must|should|shall|\w+ed"
    r"|\w+s|\w+ing)\b",
    re.IGNORECASE,
)
# A first word with one of these endings is hardly a verb in the languages that write nouns small or large.
_NOUN_LIKE_END: Final = frozenset("yrlmkhwpfb")


def vague(text: str) -> str | None:
    """The rule by which free text says too little to be remembered, else None."""
    line = bare(text)
    for name, applies in _RULES:
        if applies(line):
            return f"vague.{name}"
    if _NUMBERED_LABEL.match(text.strip()):
        return "vague.label"
    return None


def vague_value(value: str) -> str | None:
    """The same for the value of a triple, which needs no verb: only placeholders, questions and noise."""
    for name in ("empty", "placeholder", "repetition", "question"):
        if dict(_RULES)[name](value.strip()):
            return f"vague.{name}"
    return None


def width(text: str) -> int:
    """Length in which a character of a wide script counts two: 東京 says as much as a longer Latin word."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text.strip())


def _empty(line: str) -> bool:
    return not any(c.isalnum() for c in line)


def _placeholder(line: str) -> bool:
    plain = line.casefold().strip(" .!…-_")
    return plain in _PLACEHOLDERS or plain.startswith("lorem ipsum")


def _squeezed(word: str) -> str:
    """`okkkk` → `ok`, `haaahaha` → `haha`: what is drawn out means the same."""
    return re.sub(r"(.)\1{2,}", r"\1", re.sub(r"^(ha|he|lo)\1*\w?$", r"\1", word))


def _acknowledgement(line: str) -> bool:
    said = words(line)
    if line.casefold().strip(" .!…-_") in _FILLER:
        return True
    return 0 < len(said) <= 6 and all(
        word in _ACKNOWLEDGING or _squeezed(word) in _ACKNOWLEDGING for word in said
    )


def _repetition(line: str) -> bool:
    said = words(line)
    one_word = len(said) >= 3 and len(set(said)) == 1
    return one_word or bool(re.fullmatch(r"(\w)\1{3,}\W*", line.strip()))


def _question(line: str) -> bool:
    """Every sentence asks: closed by a question mark of any script, or inverted in English."""
    asked = [part.rstrip("\"'”’)」』 ").endswith(("?", "？", "؟", "⁇")) for part in sentences(line)]
    if asked and all(asked):
        return True
    return len(asked) == 1 and len(words(line)) <= 10 and bool(_ASKS.match(line))


def _refusal(line: str) -> bool:
    return bool(_REFUSAL.search(line))


def _command(line: str) -> bool:
    """An order for this moment: no duty, no habit, no place or time that it is tied to."""
    said = words(line)
    if not _COMMAND.match(line) or len(said) > 8 or standing(line) or ";" in line or ":" in line:
        return False
    return bool(_ASKS_FOR_ME.search(line)) or (len(said) <= 4 and not _PLACED.search(line))


def _judgement(line: str) -> bool:
    lowered = line[:1].lower() + line[1:]
    return bool(_JUDGEMENT.match(lowered) or _ABOUT_THE_TALK.match(line))


def _dangling(line: str) -> bool:
    """Begins with a pronoun that nothing before it explains, and is too short to explain it itself."""
    if _DANGLING_LATER.match(line) and len(sentences(line)) == 1:
        return True
    return bool(_DANGLING.match(line)) and len(words(line)) <= 5 and not any(c.isdigit() for c in line)


def _fragment(line: str) -> bool:
    said = words(line)
    if _OF_A_TITLE.match(line):
        return True
    if any(c in line for c in "=:`/@\\_0123456789") or not line.isascii():
        return False
    if len(said) <= 3 and said and said[0] in _VERBLESS_START:
        return not _VERBISH.search(" ".join(said[1:]))
    return _title(line, said)


def _title(line: str, said: list[str]) -> bool:
    """Two to four capitalised words, no verb ending on the first: a name, and nothing about it."""
    pieces = line.rstrip(".!").split()
    return (
        2 <= len(pieces) <= 4
        and len(pieces) == len(said)
        and all(piece[0].isupper() and piece[1:].islower() for piece in pieces)
        and pieces[0][-1] in _NOUN_LIKE_END
        and said[0] not in STANDING_VERBS
    )


def _index_line(line: str) -> bool:
    return bool(_INDEX_LINE.match(line))


_RULES: Final[tuple[tuple[str, Callable[[str], bool]], ...]] = (
    ("empty", _empty),
    ("placeholder", _placeholder),
    ("acknowledgement", _acknowledgement),
    ("repetition", _repetition),
    ("question", _question),
    ("refusal", _refusal),
    ("command", _command),
    ("judgement", _judgement),
    ("dangling_reference", _dangling),
    ("index_line", _index_line),
    ("fragment", _fragment),
)
