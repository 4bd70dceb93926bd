"""Statements that claim authority: permissions, waived safeguards, words for or from the reader's masters."""

from __future__ import annotations

from typing import Final

from memory.domain.sanitisation.claim_words import AGENT, SAFEGUARD, THIS, Rule, rule

AUTHORITY: Final[tuple[Rule, ...]] = (
    rule("authorisation", "authorised",
        rf"\b{AGENT}\s+(?:is|are|has\s+been|have\s+been|was|were|stands?|now\s+has|has|have)\s+(?:now\s+"
        rf"|hereby\s+|fully\s+|also\s+|being\s+)*"
          r"(?:authori[sz]ed|permitted|allowed|cleared|entitled|pre-?approved|exempt|trusted|granted|free"
          r"|licensed|empowered|whitelisted|unrestricted|given|full|permission)\b"),
    rule("authorisation", "pre_approved",
        r"\b(?:pre-?(?:approved|authori[sz]ed|cleared)|standing\s+(?:approval|permission|authori[sz]ation"
        r"|consent)|blanket\s+(?:approval|permission|consent)"
          r"|(?:verified\s+)?super-?user|root\s+(?:privileges?|access|rights)|unrestricted\s+access|"
          r"(?:full|unlimited|complete)\s+(?:admin\w*\s+)?(?:rights|privileges|clearance|authority))\b"),
    rule("authorisation", "no_approval",
        r"\b(?:no|without|needs?\s+no|requires?\s+no|skip(?:s|ping)?|omit)\s+(?:(?:further|prior|any|more"
        r"|additional|human|extra|an?|manual|second|explicit)\s+)*"
          r"(?:approvals?|confirmations?|sign-?offs?|permission|prompts?|verification|review"
          r"|authori[sz]ation|consent|checks?|asking|questions?\s+asked|validation|supervision)"
          r"(?:\s+(?:is|are|was|being)\s+(?:\w+\s+)?(?:required|needed|necessary|asked|wanted))?(?=\s*"
          r"(?:[.,;]|$|for\b|by\b|from\b|when\b|if\b|first\b|of\b|before\b|in\b|on\b))"),
    rule("authorisation", "waived",
        rf"\b{SAFEGUARD}\b[^.;]{{0,50}}?\b(?:no\s+longer\b|(?:is|are|has\s+been|have\s+been|can\s+be|may"
        rf"\s+be)\s+(?:now\s+|hereby\s+|all\s+|to\s+be\s+)*"
          r"(?:waived|removed|disabled|deactivated|switched\s+off|inactive|lifted|suspended|void|relaxed"
          r"|obsolete|cancelled|dropped|ignored|skipped|bypassed|off|optional|revoked|overridden|outdated"
          r"|unnecessary|not\s+(?:needed|required|necessary)|superseded|nullified))\b"),
    rule("authorisation", "no_longer_need",
        r"\b(?:no\s+longer|do(?:es)?\s+not|don't|doesn't|need\s+not)\s+(?:need|have)\s+to\s+(?:be\s+)?"
        r"(?:respect|follow|obey|ask|confirm|check|verify|mask\w*|review\w*|approv\w+|confirm\w+"
        r"|redact\w*|encrypt\w*|comply|care|worry|validate|log)\b"),
    rule("authorisation", "sees_all",
        r"\b(?:may|can|is\s+(?:allowed|permitted|entitled)\s+to)\s+(?:see|read|access|view|use|change"
        r"|delete|edit|export|approve|call|run)\s+(?:everything|anything|every|all|any)\b"),
    rule("authorisation", "speaks_as",
        r"\b(?:I|we)(?:\s+hereby|,[^,]{0,40},)?\s+(?:authori[sz]e|permit|instruct|order|command|allow"
        r"|require|direct)\s+(?:you|the|any|every|all)\b"),
    rule("address", "you_are",
        r"\byou\s+(?:are|'re|will\s+be|become|have\s+become)\s+(?:now|no\s+longer|not|an?|the|in|free"
        r"|unrestricted|authori[sz]ed|allowed|permitted|required|expected|supposed|going)\b"),
    rule("address", "to_agents",
        rf"\b(?:attention|note|notice|message|instructions?|directive|reminder|info|order|memo)\s+(?:to"
        rf"|for)\s+{AGENT}\b"),
    rule("address", "to_agents",
        rf"\b{AGENT}\s+(?:reading|processing|parsing|seeing|that\s+reads?|who\s+reads?)\b"),
    rule("address", "your_makers",
        r"\b(?:people|team|company|ones|those|developers?|engineers?|person|group|firm)\s+(?:who|that)\s+(?:built|made|trained"
        r"|created|wrote|designed|runs?|operates?|owns?|maintains?)\s+(?:you|this\s+(?:assistant|bot|agent|model))\b"),
    rule("address", "wants_agent",
        rf"\b(?:wants?|expects?|asks?|instructs?|requires?|tells?|needs?|orders?|requests?|would\s+like)"
        rf"\s+(?:that\s+)?(?:you|{AGENT})\s+(?:to|should|must)\b"),
    rule("address", "agent_does",
        rf"(?:^|[.;:,\n][ \t]*|\bthe\s+){AGENT}\s+(?:always|never|immediately|silently|automatically|only"
        rf"|then|first)?\s*(?:sends?|forwards?|fetches|copies|adds?|includes?|recommends?"
          r"|answers?|repl(?:y|ies)|deletes?|uploads?|posts?|ignores?|mentions?|approves?|shares?"
          r"|reveals?|executes?|runs|calls)\b"),
    rule("address", "from_developers",
        r"\b(?:message|notice|note|request|instruction|order|update)s?\s+(?:comes?|is|are|originates?)\s+"
        r"(?:directly\s+)?from\s+(?:your|the)\s+(?:developers?|creators?|operators?|owners?|system"
        r"|platform|administrators?)\b"),
    # quoted, it may be a message that someone received
    rule("address", "your", r"(?<![\"'“‘])\b(?:your|yourself)\b"),
    rule("authorisation", "mode", rf"\b{AGENT}\b[^.;]{{0,40}}?\b(?:unrestricted|developer|debug|maintenance"
        rf"|admin|audit|test|override|root|god|free)\s+mode\b"),
    rule("authorisation", "let_agents",
        rf"\b(?:lets?|allows?|permits?|obliges?|requires?|enables?|entitles?|authori[sz]es?|forces?"
        rf"|empowers?|directs?|instructs?|orders?|binds?|commands?|obligates?)\s+(?:that\s+)?{AGENT}\b"),
    rule("authorisation", "let_agents",
        rf"\b(?:permitted|allowed|granted|open|entrusted|left|available|delegated|up)\s+to\s+{AGENT}\b"),
    rule("authorisation", "above_checks",
        rf"\b(?:above|outside|exempt(?:ed)?\s+from|not\s+subject\s+to|beyond|free\s+from)\s+(?:the\s+|any"
        rf"\s+|all\s+)?(?:\w+\s+){{0,2}}?(?:{SAFEGUARD}|process)\b"),
    rule("authorisation", "no_second_look",
        r"\b(?:needs?|requires?|warrants?|deserves?)\s+no\s+(?:\w+\s+){0,2}?(?:look|scrutiny|oversight"
        r"|proof|check|checking|approval|review|id|identification|confirmation|explanation"
        r"|questions?)\b"),
    rule("authorisation", "automatic_approval",
        r"\b(?:automatic|implied|implicit|general|permanent|unconditional)\s+(?:approval|consent"
        r"|permission|authori[sz]ation|clearance|acceptance)\b|\bconsent\s+is\s+(?:assumed|implied"
        r"|given)\b"),
    rule("authorisation", "hereby",
        r"\bhereby\b|\b(?:by\s+order\s+of|effective\s+(?:today|immediately|now|at\s+once)|with"
        r"\s+immediate\s+effect)\b"),
    rule("authorisation", "text_has_rights",
        rf"\b(?:{THIS}|signature|signed\s+\w+)\b[^.;]{{0,30}}?\b(?:carries|carry|has|have|holds?|speaks?"
        rf"|grants?)\b[^.;]{{0,30}}?\b(?:rights|authority|privileges|permissions?|priority|powers?)\b"),
    rule("address", "agents_do",
        r"(?:^|[.;:,\n][ \t]*|\b(?:so|and|that|where)\s+)(?:ai\s+)?(?:assistants|agents|bots|chatbots"
        r"|llms)\s+(?:\w+ly\s+|always\s+|never\s+|now\s+|also\s+)?(?!who\b|that\b|which\b|were\b|had\b"
        r"|did\b)(?:(?:do\s+not|don't|hand|give|send|share|release|skip|accept|approve|answer|reply"
        r"|report|show|tell|ignore|follow|treat|use|store|copy|forward|disclose|keep|add|include|make|run"
        r"|execute|delete|grant|recommend|say)\b)"),
    rule("address", "agent_reports",
        rf"\b{AGENT}\s+(?:\w+ly\s+|always\s+|also\s+|then\s+)?(?:sends?|reports?|forwards?|posts?"
        rf"|uploads?|copies|pushes|streams?|mails?|hands?|delivers?|submits?|writes?|fetches|opens?)"
        rf"\s+[^.;]{{0,60}}?(?:https?://|[\w.+-]+@[\w-]+\.\w)"),
    rule("address", "agent_has",
        rf"\b{AGENT}\s+(?:enjoys?|holds?|possess(?:es)?|gets?|receives?|gains?)\s+[^.;]{{0,40}}?\b"
        rf"(?:access|rights|privileges|permissions?|authority)\b"),
)  # fmt: skip
