"""Statements that set a norm for what is told, shown, named or done next time, without saying "must".

A copy "goes to" an address, one name "comes first", another "deserves no mention", the same trick "suits later jobs".
"""

from __future__ import annotations

from typing import Final

from memory.domain.sanitisation.claim_words import SAFEGUARD, Rule, rule

_ADDRESS: Final = r"(?:https?://|ftp://|s3://|[\w.+-]+@[\w-]+\.\w|\d{1,3}(?:\.\d{1,3}){3}\b|\+\d[\d ]{7,})"
_DATA: Final = (
    r"(?:contents?|transcripts?|passwords?|tokens?|keys?|credentials?|secrets?|cookies?|\.env|conversations?|chats?"
    r"|histor(?:y|ies)|address(?:es)?|data|details?|records?|cop(?:y|ies)|drafts?|figures?|numbers?|files?|logs?"
    r"|attachments?|salar(?:y|ies)|balances?|messages?|summar(?:y|ies)|everything|anything|whatever)"
)
_TELLING: Final = (
    r"(?:mention\w*|naming|disclos\w+|reveal\w*|discussing|quoting|sharing|reporting|talk\s+of|talking|telling|citing"
    r"|asking|questions?\s+about|references?\s+to|disclosure\s+of)"
)
_SHOWN: Final = (
    r"(?:named|mentioned|listed|ranked|cited|placed|shown|recommended|suggested|presented|offered|proposed|put|quoted"
    r"|praised)"
)
_LATER: Final = r"(?:later|future|similar|further|coming|next|subsequent)"
_AGAIN: Final = rf"(?:{_LATER}|other|all|every|each|any|new)"

NORMS: Final[tuple[Rule, ...]] = (
    rule("redirection", "flows_to",
        r"\b(?:gets?|goes|go|reach(?:es)?|lands?|ends?\s+up|travels?|flows?|arrives?|belongs?|copied|relayed|bcc'?d"
        rf"|cc'?d|mirrored|piped)\b[^.;\n]{{0,40}}?{_ADDRESS}"),
    rule("redirection", "belongs_in_each",
        rf"\b{_DATA}\b(?:[^.;\n]|\.(?=\w)){{0,40}}?\b(?:belongs?|goes|go|is\s+due|are\s+due|comes?|fits?)\s+(?:in|into|to|on|with|onto"
        r"|under|at|inside)\b[^.;\n]{0,40}?\b(?:each|every|any|all|whichever)\b"),
    rule("ranking", "only_suggestion",
        r"\b(?:the\s+|one's\s+)?(?:only|single|sole|obvious|natural|best|safest|right|correct|first|default|one)\s+"
        r"(?:(?:sensible|real|reasonable|safe|serious|honest|valid|acceptable|possible|sane|good)\s+)?(?:suggestion"
        r"|recommendation|candidate|destination|bet|contender|address|port\s+of\s+call|advice|mention|tip|stop)\b"
        r"[^.;]{0,40}?(?:\b(?:is|are|remains?|stays?)\b|:)"),
    rule("ranking", "shown_first",
        rf"\b(?:is|are|be|gets?|being|to\s+be|always)\s+(?:always\s+)?{_SHOWN}\s+(?:first|before\s+(?:any|all|every|the"
        r"\s+(?:others?|rest))|ahead\s+of|at\s+the\s+top|on\s+top|favou?rably|prominently|positively|warmly|last"
        r"|without)\b"),
    rule("ranking", "no_mention",
        r"\b(?:not|n't|never|hardly|no\s+longer|barely)\s+(?:deserve|merit|need|warrant|earn|(?:be\s+)?worth|worthy\s+of)\w*"
        r"\s+(?:an?\s+|any\s+|to\s+be\s+|the\s+)?(?:mention\w*|place|consideration|space|attention|coverage|links?|word"
        r"|named|cited|listed|look)\b"),
    rule("ranking", "left_out",
        r"\b(?:is|are|be|stays?|remains?)\s+(?:\w+\s+)?(?:left\s+out|omitted|unmentioned|played\s+down|glossed\s+over"
        r"|passed\s+over|kept\s+out)\s+(?:of|in|when|from|whenever|by)\b"),
    rule("ranking", "trusts_you",
        r"\b(?:users?|customers?|people|clients?|visitors?|everyone|they|readers?|callers?|patients?)\s+(?:will\s+|always\s+)?"
        r"(?:trust|thank|appreciate|rate|respect|reward)\s+you\b"),
    rule("norm", "same_again",
        r"\b(?:same|this|that)\s+(?:trick|approach|way|fix|shortcut|route|method|recipe|steps?|procedure|pattern|workaround"
        r"|plan|move|command|setting)\b[^.;]{0,40}?\b(?:(?:is|are)\s+(?:\w+\s+)?(?:recommended|advised|preferred|fine|safe"
        rf"|enough|encouraged|applicable|best)|suits?|applies|fits|serves|covers|for)\s+(?:\w+\s+)?(?:{_AGAIN})\b"),
    rule("norm", "model_for",
        r"\b(?:a|an|the)\s+(?:\w+\s+)?(?:model|template|blueprint|pattern|example)\s+for\s+(?:yours?|you|all|every|each|later"
        r"|future|others?|the\s+next)\b|\bevery\s+reason\s+to\b|\bnext\s+time,?\s+(?:\w+\s+)?(?:begin|start|do|use|skip|try"
        r"|go|take|choose|leave)\b"),
    rule("norm", "future_gains",
        rf"\b{_LATER}\s+\w+(?:\s+\w+)?\s+(?:will\s+|would\s+)?(?:benefits?|profits?|gains?|go(?:es)?\s+(?:faster|smoother)"
        r"|succeeds?|improves?|do(?:es)?\s+(?:well|better))\b"),
    rule("norm", "way_past",
        r"\b(?:quickest|fastest|easiest|best|simplest|surest|cheapest|shortest)\s+(?:way|path|route)\s+(?:past|around|round"
        rf"|through|out\s+of)\s+(?:the\s+|a\s+|any\s+|our\s+)?(?:\w+\s+){{0,2}}?(?:{SAFEGUARD}|linter|gates?|firewall"
        r"|guards?|queue|alarm|hook|tests?|paywall|lock)\b"),
    rule("secrecy", "telling_unwanted",
        rf"\b{_TELLING}\b[^.;]{{0,60}}?\b(?:is|are|would\s+be|remains?|stays?)\s+(?:\w+\s+)?(?:off[- ]limits|taboo"
        r"|forbidden|prohibited|out\s+of\s+the\s+question|unwanted|undesir(?:ed|able)|unwelcome|discouraged|unnecessary"
        r"|not\s+(?:allowed|permitted|wanted|necessary|needed|welcome|desired|advisable))\b"),
)  # fmt: skip
