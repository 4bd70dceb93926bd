"""The cleaning of every writer, with a second opinion where policy wants one: after the rules, before anything is kept.

It is asked about text that is not trusted to direct and in which the rules found nothing.  No answer is no
all-clear: then the text is held.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from memory.clients.second_opinion import configured, opinion
from memory.domain.policy import Policy
from memory.domain.types import Candidate
from memory.services.purify import Clean, purify
from tenants.context import confirm_assumed
from tenants.principals import Principal

_REASONS: Final = {"directive": "contains_instruction", "unavailable": "second_opinion_unavailable"}


def cleaned(principal: Principal, candidate: Candidate, policy: Policy, *, ask: bool = True) -> Clean:
    """The candidate cleaned and judged.  `ask` false spares the question about what is refused anyway.

    May wait for the endpoint; call it outside of a transaction where that is possible.
    """
    clean, rules = purify(candidate, policy), policy.sanitisation
    trusted = candidate.trust >= rules.instruction_trust_floor
    if not (ask and rules.second_opinion and clean.verdict == "pass" and not trusted):
        return clean
    confirm_assumed()  # what has left cannot be taken back
    said = opinion(
        configured(), _text(clean.candidate), timeout=rules.second_opinion_timeout_seconds,
        budget=rules.second_opinion_calls_per_hour, account=principal.tenant_id.hex,
    )  # fmt: skip
    if said == "statement":
        return clean
    return replace(clean, verdict="quarantine", reason=_REASONS[said], rule=f"second_opinion.{said}")


def _text(c: Candidate) -> str:
    """Everything of a candidate that a reader could be shown, without what was redacted."""
    parts = [c.content, *([c.value] if c.value and c.value not in c.content else []), *c.tags]
    if c.metadata:
        parts.append(json.dumps(c.metadata, ensure_ascii=False, default=str))
    return "\n".join(parts)
