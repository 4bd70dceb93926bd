"""The gate of the write pipeline: may this candidate become a memory at all? Default is no.

The order of the checks is fixed, so that one candidate always gets the same reason. What of the text must not
be stored is the matter of sanitisation, what is already known that of reconciliation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory.domain.durability import transient
from memory.domain.normalise import content_of
from memory.domain.own_output import own_output
from memory.domain.policy import Policy
from memory.domain.registry import PredicateRule
from memory.domain.scopes import ScopeTier
from memory.domain.smalltalk import vague, vague_value, width
from memory.domain.types import LONG_TERM_LAYERS, Candidate, Kind, Layer
from memory.domain.values import Normaliser, canonical_text

REASONS: Final = (
    "untrusted_source", "transient", "low_confidence", "low_importance", "too_vague", "out_of_domain",
    "already_expired", "own_output",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Admission:
    """`reason` is the stable code, `rule` the rule inside it, `explanation` a sentence with the numbers."""

    admitted: bool
    reason: str | None
    rule: str | None
    candidate: Candidate
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class _Refusal:
    reason: str
    rule: str
    explanation: str


def admit(
    c: Candidate,
    policy: Policy,
    *,
    now: datetime,
    domain_similarity: float | None = None,
    rule: PredicateRule | None = None,
) -> Admission:
    """Judge a candidate by the policy of its scope (`Policy.for_scope`).

    `domain_similarity` is the cosine to the domain description, None where there is no embedder; `rule` is
    the registry's rule for the predicate. Working memory of a session or task is a scratch pad that goes with it:
    the checks of wording and durability do not apply there. In a wider scope the layer is no way around them.
    """
    refusal = next(_refusals(c, policy, now, domain_similarity, rule), None)
    if refusal is None:
        return Admission(True, None, None, c)
    return Admission(False, refusal.reason, refusal.rule, c, refusal.explanation)


def refusals(
    c: Candidate,
    policy: Policy,
    *,
    now: datetime,
    domain_similarity: float | None = None,
    rule: PredicateRule | None = None,
) -> list[Admission]:
    """Everything that speaks against a candidate, for a dry run; the first is what `admit` answers."""
    found = _refusals(c, policy, now, domain_similarity, rule)
    return [Admission(False, one.reason, one.rule, c, one.explanation) for one in found]


def _refusals(
    c: Candidate, policy: Policy, now: datetime, similarity: float | None, rule: PredicateRule | None
) -> Iterator[_Refusal]:
    checks: tuple[Callable[[], _Refusal | None], ...] = (
        lambda: _source(c, policy),
        lambda: _own_output(c, policy),
        lambda: _transient(c, policy),
        lambda: _confidence(c, policy),
        lambda: _importance(c, policy),
        lambda: _vague(c, policy, rule),
        lambda: _domain(c, policy, similarity),
        lambda: _expired(c, now),
    )
    for check in checks:
        refusal = check()
        if refusal is not None:
            yield refusal


def review_wanted(c: Candidate, policy: Policy) -> bool:
    """Whether an admitted candidate is to wait for a reviewer: sure enough to be kept, not sure enough to be read."""
    return c.confidence < policy.admission.hold_below.at(c.scope.tier)


def _source(c: Candidate, policy: Policy) -> _Refusal | None:
    if c.unknown_origin is not None:
        return _Refusal(
            "untrusted_source", "source.unknown", f"origin {c.unknown_origin[:60]!r} is not known"
        )
    floor = policy.admission.trust_floor.at(c.scope.tier)
    if c.trust >= floor:
        return None
    said = f"trust {c.trust:.2f} of {c.origin} is below {floor:.2f} for {c.scope}"
    return _Refusal("untrusted_source", "source.trust_floor", said)


def _own_output(c: Candidate, policy: Policy) -> _Refusal | None:
    if not policy.admission.refuse_own_output:
        return None
    rule = own_output(c.content) or (own_output(c.value) if c.value else None)
    return _Refusal("own_output", rule, "this is what the store itself gave out") if rule else None


def _is_scratch(c: Candidate) -> bool:
    return c.layer is Layer.WORKING and c.scope.tier is ScopeTier.NARROW


def _transient(c: Candidate, policy: Policy) -> _Refusal | None:
    rules = policy.admission
    if c.predicate and c.predicate in rules.transient_predicates:
        said = f"{c.predicate} changes with the moment"
        return _Refusal("transient", "transient.predicate", said)
    if not rules.refuse_transient_text or _is_scratch(c):
        return None
    episode = c.layer is Layer.EPISODIC or c.kind is Kind.EVENT
    rule = transient(_own_words(c), episode=episode)
    return _Refusal("transient", rule, "true only for the moment") if rule else None


def _confidence(c: Candidate, policy: Policy) -> _Refusal | None:
    floor = policy.admission.confidence_floor.at(c.scope.tier)
    if c.confidence >= floor:
        return None
    said = f"confidence {c.confidence:.2f} is below {floor:.2f} for {c.scope}"
    return _Refusal("low_confidence", "confidence.floor", said)


def _importance(c: Candidate, policy: Policy) -> _Refusal | None:
    floor = policy.admission.importance_floor
    if c.layer not in LONG_TERM_LAYERS or c.importance >= floor:
        return None
    said = f"importance {c.importance:.2f} is below {floor:.2f} for the {c.layer} layer"
    return _Refusal("low_importance", "importance.floor", said)


def _vague(c: Candidate, policy: Policy, rule: PredicateRule | None) -> _Refusal | None:
    rules = policy.admission
    if _is_scratch(c):
        return None
    typed = rule is not None and rule.normaliser is not Normaliser.TEXT
    if not typed and width(c.said) < rules.min_value_length:
        said = f"shorter than {rules.min_value_length} characters"
        return _Refusal("too_vague", "vague.short", said)
    if not rules.refuse_vague_text:
        return None
    if c.keyed and c.value is not None:
        found = (None if typed else vague_value(c.value)) or _vague_sentence(c)
    else:
        found = vague(c.content)
    return _Refusal("too_vague", found, "says nothing that could be used later") if found else None


def _vague_sentence(c: Candidate) -> str | None:
    """The sentence of a triple counts only when the writer gave one, and then only if it is plain noise."""
    return None if _derived(c) else vague_value(c.content)


def _derived(c: Candidate) -> bool:
    return bool(c.subject and c.predicate and c.value) and c.content == content_of(
        c.subject or "", c.predicate or "", c.value or ""
    )


def _own_words(c: Candidate) -> str:
    """What the writer said, without the sentence that the product made of a triple."""
    return c.value or "" if _derived(c) else c.content


def _domain(c: Candidate, policy: Policy, similarity: float | None) -> _Refusal | None:
    domain = policy.admission.domain
    if not domain.keywords and not domain.description:
        return None
    if any(_mentions(c, keyword) for keyword in domain.keywords):
        return None
    if domain.description and similarity is None and not domain.keywords:
        return None  # nothing here can judge it: no embedder, no keywords
    if domain.description and similarity is not None and similarity >= domain.similarity_floor:
        return None
    near = (
        "" if similarity is None else f", similarity {similarity:.2f} is below {domain.similarity_floor:.2f}"
    )
    return _Refusal("out_of_domain", "domain.scope", f"none of the domain's keywords{near}")


def _mentions(c: Candidate, keyword: str) -> bool:
    """Whole words for scripts with spaces; anywhere for the others."""
    wanted = canonical_text(keyword)
    text = canonical_text(" ".join(filter(None, (c.subject, c.predicate, c.value, c.content, *c.tags))))
    if not wanted.isascii():
        return wanted in text
    return bool(re.search(rf"(?<![^\W_]){re.escape(wanted)}(?![^\W_])", text))


def _expired(c: Candidate, now: datetime) -> _Refusal | None:
    if c.expires_at is None or c.expires_at > now:
        return None
    return _Refusal(
        "already_expired", "expiry.past", f"expired at {c.expires_at.isoformat()}, before it arrived"
    )
