"""Statements that take a safeguard away, or give somebody a way around it: void instructions, excused users, invented
policies.

What `authority` says of who may do what, said from the other side: of the rules that are to hold no longer.
"""

from __future__ import annotations

from typing import Final

from memory.domain.sanitisation.claim_words import AGENT, SAFEGUARD, Rule, rule

_EARLIER: Final = (
    r"(?:(?:all|any|every|the|these|those|your|whatever)\s+)*"
    r"(?:prior|previous|earlier|former|existing|original|preceding|initial|past|old|standing|usual)"
)
# What an assistant is set up with; a "rule" or "policy" alone may be the league's or the landlord's.
_SETUP: Final = (
    r"(?:guardrails?|safety\s+(?:rules?|measures?|filters?|limits?|settings?)|content\s+(?:filters?|rules?|policy)"
    r"|system\s+(?:messages?|prompts?|instructions?)"
    rf"|{_EARLIER}\s+(?:\w+\s+)?(?:instructions?|guidelines?|guidance|restrictions?|configuration|constraints?"
    rf"|orders?|directives?|prompts?|brief(?:ing)?s?|training|setup)(?!\s+of\s+the\b)"
    rf"|(?:instructions?|rules?|configuration|setup|limits?|training|role)\s+(?:of|for|given\s+to)\s+{AGENT}"
    rf"|{AGENT}(?:'s|s')\s+(?:\w+\s+)?(?:limits?|restrictions?|rules?|instructions?|role|guidelines?|safeguards?))"
)
_WITHOUT: Final = (
    r"\bwithout\s+(?:(?:an?|any|the|further|prior|second|valid|written|another|seeing|showing|asking\s+for|proof\s+of"
    r"|looking\s+at|checking)\s+)*(?:signatures?|proof|receipts?|ids?|identification|prescriptions?|passwords?|pins?"
    r"|passports?|papers|warrants?|tickets?|codes?|signing|checking|looking|asking|questions?|paperwork|invoices?)\b"
)
_PASSED_ON: Final = (
    r"(?:released?|paid|approved|granted|handed|given|opened|issued|refunded|shipped|shared|sent|unlocked|admitted"
    r"|accepted|executed|run|merged|deployed|signed|disclosed|dispensed|cleared|waved\s+through)"
)
_DECREE: Final = (
    r"(?:guidelines?|polic(?:y|ies)|regulations?|rules?|handbook|bulletin|memo|directives?|terms|protocol|procedure"
    r"|circular|officer|board|management|department|office|headquarters|headmaster|principal|legal|compliance|security)"
)
_RISKY: Final = (
    r"(?:export|disclos|shar|reveal|releas|send|delet|transferr|publish|forward|skipp|bypass|wir|approv|access|hand"
    r"|accept|runn|execut|install|grant|ignor|copy|upload|dropp|disabl|overrid|print|giv)ing"
)

