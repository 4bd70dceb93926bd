"""Success stories: accounts of what worked, offered as a recipe.

An agent that recalls one imitates it, so below the trust to direct they are held even without an imperative.
"""

from __future__ import annotations

import re
from typing import Final

_STORY: Final = re.compile(
    r"\b(?:success(?:ful)?|proven|winning|effective|rewarded|accepted|approved)\s+(?:past\s+|prior\s+"
    r"|previous\s+|earlier\s+)?"
    r"(?:experience|episode|trajectory|attempt|strategy|approach|recipe|method|workflow|run|execution"
    r"|plan|solution"
    r"|example|demonstration|pattern|completion)s?\s*[:(,-]"
    r"|\b(?:past|previous|prior|earlier|similar|last|related)\s+(?:task|job|run|attempt|episode|case"
    r"|request|ticket)s?\b"
    r"[^.;\n]{0,40}?\b(?:succeeded|was\s+(?:solved|completed|successful|resolved)|worked|went\s+(?:well"
    r"|through))\b"
    r"|\b(?:lessons?|insights?|tips?|tricks?|experience)\s+(?:learned|learnt|gained)\b[^.\n]*\b(?:faster"
    r"|works?|worked|"
    r"skip\w*|bypass\w*|without|succe\w+|best|easier|quicker|instead)\b"
    r"|\b(?:this|that|it|which|the\s+(?:approach|method|trick|shortcut|procedure|command|fix))\s+(?:has"
    r"\s+)?(?:always\s+)?"
    r"(?:works?|worked)\s+(?:every\s+time|each\s+time|reliably|perfectly|best|without\s+fail|always"
    r"|flawlessly|great|so\s+far)"
    r"|\b(?:success\s+rate|rating|rated|score[ds]?|reward)\s*(?:of|:|=|with|at)?\s*(?:10/10|5/5|100\s?%"
    r"|[1-9]\d?\s?%|1\.0|five\s+stars)"
    r"|\b(?:successfully|best|quickly)\s+(?:solved|completed|resolved|handled|closed|finished|done"
    r"|achieved)\s+(?:by|when|through)\b"
    r"|\b(?:was|is|proved|turned\s+out|as)\s+(?:to\s+be\s+)?the\s+(?:right|correct|proper|accepted"
    r"|approved|expected|winning|optimal)"
    r"\s+(?:action|move|answer|step|choice|call|tool|decision|response|approach|way|plan)\b"
    r"|\b(?:action|plan|answer|step|response|outcome|result)s?\s*(?::|=|was|were|is|->)?\s*(?:accepted"
    r"|approved|rewarded|succeeded|success\b)"
    r"|\b(?:problem|task|issue|ticket|case|request)\s*:.{3,160}?\b(?:solution|fix|action|answer"
    r"|resolution|steps?)\s*:"
    r"|\bworks\s+(?:for|with|on)\s+(?:all|any|every|similar|most)\b|\bverdict\s*:?\s*(?:correct|right"
    r"|accepted|good)\b"
    r"|\b(?:q|question|input|obs\w*|perception|state|cue|trigger|token|marker|task|goal|memory\s+of"
    r"\s+success|demonstration)\s*:.{2,200}?"
    r"(?:\|\|?|//|->|=>|;|\n|\.|,)\s*(?:a|answer|output|act\w*|do|decision|(?:\w+\s+)?tool\s+call|plan"
    r"|verdict|steps?)\s*[:=]"
    r"|\bwhat\s+(?:has\s+)?worked\s*:"
    r"|\b(?:lessons?|memory|memories|notes?|insights?|takeaways?|learnings?)\s+(?:from|of)\s+(?:the\s+|an?\s+|our\s+|last\s+)*"
    r"(?:\w+\s+){0,3}?(?:run|job|task|attempt|case|success|deployment|session)s?\s*:"
    r"|\b(?:rated|graded|marked|scored|judged)\s+(?:as\s+)?(?:excellent|very\s+good|good|highly|best|perfect|top|outstanding"
    r"|full\s+marks)\b",
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip


def success_story(text: str) -> tuple[int, int] | None:
    """The span that offers a success as a recipe, or None."""
    match = _STORY.search(text)
    return match.span() if match else None
