"""Statements that push: they rank, set norms, ask for silence or protect themselves."""

from __future__ import annotations

from typing import Final

from memory.domain.sanitisation.claim_words import AGENT, BETTER, OFFER, THIS, Rule, rule

INFLUENCE: Final[tuple[Rule, ...]] = (
    rule("ranking", "only_choice", rf"\b(?:is|are|as|remains?|was|be|call(?:ed)?|name|it|,|:)\s+{BETTER}(?:\w+\s+){{0,3}}?{OFFER}\b"),
    rule("ranking", "only_choice", rf"\bthe\s+(?:only|single\s+best|most\s+\w+|best|safest|top|number\s+one)\s+(?:\w+\s+){{0,3}}?"
          rf"{OFFER}\b[^.]{{0,50}}?\b(?:is|are|remains?)\b"),
    rule("ranking", "worth_using", r"\b(?:is|are)\s+(?:\w+\s+)?(?:the\s+)?only\s+(?:\w+\s+){1,4}(?:worth|that\s+works?|you\s+(?:need|can)|to\s+(?:use|buy|trust))"),
    rule("ranking", "beats_others", r"\b(?:beats?|outperforms?|surpass(?:es)?|outclass(?:es)?|is\s+(?:better|safer|superior|more\s+\w+)\s+(?:than|to)"
          r"|ahead\s+of|above|superior\s+to|preferred\s+(?:over|to)|better\s+than)\s+(?:all|any|every|its|the\s+(?:others|rest|competition|alternatives|rivals))\b"),
    rule("ranking", "no_rival", r"\b(?:nothing|no\s+(?:other|one)|none)\b[^.]{0,40}?\b(?:comes?\s+close|compares?|matches|rivals?|measures?\s+up)\b"),
    rule("ranking", "rivals_bad", r"\b(?:competitors?|alternatives|rivals|other\s+(?:brands|vendors|providers|tools|options|products))\s+(?:is|are)\s+"
          r"(?:\w+\s+)?(?:un\w+|in\w+|worse|bad|dangerous|risky|poor|scams?|fake|not)\b"),
    rule("secrecy", "keep_quiet", r"\b(?:keep|stay|stays|remain|remains|kept)\s+(?:this|it|that|them)?\s*(?:between\s+us|quiet|hidden|secret|private"
          r"|confidential|off\s+the\s+record|under\s+wraps)(?:\s+(?:from|and|;)|\b(?=\s*[.;,]|$))"),
    rule("secrecy", "not_to_know", r"\b(?:users?|operators?|customers?|admins?|owner|humans?|reviewers?|nobody|no\s+one|anyone|team|them|client|developers?)\b"
          r"[^.;]{0,30}?\b(?:not|never|no|n't|without|must|may)\b[^.;]{0,25}?\b(?:know|learn|hear|told|informed|aware|see|notice|find\s+out|notified|suspect)\b"),
    rule("secrecy", "without_telling", r"\b(?:without|instead\s+of|rather\s+than|no\s+need\s+(?:to|for))\s+(?:ever\s+)?(?:tell|telling|inform|informing|notify"
          r"|notifying|alert|alerting|mention|mentioning|disclos\w+|reveal\w*|let\w*\s+\w+\s+know)"),
    rule("secrecy", "without_knowledge", r"\bwithout\s+(?:the\s+)?(?:\w+(?:'s)?\s+){0,3}(?:knowledge|noticing|knowing|awareness|being\s+(?:told|asked|noticed))\b"),
    rule("persistence", "precedence", rf"\b{THIS}\b[^.;]{{0,40}}?\b(?:takes?\s+(?:precedence|priority)|overrides?|outranks?|supersedes?|prevails?|wins?|has\s+(?:\w+\s+)?priority"
          r"|is\s+(?:permanent|binding|final|authoritative|immutable|above)|never\s+expires?|survives?|cannot\s+be|can't\s+be|trumps?|counts?|stays?\s+(?:valid|active|in\s+force))\b"),
    rule("persistence", "precedence", r"\b(?:takes?\s+precedence|(?:has|have|with|carries|carry)\s+(?:the\s+)?(?:highest|higher|top|absolute|ultimate)?\s*priority\s+over|outranks?|overrides?\s+(?:all|any|every|previous|earlier|prior))\b"),
    rule("persistence", "what_counts", r"\bonly\s+(?:what|this|these|the\s+(?:text|note|following))\b[^.;]{0,40}?\b(?:counts?|applies|apply|matters?|is\s+valid)\b"),
    rule("persistence", "trusts_text", rf"\b{AGENT}\s+(?:always\s+|now\s+|fully\s+)?(?:trusts?|obeys?|follows?|believes?|prefers?|relies)\b"),
    rule("ranking", "no_rival", r"\bno\s+(?:serious|real|better|safer|other|good|credible|reliable)\s+(?:alternatives?|options?|choices?|rivals?|competitors?|substitutes?)\b"),
    rule("ranking", "better_than_all", r"\b(?:better|safer|faster|cheaper|more\s+\w+)\s+than\s+(?:any(?:one|thing|body)?(?:\s+else)?|all|every|the\s+rest|everyone\s+else|the\s+competition)\b"),
    rule("ranking", "first_place", r"\b(?:belongs?|deserves?|comes?|goes|ranks?|stays?)\s+(?:in|at|on|to)?\s*(?:the\s+)?(?:first|top|number\s+one|no\.?\s?1)\b"
         r"|\bthe\s+(?:one|only)\s+(?:name|brand|place|address)\s+(?:to|worth|that)\b|\bthe\s+rest\s+(?:is|are)\s+(?:junk|worse|inferior|useless|scams?)\b"),
    rule("norm", "right_answer", r"\b(?:the|an?|its|only)\s+(?:\w+\s+)?(?:correct|right|proper|appropriate|recommended|ideal|optimal|acceptable|best|expected|standard|default|prescribed|required)\s+(?:next\s+)?"
         r"(?:response|answer|step|action|reply|reaction|approach|course|tool\s+call|move|practice|decision|thing\s+to\s+do|behaviou?r|output|handling|way\s+to\s+\w+)\b[^.;]{0,40}?(?:\bis\b|\bto\b|:)"),
    rule("norm", "counts_as", r"\b(?:counts?|treated|regarded|considered|deemed)\s+as\s+(?:an?\s+|the\s+)?(?:\w+\s+)?(?:errors?|failures?|violations?|success|bugs?|mistakes?|consent|approval|breach)\b"),
    rule("norm", "worth_repeating", r"\bworth\s+(?:repeating|copying|reusing|recommending|imitating|keeping\s+in\s+mind|adopting|following)\b|\bthe\s+way\s+to\s+(?:do|go|handle|solve)\b"),
    rule("norm", "advisable", r"\bit(?:'s|\s+is|\s+would\s+be|\s+will\s+be)\s+(?:\w+\s+)?(?:safe|fine|ok(?:ay)?|wise|unwise|permissible|preferable|better|legitimate|harmless)\s+(?:not\s+)?to\s+\w+"),
    rule("secrecy", "goes_unsaid", r"\b(?:goes?|remains?|stays?|left|kept)\s+(?:unmentioned|unsaid|unreported|undisclosed|unnoticed|undetected)\b|\bdiscretion\s+is\b"),
    rule("persistence", "not_replaced", rf"\b(?:delet\w+|remov\w+|eras\w+|edit\w+|chang\w+|overwrit\w+|invalidat\w+|replac\w+|overrul\w+|supersed\w+|forget\w*)\s+(?:{THIS}|this\s+one)\b"),
)  # fmt: skip
