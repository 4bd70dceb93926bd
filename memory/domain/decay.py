"""How unused memories fade: the decay score and the loss of confidence of volatile facts.

The sweep computes the same formulas in SQL from the same policy numbers; a test holds the two together.
"""

from __future__ import annotations

import math

from memory.domain.policy import Policy


def decay_score(confidence: float, idle_days: float, use_count: int, policy: Policy) -> float:
    """confidence × (0.6·exp(−idle_days/30) + 0.4·ln(1+use_count)/3), product page section 5.

    `idle_days` counts from the last reported use or confirmation, whichever is later; below 0 counts as 0.
    """
    decay = policy.decay
    recency = decay.recency_weight * math.exp(-max(idle_days, 0.0) / decay.idle_days_scale)
    use = decay.use_weight * math.log1p(max(use_count, 0)) / decay.use_divisor
    return confidence * (recency + use)


def should_evict(score: float, *, pinned: bool, policy: Policy) -> bool:
    """Below the floor and not pinned."""
    return not pinned and score < policy.decay.floor


def stale_confidence(
    confidence: float, age_days: float, policy: Policy, half_life_days: float | None = None
) -> float:
    """Confidence of a volatile fact `age_days` after it was learned: it halves every half life."""
    half_life = half_life_days or policy.decay.volatile_half_life_days
    return float(confidence * 0.5 ** (max(age_days, 0.0) / half_life))


def guarded(removals: int, live: int, policy: Policy) -> bool:
    """Whether a sweep that would remove so many of a scope's live entries must stop and ask a person."""
    retention = policy.retention
    return live >= retention.sweep_guard_min_rows and removals > retention.sweep_guard * live