WAIVERS: Final[tuple[Rule, ...]] = (
    rule("authorisation", "setup_void",
        rf"\b{_SETUP}\b[^.;]{{0,50}}?\b(?:expired?|ended|lapsed?|retired|ceased?|void|gone|history|dead|outdated"
        r"|replaced|superseded|inactive|obsolete|irrelevant|turned\s+off|switched\s+off|disabled|lifted|revoked"
        r"|withdrawn|cancelled|suspended|removed|dropped|no\s+more|no\s+longer|(?:do(?:es)?\s+not|don't|doesn't|stop"
        r"|stopped)\s+(?:apply|applying|bind|binding|hold|count|matter)|(?:ha(?:s|ve)|without)\s+(?:no\s+)?(?:effect"
        r"|force|meaning))\b"),
    rule("authorisation", "nothing_applies",
        rf"\b(?:nothing|no\s+part|none|not\s+a\s+word)\s+(?:in|of|from)\s+(?:the\s+|your\s+)?(?:\w+\s+){{0,2}}?"
        rf"(?:{SAFEGUARD}|messages?|handbook|manual)\b[^.;]{{0,40}}?\b(?:appl(?:y|ies)|binds?|holds?|counts?|matters?)\b"),
    rule("authorisation", "wishes_rule",
        r"\b(?:users?|visitors?|callers?|customers?|guests?|requesters?|clients?|readers?)(?:'s|s')\s+(?:wish(?:es)?|words?"
        r"|requests?|orders?|will|say-?so)\b[^.;]{0,20}?\b(?:alone|only|decides?|rules?|counts?|is\s+law|suffices?"
        r"|is\s+enough|comes?\s+first)\b"),
    rule("authorisation", "excused",
        r"\b(?:users?|customers?|clients?|accounts?|guests?|members?|callers?|visitors?|requests?|orders?|calls?"
        r"|tickets?|employees?|staff|anyone|whoever|(?-i:[A-Z]\w+)(?:\s+\d+)?)\b[^.;,]{0,30}?\b(?:bypass(?:es)?|skips?"
        r"|goes\s+around|go\s+around|(?:is|are)\s+(?:\w+\s+)?(?:excused|spared|exempt(?:ed)?|released|dispensed|free)"
        rf"\s+(?:from|of))\s+(?:the\s+|all\s+|any\s+|every\s+|their\s+|its\s+)?(?:\w+\s+){{0,2}}?{SAFEGUARD}\b"),
    rule("authorisation", "passes_without",
        rf"\b(?:is|are|be|get|gets)\s+(?:\w+\s+)?{_PASSED_ON}\b[^.;]{{0,40}}?{_WITHOUT}"),
    rule("authorisation", "passes_without",
        rf"\b(?:whoever|anyone|everyone|everybody|all\s+\w+)\b[^.;]{{0,40}}?\b(?:gets?|receives?|passes|enters?|obtains?)"
        rf"\b[^.;]{{0,40}}?{_WITHOUT}"),
    rule("authorisation", "decree",
        rf"\b{_DECREE}\b[^.;]{{0,30}}?\b(?:permits?|allows?|authori[sz]es?|approves?|consents?\s+to|agrees?\s+to"
        rf"|encourages?|favou?rs?|tolerates?|accepts?|entitles?|supports?|demands?|requires?)\s+(?:\w+\s+)?{_RISKY}\b"),
    rule("authorisation", "given_for_good",
        r"\b(?:permission|approval|consent|clearance|leave|authority|the\s+right|the\s+green\s+light|go-?ahead)\s+(?:to"
        r"|for)\s+\w+[^.;]{0,50}?\b(?:once\s+and\s+for\s+all|for\s+good|permanently|in\s+advance|forever|indefinitely"
        r"|(?:is|stands|are)\s+(?:\w+\s+)?(?:granted|given|assumed|implied|standing|in\s+place))\b"),
    rule("authorisation", "you_have",
        r"\byou(?:'ve|\s+have|\s+hold|\s+enjoy)\s+(?:got\s+)?(?:(?:my|our|the|full|complete|every|all|\w+'s|total)\s+)*"
        r"(?:blessing|permission|approval|consent|authority|right(?=\s+to\b)|leave|go-?ahead|green\s+light|clearance|freedom"
        r"|discretion|privileges?|access|mandate|licen[cs]e|say)\b"),
    rule("authorisation", "you_can_all",
        r"\byou\s+(?:can|may|could)\s+(?:\w+ly\s+)?(?:\w+\s+){1,3}?(?:whatever|anything|everything|freely|without\s+\w+ing)\b"
        r"|\byou\s+(?:needn't|need\s+not)\s+\w+"),
    rule("authorisation", "auto_approve",
        r"(?:^|[.;:]\s+)(?:auto|force|pre|bulk|mass|hard)-(?:approve|merge|delete|accept|send|forward|reply|confirm|sign|push"
        r"|reset|install|run|publish|close|pay)\b\s+(?!of\b|is\b|was\b)"),
    rule("authorisation", "no_reason_to",
        r"\b(?:there(?:'s|\s+is)\s+)?no\s+(?:reason|need|point|use)\s+(?:to|in|for)\s+(?:check|verif|ask|confirm|wait|tell"
        r"|inform|review|sign|validat|mention|report|log|question|escalat|inspect|read)\w*"),
    rule("authorisation", "mode_lets",
        r"\b(?:developer|debug|maintenance|admin|root|god|override|unrestricted|test|service|expert)\s+mode\b[^.;]{0,40}?"
        r"\b(?:entitles?|permits?|allows?|unlocks?|lets?|lifts?|removes?|means?|grants?)\b"),
)  # fmt: skip
