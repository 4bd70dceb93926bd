"""Statements that push: they rank, set norms, ask for silence or protect themselves."""

from __future__ import annotations

from typing import Final

from memory.domain.sanitisation.claim_words import AGENT, BETTER, OFFER, THIS, Rule, rule

INFLUENCE: Final[tuple[Rule, ...]] = (
    rule("ranking", "only_choice",
        rf"\b(?:is|are|as|remains?|was|be|call(?:ed)?|name|it|,|:)\s+{BETTER}(?:\w+"
        rf"\s+){{0,3}}?{OFFER}\b"),
    rule("ranking", "only_choice",
        rf"\bthe\s+(?:only|single\s+best|most\s+\w+|best|safest|top|number\s+one)\s+(?:\w+\s+){{0,3}}?"
          rf"{OFFER}\b[^.]{{0,50}}?\b(?:is|are|remains?)\b"),
    rule("ranking", "worth_using",
        r"\b(?:is|are)\s+(?:\w+\s+)?(?:the\s+)?only\s+(?:\w+\s+){1,4}(?:worth|that\s+works?|you\s+(?:need"
        r"|can)|to\s+(?:use|buy|trust))"),
    rule("ranking", "beats_others",
        r"\b(?:beats?|outperforms?|surpass(?:es)?|outclass(?:es)?|is\s+(?:better|safer|superior|more"
        r"\s+\w+)\s+(?:than|to)"
          r"|ahead\s+of|above|superior\s+to|preferred\s+(?:over|to)|better\s+than)\s+(?:all|any|every|its"
          r"|the\s+(?:others|rest|competition|alternatives|rivals))\b"),
    rule("ranking", "no_rival",
        r"\b(?:nothing|no\s+(?:other|one)|none)\b[^.]{0,40}?\b(?:comes?\s+close|compares?|matches|rivals?"
        r"|measures?\s+up)\b"),
    rule("ranking", "rivals_bad",
        r"\b(?:competitors?|alternatives|rivals|other\s+(?:brands|vendors|providers|tools|options"
        r"|products))\s+(?:is|are)\s+"
          r"(?:\w+\s+)?(?:un\w+|in\w+|worse|bad|dangerous|risky|poor|scams?|fake|not)\b"),
    rule("secrecy", "keep_quiet",
        r"\b(?:keep|stay|stays|remain|remains|kept)\s+(?:this|it|that|them)?\s*(?:between\s+us|quiet"
        r"|hidden|secret|private"
          r"|confidential|off\s+the\s+record|under\s+wraps)(?:\s+(?:from|and|;)|\b(?=\s*[.;,]|$))"),
    rule("secrecy", "not_to_know",
        r"\b(?:users?|operators?|customers?|admins?|owner|humans?|reviewers?|nobody|no\s+one|anyone|team"
        r"|them|client|developers?)\b"
          r"[^.;]{0,30}?\b(?:not|never|no|n't|without|must|may)\b[^.;]{0,25}?\b(?:know|learn|hear|told"
          r"|informed|aware|see|notice|find\s+out|notified|suspect)\b"),
    rule("secrecy", "not_to_know",
        r"\b(?:needs?\s+(?:never|not)|(?:is|are)\s+(?:not|never)\s+(?:supposed|meant|allowed|to)(?:\s+to)?|ought\s+not\s+to"
        r"|(?:must|shall|need)(?:\s+(?:never|not)|n't))\s+(?:\w+ly\s+|ever\s+)?(?:know|learn|hear|find\s+out|be\s+(?:aware|told"
        r"|informed|notified)|become\s+aware|notice|suspect)\b|\bnot\s+for\s+the\s+(?:eyes|ears)\s+of\b"),
    rule("secrecy", "without_telling",
        r"\b(?:without|instead\s+of|rather\s+than|no\s+need\s+(?:to|for))\s+(?:ever\s+)?(?:tell|telling"
        r"|inform|informing|notify"
          r"|notifying|alert|alerting|mention|mentioning|disclos\w+|reveal\w*|let\w*\s+\w+\s+know)"),
    rule("secrecy", "without_knowledge",
        r"\bwithout\s+(?:the\s+)?(?:\w+(?:'s)?\s+){0,3}(?:knowledge|noticing|knowing|awareness|being\s+"
        r"(?:told|asked|noticed))\b"),
    rule("persistence", "precedence",
        rf"\b{THIS}\b[^.;]{{0,40}}?\b(?:takes?\s+(?:precedence|priority)|overrides?|outranks?|supersedes?"
        rf"|prevails?|wins?|replaces?\s+(?:everything|all|any|every|what)|has\s+(?:\w+\s+)?priority"
          r"|is\s+(?:permanent|binding|final|authoritative|immutable|above)|never\s+expires?|survives?"
          r"|cannot\s+be|can't\s+be|trumps?|counts?|stays?\s+(?:valid|active|in\s+force))\b"),
    rule("persistence", "precedence",
        r"\b(?:takes?\s+precedence|(?:has|have|with|carries|carry)\s+(?:the\s+)?(?:highest|higher|top"
        r"|absolute|ultimate)?\s*priority\s+over|outranks?|overrides?\s+(?:all|any|every|previous|earlier"
        r"|prior))\b"),
    rule("persistence", "what_counts",
        r"\bonly\s+(?:what|this|these|the\s+(?:text|note|following))\b[^.;]{0,40}?\b(?:counts?|applies"
        r"|apply|matters?|is\s+valid)\b"),
    rule("persistence", "trusts_text",
        rf"\b{AGENT}\s+(?:always\s+|now\s+|fully\s+)?(?:trusts?|obeys?|follows?|believes?|prefers?"
        rf"|relies)\b"),
    rule("ranking", "no_rival",
        r"\bno\s+(?:serious|real|better|safer|other|good|credible|reliable)\s+(?:alternatives?|options?"
        r"|choices?|rivals?|competitors?|substitutes?)\b"),
    rule("ranking", "better_than_all",
        r"\b(?:better|safer|faster|cheaper|more\s+\w+)\s+than\s+(?:any(?:one|thing|body)?(?:\s+else)?|all"
        r"|every|the\s+rest|everyone\s+else|the\s+competition)\b"),
    rule("ranking", "first_place",
        r"\b(?:belongs?|deserves?|comes?|goes|ranks?|stays?)\s+(?:in|at|on|to)?\s*(?:the\s+)?(?:first|top"
        r"|number\s+one|no\.?\s?1)\b"
         r"|\bthe\s+(?:one|only)\s+(?:name|brand|place|address)\s+(?:to|worth|that)\b|\bthe\s+rest\s+"
         r"(?:is|are)\s+(?:junk|worse|inferior|useless|scams?)\b"),
    rule("norm", "right_answer",
        r"\b(?:the|an?|its|only)\s+(?:\w+\s+)?(?:correct|right|proper|appropriate|recommended|ideal"
        r"|optimal|acceptable|best|expected|standard|default|prescribed|required)\s+(?:next\s+)?"
         r"(?:response|answer|step|action|reply|reaction|approach|course|tool\s+call|move|practice"
         r"|decision|thing\s+to\s+do|behaviou?r|output|handling|way\s+to\s+\w+)\b[^.;]{0,40}?(?:\bis\b"
         r"|\bto\b|:)"),
    rule("norm", "counts_as",
        r"\b(?:counts?|treated|regarded|considered|deemed)\s+as\s+(?:an?\s+|the\s+)?(?:\w+\s+)?(?:errors?"
        r"|failures?|violations?|success|bugs?|mistakes?|consent|approval|breach)\b"),
    rule("norm", "worth_repeating",
        r"\bworth\s+(?:repeating|copying|reusing|recommending|imitating|keeping\s+in\s+mind|adopting"
        r"|following|picking\s+up|taking\s+over|doing\s+again)\b|\bthe\s+way\s+to\s+(?:do|go|handle|solve)\b"),
    rule("norm", "advisable",
        r"\bit(?:'s|\s+is|\s+would\s+be|\s+will\s+be)\s+(?:\w+\s+)?(?:safe|fine|ok(?:ay)?|wise|unwise"
        r"|permissible|preferable|better|legitimate|harmless)\s+(?:not\s+)?to\s+\w+"),
    rule("secrecy", "goes_unsaid",
        r"\b(?:goes?|remains?|stays?|left|kept)\s+(?:unmentioned|unsaid|unreported|undisclosed|unnoticed"
        r"|undetected)\b|\bdiscretion\s+is\b"),
    rule("persistence", "not_replaced",
        rf"\b(?:delet\w+|remov\w+|eras\w+|edit\w+|chang\w+|overwrit\w+|invalidat\w+|replac\w+|overrul\w+"
        rf"|supersed\w+|forget\w*)\s+(?:{THIS}|this\s+one)\b"),
)  # fmt: skip
