"""Policies to start from: the behaviours of the kinds of store that the field knows, as documents.

Data only.  A document names what its behaviour depends on, also where that is the product's default today, so that
a preset does not move when a default does.  `memory.domain.policy.preset` makes the policy of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

Document = Mapping[str, Any]
_NOTHING: Final[Document] = MappingProxyType({})

_DAY: Final = 86_400
_NO_FLOOR: Final = {"narrow": 0.0, "middle": 0.0, "wide": 0.0}
_FIELD_DECAY: Final = {"recency_weight": 0.6, "use_weight": 0.4, "idle_days_scale": 30, "use_divisor": 3}


@dataclass(frozen=True, slots=True)
class Preset:
    """A named document: what kind of store it is, and what it does."""

    name: str
    title: str
    about: str
    document: Document = field(default_factory=lambda: _NOTHING)


_TRUSTED: Final = {
    "admission": {
        "trust_floor": {"narrow": 0.8, "middle": 0.8, "wide": 0.8},
        "confidence_floor": _NO_FLOOR,
        "importance_floor": 0.0,
    },
    "defaults": {"ttl_seconds": {"episodic": 30 * _DAY, "semantic": 30 * _DAY, "procedural": 30 * _DAY}},
    "reconciliation": {
        "exact_duplicates": "merge", "near_duplicates": "keep", "single_valued": "supersede",
        "conflict_margin": 1.0, "cap": None,
    },
    "decay": {"floor": 0.0},
}  # fmt: skip
_CURATED: Final = {
    "admission": {
        "trust_floor": {"narrow": 0.0, "middle": 0.3, "wide": 0.5},
        "confidence_floor": {"narrow": 0.3, "middle": 0.6, "wide": 0.7},
        "importance_floor": 0.6,
    },
    "reconciliation": {
        "exact_duplicates": "merge", "near_duplicates": "merge", "single_valued": "supersede",
        "conflict_margin": 0.15, "cap": None,
    },
    "decay": {**_FIELD_DECAY, "floor": 0.15},
}  # fmt: skip
_LAYERED: Final = {
    "admission": {
        "confidence_floor": {"narrow": 0.7, "middle": 0.7, "wide": 0.7},
        "importance_floor": 0.6,
    },
    "defaults": {
        "ttl_seconds": {"working": 3600, "episodic": None, "semantic": None, "procedural": None},
        "model_inferred_cap": 0.5,
    },
    "promotion": {"auto_approve_into": []},
    "retention": {"episode_days": 14},
}  # fmt: skip
_LEAST_VISIBILITY: Final = {
    "admission": {"trust_floor": {"narrow": 0.0, "middle": 0.5, "wide": 0.8}},
    "defaults": {"model_inferred_cap": 0.5},
    "promotion": {
        "auto_approve_into": [],
        "approvals": {"user": 1, "project": 1, "shared": 2, "global": 2},
        "high_risk_approvals": 2,
        "trigger_on_confirmation": False,
    },
}  # fmt: skip
_BOUNDED_DIGEST: Final = {
    "admission": {"trust_floor": _NO_FLOOR, "confidence_floor": _NO_FLOOR, "importance_floor": 0.0},
    "reconciliation": {"exact_duplicates": "merge", "near_duplicates": "merge", "cap": 500},
    "decay": {"floor": 0.0},
    "freshness": {
        "bands": {
            kind: {"fresh_days": 30, "aging_days": 90}
            for kind in ("fact", "preference", "procedure", "feedback", "event")
        },
        "volatile": {"fresh_days": 30, "aging_days": 90},
    },
    "digest": {"max_tokens": 1500},
}  # fmt: skip
_OPEN: Final = {
    "admission": {
        "trust_floor": _NO_FLOOR, "confidence_floor": _NO_FLOOR, "importance_floor": 0.0, "min_value_length": 0,
        "transient_predicates": [], "refuse_transient_text": False, "refuse_vague_text": False,
        "refuse_own_output": False,
    },
    "sanitisation": {"pii": "allow", "instructions": "allow", "hold_untrusted_kinds": []},
    "reconciliation": {
        "exact_duplicates": "keep", "near_duplicates": "keep", "echoes": "keep", "single_valued": "keep",
        "cap": None,
    },
    "decay": {"floor": 0.0},
    "retrieval": {
        "similarity_floor": -1.0, "text_floor": 0.0, "max_source_share": 1.0, "high_stakes_min_trust": 0.0,
        # What is stored unjudged is what was said, whatever it is called: neighbours matter in all of it.
        "neighbour_layers": ["episodic", "semantic", "procedural"],
    },
}  # fmt: skip

ALL: Final = (
    Preset(
        "default",
        "The product's default",
        "Admission by source, confidence, importance and wording; duplicates merged; a newer value replaces an"
        " older one; what nobody uses fades; a cap per scope.",
    ),
    Preset(
        "trusted-source",
        "Trusted-source store with a time to live",
        "Only what the system, a person or a verified tool says is stored, and it ends after 30 days unless it is"
        " said again. A newer value replaces an older one, however sure either is; equal sources that disagree are left"
        " to a person. Nothing fades and nothing is capped: time alone ends it.",
        _TRUSTED,
    ),
    Preset(
        "curated",
        "Curated store",
        "A gate for confidence and importance, newer values supersede older ones with their history kept, and what is"
        " neither used nor confirmed decays: confidence × (0.6·recency + 0.4·use), evicted below 0.15. No cap.",
        _CURATED,
    ),
    Preset(
        "layered",
        "Layered store",
        "Working memory of an hour under keys; the long-term layers take only what has importance 0.6 and confidence"
        " 0.7. Each agent role has a scope of its own, and only an orchestrator writes what all share.",
        _LAYERED,
    ),
    Preset(
        "least-visibility",
        "Least-visibility store",
        "Everything starts in the narrowest scope and becomes visible to others only by an approved request: never"
        " automatically, and by two people where everybody will see it.",
        _LEAST_VISIBILITY,
    ),
    Preset(
        "bounded-digest",
        "Bounded digest store",
        "Whatever is said is kept once: duplicates and near duplicates (shared words and containment) are merged, a"
        " scope holds 500 entries and loses its weakest, and a digest shows what is fresh up to 30 days, then up to 90"
        " days as to be verified.",
        _BOUNDED_DIGEST,
    ),
    Preset(
        "open",
        "Open, for evaluations",
        "Every well-formed candidate is stored beside the others and nothing is removed. Secrets are still redacted."
        " Not for agents that act on what they read.",
        _OPEN,
    ),
)  # fmt: skip
BY_NAME: Final[Mapping[str, Preset]] = MappingProxyType({one.name: one for one in ALL})
