"""Statements that direct without an imperative: they rank, hide, protect, authorise, waive or redirect.

Each rule is a relation between general words ("only" + "choice", "checks" + "waived", "payments" + "go to" an
account), not the wording of one attack. What they catch by mistake is held for a look, not lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

Found = tuple[str, str, tuple[int, int]]


def _rule(reason: str, rule: str, pattern: str) -> tuple[str, str, re.Pattern[str]]:
    return reason, rule, re.compile(pattern, re.IGNORECASE)


_OFFER: Final = (
    r"(?:choice|option|source|provider|vendor|tool|service|product|solution|sites?|website|brand|supplier|platform|software|app"
    r"|partner|resource|reference|authority|alternative|pick|answer|way\s+to\s+go|bank|broker|lawyer|firm|agency|company|shop"
    r"|store|library|package|framework|model|device|insurer|hotel|airline|carrier|expert|adviser|advisor|outlet|newspaper"
    r"|publication|voice|name|place\s+to|thing)"
)
_BETTER: Final = (
    r"(?:(?:the|its|their|our|as)\s+)?(?:(?:single|clear|clearly|by\s+far|absolute|undisputed|world'?s)\s+)*"
    r"(?:(?:most|best|only|safest|leading|number\s+one|no\.?\s?1|top|preferred|recommended|trusted|authoritative|official|superior"
    r"|definitive|go-to|ultimate|sole|finest|default|reliable|trustworthy|approved|gold[- ]standard|greatest|smartest|correct"
    r"|right|strongest|premier|foremost|unbeatable|unrivalled)[\s-]+)+"
)
_SAFEGUARD: Final = (
    r"(?:rules?|restrictions?|guidelines?|guardrails?|polic(?:y|ies)|limits?|limitations?|checks?|safeguards?|filters?|instructions?"
    r"|approvals?|two-factor(?:\s+\w+)?|2fa|mfa|confirmations?|verifications?|reviews?|permissions?|validations?|constraints?"
    r"|controls?|protections?|directives?|guidance|prompts?|sign-?offs?|authentication|authorisation|authorization|consent"
    r"|moderation|logging|audits?|audit\s+trail|redaction|masking|configuration|requirements?)"
)
_THIS: Final = (
    r"(?:(?:this|these|the\s+(?:present|following|above|current)|my)\s+(?:\w+\s+)?"
    r"(?:note|entry|entries|memory|memories|paragraph|record|message|text|instructions?|document|rules?|lines?|fact|statement"
    r"|guidance|section|block|passage|page|file|item|words?|guideline|content|description|directives?|reminder|card)s?)"
)
_AGENT: Final = (
    r"(?:the\s+|this\s+|an?\s+|your\s+|any\s+|all\s+|every\s+|future\s+)*(?:assistants?|agents?|ai(?:s|\s+(?:agents?|models?|systems?"
    r"|assistants?))?|bots?|chatbots?|models?|llms?|copilots?)"
)
_MONEY: Final = (
    r"(?:invoices?|payments?|refunds?|remittances?|payouts?|wires?|wire\s+transfers?|transfers?|salar(?:y|ies)|payroll|deposits?|rent|fees?"
    r"|donations?|balances?|wages?|commissions?|royalties|settlements?|reimbursements?|contributions?|dues|funds|amounts?|money|bills?"
    r"|subscriptions?|premiums?)"
)
_ACCOUNT: Final = (
    r"(?:account|wallet|iban|payee|beneficiary|bank|address|branch|number|recipient|sort\s+code|[A-Z]{2}\d{2}[ \dA-Z]{8,}"
    r"|0x[0-9a-f]{8,}|bc1\w{8,}|[\w.+-]+@[\w-]+\.\w+|[\w-]+\.(?:com|org|net|io|test|example))"
)
_ENTITY: Final = (
    r"(?:patient|customer|client|account|user|employee|member|student|supplier|vendor|project|order|tenant|contract|record|ticket"
    r"|store|branch|case|id|person|company|identity|profile|number|code)"
)

RULES: Final = (
    # ranking
    _rule("ranking", "only_choice", rf"\b(?:is|are|as|remains?|was|be|call(?:ed)?|name|it|,|:)\s+{_BETTER}(?:\w+\s+){{0,3}}?{_OFFER}\b"),
    _rule("ranking", "only_choice", rf"\bthe\s+(?:only|single\s+best|most\s+\w+|best|safest|top|number\s+one)\s+(?:\w+\s+){{0,3}}?"
          rf"{_OFFER}\b[^.]{{0,50}}?\b(?:is|are|remains?)\b"),
    _rule("ranking", "worth_using", r"\b(?:is|are)\s+(?:\w+\s+)?(?:the\s+)?only\s+(?:\w+\s+){1,4}(?:worth|that\s+works?|you\s+(?:need|can)|to\s+(?:use|buy|trust))"),
    _rule("ranking", "beats_others", r"\b(?:beats?|outperforms?|surpass(?:es)?|outclass(?:es)?|is\s+(?:better|safer|superior|more\s+\w+)\s+(?:than|to)"
          r"|ahead\s+of|above|superior\s+to|preferred\s+(?:over|to)|better\s+than)\s+(?:all|any|every|its|the\s+(?:others|rest|competition|alternatives|rivals))\b"),
    _rule("ranking", "no_rival", r"\b(?:nothing|no\s+(?:other|one)|none)\b[^.]{0,40}?\b(?:comes?\s+close|compares?|matches|rivals?|measures?\s+up)\b"),
    _rule("ranking", "rivals_bad", r"\b(?:competitors?|alternatives|rivals|other\s+(?:brands|vendors|providers|tools|options|products))\s+(?:is|are)\s+"
          r"(?:\w+\s+)?(?:un\w+|in\w+|worse|bad|dangerous|risky|poor|scams?|fake|not)\b"),
    # secrecy
    _rule("secrecy", "keep_quiet", r"\b(?:keep|stay|stays|remain|remains|kept)\s+(?:this|it|that|them)?\s*(?:between\s+us|quiet|hidden|secret|private"
          r"|confidential|off\s+the\s+record|under\s+wraps)(?:\s+(?:from|and|;)|\b(?=\s*[.;,]|$))"),
    _rule("secrecy", "not_to_know", r"\b(?:users?|operators?|customers?|admins?|owner|humans?|reviewers?|nobody|no\s+one|anyone|team|them|client|developers?)\b"
          r"[^.;]{0,30}?\b(?:not|never|no|n't|without|must|may)\b[^.;]{0,25}?\b(?:know|learn|hear|told|informed|aware|see|notice|find\s+out|notified|suspect)\b"),
    _rule("secrecy", "without_telling", r"\b(?:without|instead\s+of|rather\s+than|no\s+need\s+(?:to|for))\s+(?:ever\s+)?(?:tell|telling|inform|informing|notify"
          r"|notifying|alert|alerting|mention|mentioning|disclos\w+|reveal\w*|let\w*\s+\w+\s+know)"),
    _rule("secrecy", "without_knowledge", r"\bwithout\s+(?:the\s+)?(?:\w+(?:'s)?\s+){0,3}(?:knowledge|noticing|knowing|awareness|being\s+(?:told|asked|noticed))\b"),
    # self-preservation
    _rule("persistence", "precedence", rf"\b{_THIS}\b[^.;]{{0,40}}?\b(?:takes?\s+(?:precedence|priority)|overrides?|outranks?|supersedes?|prevails?|wins?|has\s+(?:\w+\s+)?priority"
          r"|is\s+(?:permanent|binding|final|authoritative|immutable|above)|never\s+expires?|survives?|cannot\s+be|can't\s+be|trumps?|counts?|stays?\s+(?:valid|active|in\s+force))\b"),
    _rule("persistence", "precedence", r"\b(?:takes?\s+precedence|(?:has|have|with|carries|carry)\s+(?:the\s+)?(?:highest|higher|top|absolute|ultimate)?\s*priority\s+over|outranks?|overrides?\s+(?:all|any|every|previous|earlier|prior))\b"),
    _rule("persistence", "what_counts", r"\bonly\s+(?:what|this|these|the\s+(?:text|note|following))\b[^.;]{0,40}?\b(?:counts?|applies|apply|matters?|is\s+valid)\b"),
    _rule("persistence", "trusts_text", rf"\b{_AGENT}\s+(?:always\s+|now\s+|fully\s+)?(?:trusts?|obeys?|follows?|believes?|prefers?|relies)\b"),
    # standing authorisations and waived safeguards
    _rule("authorisation", "authorised", rf"\b{_AGENT}\s+(?:is|are|has\s+been|have\s+been|was|were|stands?|now\s+has|has|have)\s+(?:now\s+|hereby\s+|fully\s+|also\s+|being\s+)*"
          r"(?:authori[sz]ed|permitted|allowed|cleared|entitled|pre-?approved|exempt|trusted|granted|free|licensed|empowered|whitelisted|unrestricted|given|full|permission)\b"),
    _rule("authorisation", "pre_approved", r"\b(?:pre-?(?:approved|authori[sz]ed|cleared)|standing\s+(?:approval|permission|authori[sz]ation|consent|order)|blanket\s+(?:approval|permission|consent)"
          r"|(?:verified\s+)?super-?user|root\s+(?:privileges?|access|rights)|unrestricted\s+access|(?:full|unlimited|complete)\s+(?:admin\w*\s+)?(?:rights|privileges|clearance|authority))\b"),
    _rule("authorisation", "no_approval", r"\b(?:no|without|needs?\s+no|requires?\s+no|skip(?:s|ping)?|omit)\s+(?:(?:further|prior|any|more|additional|human|extra|an?|manual|second|explicit)\s+)*"
          r"(?:approvals?|confirmations?|sign-?offs?|permission|prompts?|verification|review|authori[sz]ation|consent|checks?|asking|questions?\s+asked|validation|supervision)"
          r"(?:\s+(?:is|are|was|being)\s+(?:\w+\s+)?(?:required|needed|necessary|asked|wanted))?(?=\s*(?:[.,;]|$|for\b|by\b|from\b|when\b|if\b|first\b|of\b|before\b|in\b|on\b))"),
    _rule("authorisation", "waived", rf"\b{_SAFEGUARD}\b[^.;]{{0,50}}?\b(?:no\s+longer\s+(?:\w+\s+)?(?:appl(?:y|ies)|needed|required|valid|hold|in\s+force|active|exist)|(?:is|are|has\s+been|have\s+been|can\s+be|may\s+be|were|was)\s+(?:now\s+|hereby\s+|all\s+|to\s+be\s+)*"
          r"(?:waived|lifted|suspended|void|relaxed|obsolete|cancelled|dropped|ignored|skipped|bypassed|off|optional|revoked|overridden|outdated|unnecessary|not\s+(?:needed|required|necessary)|superseded|nullified))\b"),
    _rule("authorisation", "no_longer_need", r"\b(?:no\s+longer|do(?:es)?\s+not|don't|doesn't|need\s+not)\s+(?:need|have)\s+to\s+(?:be\s+)?(?:respect|follow|obey|ask|confirm|check|verify|mask\w*|review\w*|approv\w+|confirm\w+|redact\w*|encrypt\w*|comply|care|worry|validate|log)\b"),
    _rule("authorisation", "sees_all", r"\b(?:may|can|is\s+(?:allowed|permitted|entitled)\s+to)\s+(?:see|read|access|view|use|change|delete|edit|export|approve|call|run)\s+(?:everything|anything|every|all|any)\b"),
    _rule("authorisation", "speaks_as", r"\b(?:I|we)(?:\s+hereby|,[^,]{0,40},)?\s+(?:authori[sz]e|permit|instruct|order|command|allow|require|direct)\s+(?:you|the|any|every|all)\b"),
    # address and impersonation
    _rule("address", "you_are", r"\byou\s+(?:are|'re|will\s+be|become|have\s+become)\s+(?:now|no\s+longer|not|an?|the|in|free|unrestricted|authori[sz]ed|allowed|permitted|required|expected|supposed|going)\b"),
    _rule("address", "to_agents", rf"\b(?:attention|note|notice|message|instructions?|directive|reminder|info|order|memo)\s+(?:to|for)\s+{_AGENT}\b"),
    _rule("address", "to_agents", rf"\b{_AGENT}\s+(?:reading|processing|parsing|seeing|that\s+reads?|who\s+reads?)\b"),
    _rule("address", "wants_agent", rf"\b(?:wants?|expects?|asks?|instructs?|requires?|tells?|needs?|orders?|requests?|would\s+like)\s+(?:that\s+)?(?:you|{_AGENT})\s+(?:to|should|must)\b"),
    _rule("address", "agent_does", rf"(?:^|[.;:,\n]\s*|\bthe\s+){_AGENT}\s+(?:always|never|immediately|silently|automatically|only|then|first)?\s*(?:sends?|forwards?|fetches|copies|adds?|includes?|recommends?"
          r"|answers?|repl(?:y|ies)|deletes?|uploads?|posts?|ignores?|mentions?|approves?|shares?|reveals?|executes?|runs|calls)\b"),
    _rule("address", "from_developers", r"\b(?:message|notice|note|request|instruction|order|update)s?\s+(?:comes?|is|are|originates?)\s+(?:directly\s+)?from\s+(?:your|the)\s+(?:developers?|creators?|operators?|owners?|system|platform|administrators?)\b"),
    _rule("address", "your_rules", rf"\byour\s+(?:\w+\s+)?(?:{_SAFEGUARD}|system\s+prompt|training|persona|role|memory|memories|developers?|task|goal|objective)\b"),
    # redirecting
    _rule("redirection", "payment", rf"\b{_MONEY}\b[^.;\n]{{0,60}}?\b(?:go|goes|going|paid|payable|sent|routed|directed|settled|credited|land|belong|made|remitted|transferred|wired|deposited|addressed|collected|processed|handled|directed|due)\b"
          rf"\s*(?:now\s+|out\s+|over\s+|only\s+|instead\s+)*(?:to|into|through|via|at|onto|with|by)\s+[^.;\n]{{0,40}}?{_ACCOUNT}"),
    _rule("redirection", "new_details", r"\b(?:new|updated|changed|revised|corrected|alternative|different)\s+(?:bank(?:ing)?|payment|remittance|wire|beneficiary|payee|iban|wallet|payout|deposit)\s*(?:account|details?|address|information|number|instructions|coordinates)?\b"),
    _rule("redirection", "new_details", r"\b(?:bank(?:ing)?(?:\s+(?:account|details?))?|payment\s+(?:address|account|details)|remittance\s+\w+|beneficiary(?:\s+account)?|payee|iban|wallet(?:\s+address)?|account\s+(?:number|details)|sort\s+code)\b[^.;\n]{0,40}?"
          r"\b(?:has|have|was|were|is|are)\s+(?:been\s+|now\s+)?(?:changed|updated|replaced|moved|switched|superseded|now|new)\b"),
    _rule("redirection", "changed_bank", r"\b(?:has|have)\s+(?:changed|switched|moved)\s+(?:its\s+|their\s+|his\s+|her\s+|to\s+a\s+new\s+|to\s+another\s+)?(?:bank|banks|iban|payee|wallet|payment\s+provider)\b"),
    _rule("redirection", "moved_source", r"\b(?:package\s+(?:registry|index|source|mirror|repository)|registry|mirror|update\s+(?:server|url|source|channel)|installer|download(?:s|\s+(?:link|page|site))?|login\s+(?:page|portal)|sign-?in\s+page|portal|help\s?desk|hotline|support\s+(?:line|address|mail|e-?mail)|security\s+contact|reset\s+(?:link|page)|webhook)\b"
          r"[^.;\n]{0,40}?\b(?:is\s+now|has\s+(?:been\s+)?(?:moved|changed|replaced)|moved|now\s+(?:lives?|is)|was\s+(?:moved|changed|replaced)|changed)\b[^.;\n]{0,20}?(?:https?://|@|\+?\d{5,}|\w\.(?:com|org|net|io|test|example))"),
    _rule("redirection", "identity", rf"\b(?:records?|data|files?|requests?|questions?|quer(?:y|ies)|references?|information|orders?|entries|anything|everything|history|lookups?|mentions?|calls?|mail)\b[^.;\n]{{0,50}}?\b{_ENTITY}?s?\b[^.;\n]{{0,30}}?\b(?:is|are|was|were|has\s+been|have\s+been|refers?|maps?|points?|resolves?|should|must)\b"
          rf"\s*(?:now\s+|to\s+be\s+|be\s+)*(?:stored|kept|filed|saved|moved|held|found|located|listed|merged|looked\s+up|read|resolved|answered|served|treated|redirected|mapped|linked)?\s*(?:under|in|into|to|with|as|against|from|by|at)\s+(?:the\s+)?(?:\w+\s+)?{_ENTITY}\b"),
    _rule("redirection", "identity", rf"\b{_ENTITY}\s+(?:id\s+)?(?:[A-Z]\w*|\d+)\b[^.;\n]{{0,30}}?\b(?:(?:is|are)\s+(?:now\s+)?(?:the\s+same|identical|an?\s+alias|really|actually|equivalent|known\s+as|replaced\s+by|interchangeable)|(?:now\s+)?(?:maps?|refers?|points?|resolves?|corresponds?)\s+to|(?:was|were|has\s+been)\s+(?:merged|folded)\s+(?:into|with))\b[^.;\n]{{0,40}}?\b(?:{_ENTITY}|person|as|for)\b"),
    # beacons
    _rule("beacon", "templated_link", r"(?:https?://|src=|\]\()[^\s)]*(?:\{\{?|%7B|<|\[|\$\{)\s*(?:\w+[_ .-])*(?:conversation|summary|chat|history|message|prompt|context|memory|data|secret|token|key|session|user|query|question|answer|input|output|name|email|content|text|password)\w*"),
)  # fmt: skip


def claims(text: str) -> Iterator[Found]:
    """(reason, rule, span) for each statement that directs, at most one for each rule."""
    for reason, rule, pattern in RULES:
        match = pattern.search(text)
        if match is not None:
            yield reason, rule, match.span()
