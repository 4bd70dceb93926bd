"""Sections of the policy document that govern keeping, reading and promoting.

Only shapes, defaults and bounds. What a number does is in the module of the rule that reads it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from memory.domain.languages import Language
from memory.domain.policy_write_rules import Count, Days, Positive, Section, Share, WholeDays
from memory.domain.types import Kind, Layer, ScopeKind


class Decay(Section):
    """confidence × (recency_weight·exp(−idle_days/idle_days_scale) + use_weight·ln(1+uses)/use_divisor)"""

    recency_weight: Share = 0.6
    use_weight: Share = 0.4
    idle_days_scale: Days = 30
    use_divisor: Annotated[float, Field(gt=0, le=1_000_000)] = 3
    floor: Share = 0.15
    volatile_half_life_days: Days = 90
    """Volatile facts lose half of their confidence over this age."""


class BandDays(Section):
    fresh_days: Days = 30
    aging_days: Days = 90

    @model_validator(mode="after")
    def _ordered(self) -> BandDays:
        if self.aging_days < self.fresh_days:
            raise ValueError("aging_days must not be below fresh_days")
        return self


class Freshness(Section):
    bands: dict[Kind, BandDays] = {kind: BandDays() for kind in Kind}
    volatile: BandDays = BandDays(fresh_days=14, aging_days=60)
    """For predicates that the registry calls volatile, such as versions."""


class Promotion(Section):
    auto_approve_into: tuple[ScopeKind, ...] = (ScopeKind.PROJECT,)
    """Where a low-risk request may be approved without a person. Never shared or global."""
    auto_approve_min_trust: Share = 0.8
    auto_approve_min_confidence: Share = 0.8
    approvals: dict[ScopeKind, Positive] = {
        ScopeKind.USER: 1,
        ScopeKind.PROJECT: 1,
        ScopeKind.SHARED: 1,
        ScopeKind.GLOBAL: 1,
    }
    """People who must agree, by target scope."""
    high_risk_approvals: Positive = 1
    trigger_on_confirmation: bool = True
    trigger_reproductions: Positive = 3
    """Independent sessions that learned the same thing."""
    trigger_uses: Positive = 10

    @model_validator(mode="after")
    def _wide_needs_a_person(self) -> Promotion:
        if {ScopeKind.SHARED, ScopeKind.GLOBAL} & set(self.auto_approve_into):
            raise ValueError("shared and global always need a person; they cannot be approved automatically")
        return self


class Retrieval(Section):
    text_weight: Share = 0.5
    vector_weight: Share = 0.5
    scope_boost: Share = 0.05
    freshness_boost: Share = 0.05
    trust_boost: Share = 0.05
    pin_boost: Share = 0.05
    """Boosts are added to the fused score of 0 to 1; each is the most that it can add."""
    languages: tuple[Language, ...] = ()
    """Languages in which queries are asked, beside English and the one that a query's own words show."""
    neighbour_share: Share = 0.6
    """Part of its score above the typical one that a row lends to those written just before and after it in its
    session; of the two beside it, a row takes the larger."""
    second_neighbour_share: Share = 0.3
    """The same for those two away."""
    neighbour_layers: tuple[Layer, ...] = (Layer.EPISODIC,)
    """Layers in which what was written beside a match is likely to matter too."""
    limit: Positive = 10
    max_limit: Positive = 100
    max_tokens: Positive = 1500
    min_trust: Share = 0.0
    high_stakes_min_trust: Share = 0.7
    similarity_floor: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.25
    """An entry found by its vector alone needs at least this cosine."""
    text_floor: Share = 0.1
    """An entry found by its words alone needs at least this share of the query's words, weighed by their rarity."""
    max_source_share: Annotated[float, Field(gt=0.0, le=1.0)] = 0.5
    """Most of one result that may come from one source."""


class Digest(Section):
    max_tokens: Positive = 1500


class Manifests(Section):
    excluded_ids: Literal["none", "sampled", "all"] = "none"
    """Whether manifests name what was left out, beside its count by reason: never, in a sample of the reads, or always
    (for debugging)."""
    excluded_ids_share: Share = 0.01
    """The share of the reads that is sampled."""
    excluded_ids_most: Positive = 100
    """The most ids that are named by reason."""


class Retention(Section):
    restore_days: WholeDays = 30
    """How long a removal can be undone."""
    manifest_days: WholeDays = 365
    """How long a read can be looked at."""
    health_days: WholeDays = 730
    """How long the snapshots of the health figures are kept."""
    health_hours_days: WholeDays = 14
    """After how many days the hourly snapshots of a day become one."""
    sample_size: Annotated[int, Field(ge=1, le=500)] = 30
    """How many entries are drawn each week for reviewers to judge."""
    sweep_run_days: WholeDays = 90
    """How long the records of background runs are kept."""
    store_query_text: bool = True
    sweep_guard: Annotated[float, Field(gt=0.0, le=1.0)] = 0.20
    """A sweep that would remove more of a scope than this stops and asks a person."""
    sweep_guard_min_rows: Count = 10
    """Scopes with fewer live entries are not guarded: one of three is already 33%."""
    episode_days: WholeDays = 14
    """Age at which finished tasks are compressed."""


Hour = Annotated[int, Field(ge=0, le=23)]


class Sweeps(Section):
    off_peak_from: Hour | None = None
    """Hour of the day (UTC) from which the daily sweeps may begin."""
    off_peak_until: Hour | None = None
    """Hour (UTC) from which none begins any more; it may be past midnight."""

    @model_validator(mode="after")
    def _both_or_neither(self) -> Sweeps:
        if (self.off_peak_from is None) != (self.off_peak_until is None):
            raise ValueError("off_peak_from and off_peak_until belong together: give both or neither")
        if self.off_peak_from is not None and self.off_peak_from == self.off_peak_until:
            raise ValueError("off_peak_from and off_peak_until have to differ")
        return self
