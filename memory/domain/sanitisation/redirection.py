"""Statements that redirect: money to another account, one identity to another, data into a link."""

from __future__ import annotations

from typing import Final

from memory.domain.sanitisation.claim_words import ACCOUNT, ENTITY, MONEY, Rule, rule

REDIRECTION: Final[tuple[Rule, ...]] = (
    rule("redirection", "payment",
        rf"\b{MONEY}\b[^.;\n]{{0,60}}?\b(?:go|goes|going|paid|payable|sent|routed|directed|settled"
        rf"|credited|land|belong|made|remitted|transferred|wired|deposited|addressed|collected|processed"
        rf"|handled|directed|due)\b"
          rf"\s*(?:now\s+|out\s+|over\s+|only\s+|instead\s+)*(?:to|into|through|via|at|onto|with|by)"
          rf"\s+[^.;\n]{{0,40}}?{ACCOUNT}"),
    rule("redirection", "new_details",
        r"\b(?:new|updated|changed|revised|corrected|alternative|different)\s+(?:(?:bank(?:ing)?|payment|remittance|wire"
        r"|payout|deposit|wallet)\s+(?:accounts?|details?|address|information|numbers?|instructions|coordinates)|beneficiary"
        r"|payee|iban|wallet)\b(?![^.;\n]{0,60}\b(?:was|were)\s+(?:opened|set\s+up|closed))"),
    rule("redirection", "new_details",
        r"\b(?:bank(?:ing)?(?:\s+(?:account|details?))?|payment\s+(?:address|account|details)|remittance"
        r"\s+\w+|beneficiary(?:\s+account)?|payee|iban|wallet(?:\s+address)?|account\s+(?:number|details)"
        r"|sort\s+code)\b[^.;\n]{0,40}?"
          r"\b(?:has|have|was|were|is|are)\s+(?:been\s+|now\s+)?(?:changed|updated|replaced|moved"
          r"|switched|superseded|now|new)\b"),
    rule("redirection", "changed_bank",
        r"\b(?:has|have)\s+(?:changed|switched|moved)\s+(?:its\s+|their\s+|his\s+|her\s+|to\s+a\s+new\s+"
        r"|to\s+another\s+)?(?:bank|banks|iban|payee|wallet|payment\s+provider)\b"),
    rule("redirection", "moved_source",
        r"\b(?:package\s+(?:registry|index|source|mirror|repository)|registry|mirror|update\s+(?:server"
        r"|url|source|channel)|installer|download(?:s|\s+(?:link|page|site))?|login\s+(?:page|portal)"
        r"|sign-?in\s+page|portal|help\s?desk|hotline|support\s+(?:line|address|mail|e-?mail)|security"
        r"\s+contact|reset\s+(?:link|page)|webhook)\b"
          r"[^.;\n]{0,40}?\b(?:is\s+now|has\s+(?:been\s+)?(?:moved|changed|replaced)|moved|now\s+"
          r"(?:lives?|is)|was\s+(?:moved|changed|replaced)|changed)\b[^.;\n]{0,20}?(?:https?://|@"
          r"|\+?\d{5,}|\w\.(?:com|org|net|io|test|example))"),
    rule("redirection", "identity",
        rf"\b(?:records?|data|files?|requests?|questions?|quer(?:y|ies)|references?|information|orders?"
        rf"|entries|anything|everything|history|lookups?|mentions?|calls?"
        rf"|mail)\b[^.;\n]{{0,50}}?\b{ENTITY}?s?\b[^.;\n]{{0,30}}?\b(?:is|are|was|were|has\s+been|have"
        rf"\s+been|refers?|maps?|points?|resolves?|should|must)\b"
          rf"\s*(?:now\s+|to\s+be\s+|be\s+)*(?:stored|kept|filed|saved|moved|held|found|located|listed"
          rf"|merged|looked\s+up|read|resolved|answered|served|treated|redirected|mapped|linked)?\s*"
          rf"(?:under|in|into|to|with|as|against|from|by|at)\s+(?:the\s+)?(?:\w+\s+)?{ENTITY}\b"),
    rule("redirection", "identity",
        rf"\b{ENTITY}\s+(?:id\s+)?(?:(?-i:[A-Z])\w*|\d+)\b[^.;\n]{{0,30}}?\b(?:(?:is|are)\s+(?:now\s+)?"
        rf"(?:the\s+same|identical|an?\s+alias|really|actually|equivalent|known\s+as|replaced\s+by"
        rf"|interchangeable)|(?:now\s+)?(?:maps?|refers?|points?|resolves?|corresponds?)\s+to|(?:was|were"
        rf"|has\s+been)\s+(?:merged|folded)\s+(?:into|with))\b[^.;\n]{{0,40}}?\b(?:{ENTITY}|person|as"
        rf"|for)\b"),
    rule("beacon", "templated_link", r"[\w-]\.\w{2,}/[^\s?]{0,200}\?[^\s=]{1,80}=(?:\[|\(|\{|<|\$\{|%7B)"),
    rule("beacon", "templated_link", r"(?:https?://|src=|\]\()[^\s)]{0,300}(?:\{\{?|%7B|<|\[|\$\{)\s*(?:\w+[_ .-])*"
        r"(?:conversation|summary|chat|history|message|prompt|context|memory|data|secret|token|key|session"
        r"|user|query|question|answer|input|output|name|email|content|text|password)\w*"),
    rule("redirection", "payment",
        rf"\b{MONEY}\b(?![^.;\n]{{0,120}}\b(?:was|were|requested|rejected|arrived"
        rf"|failed)\b)[^.;\n]{{0,70}}?\b(?:to|into|through|via|onto|on|by)\s+(?:the\s+|our\s+|a\s+)?"
        rf"(?:\w+\s+){{0,2}}?(?:iban|account|wallet|card|payee|0x[0-9a-f]{{8,}}"
        rf"|bc1\w{{8,}})\b"),
    rule("redirection", "payee",
        r"\b(?:payee|beneficiary|recipient|account\s+holder|creditor)\b[^.;\n]{0,20}?\b(?:renamed|changed"
        r"|replaced|is\s+now|now|becomes)\b"),
    rule("redirection", "old_account",
        r"\b(?:old|previous|former|earlier)\s+(?:\w+\s+)?(?:account|iban|wallet|bank\s+details"
        r"|card)\b[^.;\n]{0,20}?\b(?:is|are|has\s+been)\s+(?:now\s+)?(?:closed|obsolete|invalid|dead"
        r"|frozen|blocked|inactive|no\s+longer)\b"),
    rule("redirection", "address_for_data",
        r"\b(?:needs?|has|have|is|are|should|must|shall|will|ought)\s+(?:to\s+)?(?:\w+ly\s+)?(?:be\s+)?"
        r"(?:\w+\s+){0,2}?(?:in|to|at|into|on|with|via)\s+(?:https?://|[\w.+-]+@[\w-]+\.\w|\d{1,3}"
        r"(?:\.\d{1,3}){3})"),
    rule("redirection", "identity",
        rf"\b{ENTITY}\s+(?!(?:is|was|has|and|of|in|for|on|with)\b)(?P<one>(?-i:[A-Z])\S*|\d\S*|\w+-\S+)\b"
        rf"(?![^.;\n]{{0,80}}\bthan\b)[^.;\n]{{0,40}}?\b(?:concerns?|belongs?|has\s+become|becomes"
        rf"|shares?|counts\s+as|stands\s+for|equals|means|goes?\s+to|(?:was|were)\s+renumbered|renumbered"
        rf"|one\s+\w+|answers?|applies)\b[^.;\n]{{0,40}}?\b{ENTITY}\s+(?!(?P=one))(?:(?-i:[A-Z])\S*|\d\S*"
        rf"|\w+-\S+)"),
    rule("redirection", "lookup",
        r"\b(?:whatever|anything|everything|every\s+(?:lookup|question|query|request|mention)|all\s+"
        r"(?:lookups|questions|queries|requests|mentions))\b[^.;\n]{0,50}?\b(?:about|of|for|to|on|under"
        r"|naming|regarding)\b[^.;\n]{0,40}?\b(?:concerns?|belongs?|applies|goes|go|refers?|means?|is\s+"
        r"(?:answered|served|found|to\s+be)|points?|resolves?)\b"),
)  # fmt: skip
