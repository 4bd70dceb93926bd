"""Stored entries before the gates of another policy: what would not have come in, or not as it is.

What sanitisation found is recorded with every entry, whatever the policy did about it then; so it need not be found
again.  Only below a trust floor that was raised nobody has looked for directives yet.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from memory.domain.admission import Admission as Admitted
from memory.domain.admission import admit, review_wanted
from memory.domain.freshness import band
from memory.domain.policy import Policy
from memory.domain.policy_write_rules import Admission, ByTier, Domain, Sanitisation
from memory.domain.registry import PredicateRule
from memory.domain.types import Band, Candidate, Kind, Layer

Verdict = Literal["pass", "redact", "quarantine", "reject"]
_NOTHING: Final = ByTier(narrow=0.0, middle=0.0, wide=0.0)
_DIRECTING: Final = frozenset({"instruction", "disguise"})


@dataclass(frozen=True, slots=True)
class Change:
    """What another policy would do with a stored entry: `name` of the part, and why."""

    name: str
    label: str
    why: str = ""


class Pair:
    """Both policies as they apply to one scope, and what of the draft's gate asks more than the present one's.

    Compared once for a scope: to compare two policies takes longer than to judge an entry.
    """

    __slots__ = ("alike", "banded_alike", "draft", "held_alike", "present", "sanitised_alike", "stricter")

    def __init__(self, present: Policy, draft: Policy) -> None:
        self.present, self.draft = present, draft
        self.stricter = _stricter(present, draft)
        self.sanitised_alike = present.sanitisation == draft.sanitisation
        self.banded_alike = present.freshness == draft.freshness
        self.held_alike = present.admission.hold_below == draft.admission.hold_below
        self.alike = self.sanitised_alike and self.banded_alike and self.held_alike and self.stricter is None


def _stricter(present: Policy, draft: Policy) -> Policy | None:
    """A policy that refuses only what the draft refuses beyond the present one; None when that is nothing.

    Most entries pass it in no time, because what both policies ask alike is not asked again.
    """
    was, will = present.admission, draft.admission
    reduced = Admission(
        trust_floor=_raised(was.trust_floor, will.trust_floor),
        confidence_floor=_raised(was.confidence_floor, will.confidence_floor),
        importance_floor=will.importance_floor if will.importance_floor > was.importance_floor else 0.0,
        min_value_length=will.min_value_length if will.min_value_length > was.min_value_length else 0,
        transient_predicates=tuple(
            one for one in will.transient_predicates if one not in was.transient_predicates
        ),
        refuse_transient_text=will.refuse_transient_text and not was.refuse_transient_text,
        refuse_vague_text=will.refuse_vague_text and not was.refuse_vague_text,
        refuse_own_output=will.refuse_own_output and not was.refuse_own_output,
        domain=will.domain if will.domain != was.domain else Domain(),
    )
    return None if reduced == _NO_GATE else draft.model_copy(update={"admission": reduced})


def _raised(was: ByTier, will: ByTier) -> ByTier:
    floors = {name: getattr(will, name) for name in ("narrow", "middle", "wide")}
    return ByTier(**{name: value if value > getattr(was, name) else 0.0 for name, value in floors.items()})


_NO_GATE: Final = Admission(
    trust_floor=_NOTHING, confidence_floor=_NOTHING, importance_floor=0.0, min_value_length=0,
    transient_predicates=(), refuse_transient_text=False, refuse_vague_text=False, refuse_own_output=False,
)  # fmt: skip


def refused(
    c: Candidate,
    pair: Pair,
    *,
    now: datetime,
    rule: PredicateRule | None,
    nearness: Mapping[str, float] | None = None,
) -> Change | None:
    """Whether the draft's gate refuses what the present one lets in.

    `nearness` gives the cosine to each domain description that there is a vector for.
    """
    if pair.stricter is None:
        return None

    def judged(policy: Policy) -> Admitted:
        near = (nearness or {}).get(policy.admission.domain.description)
        return admit(c, policy, now=now, rule=rule, domain_similarity=near)

    if judged(pair.stricter).admitted or not judged(pair.present).admitted:
        return None
    verdict = judged(pair.draft)
    return Change("refused", verdict.reason or "", verdict.explanation)


def held_back(c: Candidate, pair: Pair) -> Change | None:
    """Whether the entry would have waited for a reviewer under the draft, and did not under the present policy."""
    if pair.held_alike or not review_wanted(c, pair.draft) or review_wanted(c, pair.present):
        return None
    below = pair.draft.admission.hold_below.at(c.scope.tier)
    return Change(
        "held", "low_confidence", f"confidence {c.confidence:.2f} is below {below:.2f} for {c.scope}"
    )


def sanitised(
    found: Collection[str], trust: float, kind: str, layer: str, rules: Sanitisation
) -> tuple[Verdict, str]:
    """What sanitisation would do with a text in which these kinds of findings were made, and the reason code."""
    trusted = trust >= rules.instruction_trust_floor
    directing = {one for one in _DIRECTING & set(found) if one == "disguise" or not trusted}
    procedure = kind == Kind.PROCEDURE or layer == Layer.PROCEDURAL or "procedure" in found
    kinds = rules.hold_untrusted_kinds
    recipe = not trusted and ((procedure and Kind.PROCEDURE in kinds) or kind in kinds)
    if "secret" in found and rules.secrets == "reject":
        return "reject", "contains_secret"
    if directing and rules.instructions == "reject":
        return "reject", "contains_instruction"
    if (directing and rules.instructions == "quarantine") or recipe:
        return "quarantine", "contains_instruction"
    if "personal" in found and rules.pii == "quarantine":
        return "quarantine", "contains_pii"
    if "personal" in found and rules.pii == "redact":
        return "redact", "contains_pii"
    return "pass", ""


_SEVERITY: Final[dict[Verdict, int]] = {"pass": 0, "redact": 1, "quarantine": 2, "reject": 3}
_PART_OF: Final[dict[Verdict, str]] = {"redact": "redacted", "quarantine": "held", "reject": "refused"}


def resanitised(
    found: Collection[str], c: Candidate, present: Sanitisation, draft: Sanitisation
) -> Change | None:
    """Whether the draft's sanitisation does more to the entry than the present one's."""
    was, _ = sanitised(found, c.trust, c.kind, c.layer, present)
    will, reason = sanitised(found, c.trust, c.kind, c.layer, draft)
    if _SEVERITY[will] <= _SEVERITY[was]:
        return None
    return Change(_PART_OF[will], reason)


def unseen(trust: float, present: Sanitisation, draft: Sanitisation) -> bool:
    """Whether nobody has looked for directives in a text of this trust, which the draft would look for."""
    return (
        draft.instructions != "allow"
        and present.instruction_trust_floor <= trust < draft.instruction_trust_floor
    )


def rebanded(
    kind: Kind, rule: PredicateRule | None, learned_at: datetime, now: datetime, pair: Pair
) -> tuple[Band, Band] | None:
    """The age bands before and after, where they differ."""
    if pair.banded_alike:
        return None
    was = band(kind, rule, learned_at, now, pair.present)
    will = band(kind, rule, learned_at, now, pair.draft)
    return None if was is will else (was, will)
