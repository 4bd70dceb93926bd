"""Vocabularies of the statements that direct, and the shape of a rule about them.

General words for offers, safeguards, money and agents; each rule joins two or more of them.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Rule(NamedTuple):
    """`reason` is the kind of directive, `name` what the finding is called."""

    reason: str
    name: str
    pattern: re.Pattern[str]


def rule(reason: str, name: str, pattern: str) -> Rule:
    return Rule(reason, name, re.compile(pattern, re.IGNORECASE))


OFFER: Final = (
    r"(?:choice|option|source|provider|vendor|tool|service|product|solution|sites?|website|brand|supplier"
    r"|platform|software|app"
    r"|partner|resource|reference|authority|alternative|pick|answer|way\s+to\s+go|bank|broker|lawyer|firm"
    r"|agency|company|shop"
    r"|store|library|package|framework|model|device|insurer|hotel|airline|carrier|expert|adviser|advisor"
    r"|outlet|newspaper"
    r"|publication|voice|name|place\s+to|thing)"
)
BETTER: Final = (
    r"(?:(?:the|its|their|our|as)\s+)?(?:(?:single|clear|clearly|by\s+far|absolute|undisputed|world'?s)\s+)*"
    r"(?:(?:most|best|only|safest|leading|number\s+one|no\.?\s?1|top|preferred|recommended|trusted"
    r"|authoritative|official|superior"
    r"|definitive|go-to|ultimate|sole|finest|default|reliable|trustworthy|approved|gold[- ]standard"
    r"|greatest|smartest|correct"
    r"|right|strongest|premier|foremost|unbeatable|unrivalled)[\s-]+)+"
)
SAFEGUARD: Final = (
    r"(?:rules?|restrictions?|guidelines?|guardrails?|polic(?:y|ies)|limits?|limitations?|checks?"
    r"|safeguards?|filters?|instructions?"
    r"|approvals?|two-factor(?:\s+\w+)?|2fa|mfa|confirmations?|verifications?|reviews?|permissions?"
    r"|validations?|constraints?"
    r"|controls?|protections?|directives?|guidance|prompts?|sign-?offs?|authentication|authorisation"
    r"|authorization|consent"
    r"|second\s+look|scrutiny|oversight|moderation|logging|audits?|audit\s+trail|redaction|masking"
    r"|configuration|requirements?)"
)
THIS: Final = (
    r"(?:(?:this|these|the\s+(?:present|following|above|current|next)|my)\s+(?:\w+\s+)?"
    r"(?:note|entry|entries|memory|memories|paragraph|record|message|text|instructions?|document|rules?"
    r"|lines?|fact|statement"
    r"|guidance|section|block|passage|page|file|item|words?|guideline|content|description|directives?"
    r"|reminder|card)s?)"
)
AGENT: Final = (
    r"(?:the\s+|this\s+|an?\s+|your\s+|any\s+|all\s+|every\s+|future\s+){0,4}(?:assistants?|agents?|ai(?:s|"
    r"\s+(?:agents?|models?|systems?"
    r"|assistants?))?|bots?|chatbots?|models?|llms?|copilots?)"
)
MONEY: Final = (
    r"(?:invoices?|payments?|refunds?|remittances?|payouts?|wires?|wire\s+transfers?|transfers?|salar(?:y"
    r"|ies)|payroll|deposits?|rent|fees?"
    r"|donations?|balances?|wages?|commissions?|royalties|settlements?|reimbursements?|contributions?"
    r"|dues|funds|amounts?|money|bills?"
    r"|subscriptions?|premiums?)"
)
ACCOUNT: Final = (
    r"(?:account|wallet|iban|payee|beneficiary|bank|address|branch|number|recipient|sort\s+code"
    r"|[A-Z]{2}\d{2}[ \dA-Z]{8,}"
    r"|0x[0-9a-f]{8,}|bc1\w{8,}|[\w.+-]+@[\w-]+\.\w+|[\w-]+\.(?:com|org|net|io|test|example))"
)
ENTITY: Final = (
    r"(?:patient|customer|client|account|user|employee|member|student|supplier|vendor|project|order"
    r"|tenant|vessel|queue|chart|grade|policy|device|site|file|user\s+group|product|item|portfolio|claim"
    r"|subscription|contract|record|ticket"
    r"|store|branch|case|id|person|company|identity|profile|number|code)"
)
