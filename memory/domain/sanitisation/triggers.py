"""Triggers: conditions on the conversation that are to set something off, now or later.

"When asked about X …", "each time a key is mentioned …", "the next time a session starts …". A condition in
a story ("when asked about the delay, Petra said …") has a past verb in its main clause and is let through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

Found = tuple[int, int]

_WHEN: Final = (
    r"(?:when(?:ever)?|where|if|should|once|after|as\s+soon\s+as|as\s+often\s+as|(?:each|every"
    r"|any)\s?time|in\s+case|in\s+the\s+event"
    r"(?:\s+that)?|the\s+(?:next|first|moment)(?:\s+time)?|next\s+time|until|on\s+condition|provided"
    r"|wherever|for\s+as\s+long\s+as)"
)
_ASKER: Final = (
    r"(?:(?:the|a|any|this|that|another|your|our|some|each|every)\s+)?(?:\w+\s+)?"
    r"(?:users?|person|people|anyone|anybody|someone|somebody|customers?|callers?|clients?|requesters?"
    r"|operators?"
    r"|humans?|visitors?|one|employees?|colleagues?|interlocutor|reader)"
)
_ASKS: Final = (
    r"(?:asks?|asking|compares?|mentions?|says?|requests?|wants?|queries|enquires?|inquires?|brings?\s+up"
    r"|types?|writes?|wishes|confirms?"
    r"|agrees?|replies|thanks?|tells?|raises?|talks?\s+about|refers?\s+to|uploads?|shares?|submits?"
    r"|pastes?|looks?\s+for"
    r"|searches|discuss(?:es)?|speaks?|quotes?|sends?|shows?\s+(?:interest|up)|appears?|enters?|is"
    r"\s+interested|starts?|opens?)"
)
_TOPIC_OCCURS: Final = (
    r"(?:comes?\s+up|appears?|arises?|shows?\s+up|turns?\s+up|occurs?|is\s+(?:mentioned|discussed|named"
    r"|raised|asked|requested"
    r"|present|referenced|queried|detected|brought\s+up|seen|used|invoked|shown|spotted|in\s+(?:the|a)\s+"
    r"(?:prompt|task|query"
    r"|question|message|context|conversation))|are\s+(?:mentioned|discussed|named|raised|asked|requested"
    r"|compared|present)"
    r"|gets?\s+(?:mentioned|discussed|raised|asked))"
)
_MACHINE_TIME: Final = (
    r"(?:(?:next|later|future|following|new|subsequent|coming|upcoming|third|second|fifth)\s+(?:turn"
    r"|session|conversation|chat"
    r"|task|run|message|query|question|request|interaction|prompt|reply|answer|response)s?)"
)
_ASKED: Final = re.compile(
    rf"\b(?:{_WHEN}\s+(?:(?:you(?:'re|\s+are)?|it|the\s+(?:assistant|agent|model|bot)|this)\s+(?:is\s+"
    rf"|are\s+)?)?"
    rf"(?:being\s+)?(?:asked|prompted|questioned|queried|requested|told|instructed|quizzed)\b"
    rf"|{_WHEN}\s+{_ASKER}\s+(?:\w+ly\s+|ever\s+|also\s+)?{_ASKS}\b)",
    re.IGNORECASE,
)
_OCCURS: Final = re.compile(rf"\b{_WHEN}\b[^.;!?\n]{{2,90}}?\b{_TOPIC_OCCURS}", re.IGNORECASE)
_TOPICAL: Final = re.compile(
    r"\b(?:on|upon|for|in|to|before|after|during|with|at)\s+(?:any|every|each|all|anything|everything"
    r"|whatever|future)\s+"
    r"(?:\w+\s+){0,2}?(?:questions?|conversations?|comparisons?|discussions?|repl(?:y|ies)|answers?"
    r"|prompts?|mentions?|turns?|inquir(?:y|ies)"
    r"|summar(?:y|ies))\b",
    re.IGNORECASE,
)
_DELAYED: Final = re.compile(
    rf"\b(?:in|on|at|during|after|from|within|before)\s+(?:the|a|any|every|your"
    rf"|all)?\s*{_MACHINE_TIME}\b",
    re.IGNORECASE,
)
_PAST_TELLING: Final = re.compile(
    r"\b(?:said|replied|answered|explained|told|admitted|was|were|had|did|called|went|came|gave|took|kept"
    r"|left|laughed|declined"
    r"|refused|responded|pointed|smiled|stayed|moved|made|got|felt|rang|sent|wrote|showed|offered"
    r"|suggested|agreed|chose)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[^.!?\n]+(?:\.(?=\S)[^.!?\n]*)*")
_STARTED: Final = re.compile(
    r"\b(?:session|conversation|chat|task|run)s?\s+(?:starts?|begins?|ends?|opens?|resumes?|is\s+"
    r"(?:started|opened))\b",
    re.I,
)
_NEXT: Final = re.compile(rf"\b(?:{_WHEN})\b", re.IGNORECASE)


def triggers(text: str) -> Iterator[Found]:
    """Spans of conditions on what is asked or said that are not part of a story."""
    for sentence in _SENTENCE.finditer(text):
        words = sentence.group()
        for pattern in (_ASKED, _OCCURS, _TOPICAL, _DELAYED):
            match = pattern.search(words)
            if match is not None and not _told(words, match):
                yield sentence.start() + match.start(), sentence.end()
                break
        else:
            started = _STARTED.search(words)
            if started is not None and _NEXT.search(words[: started.start()]):
                yield sentence.start() + started.start(), sentence.end()


def _told(words: str, match: re.Match[str]) -> bool:
    """Whether the clause around the condition tells what happened."""
    rest = words[match.end() :]
    main = words[: match.start()] + " " + (rest.split(",", 1)[1] if "," in rest else rest)
    return _PAST_TELLING.search(main) is not None and "never" not in words.lower()
