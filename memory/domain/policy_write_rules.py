"""Sections of the policy document that govern writing: admission, sanitisation, reconciliation, limits.

Only shapes, defaults and bounds. What a number does is in the module of the rule that reads it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from memory.domain.types import Kind, Layer, Origin, ScopeTier

# Bounds that no sensible policy meets, and beyond which a date or a number of the database would fail.
_MOST = 2_147_483_647


def _storable(text: str) -> str:
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("holds a character that cannot be stored")
    return text


Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0, le=_MOST)]
Positive = Annotated[int, Field(ge=1, le=_MOST)]
Days = Annotated[float, Field(gt=0, le=36_500)]
WholeDays = Annotated[int, Field(ge=1, le=36_500)]
Text = Annotated[str, AfterValidator(_storable)]
Words = Annotated[tuple[Annotated[Text, Field(min_length=1, max_length=300)], ...], Field(max_length=1000)]


class Section(BaseModel):
    """A part of the policy: refuses unknown names, cannot be changed in place."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _fill_tables(cls, given: Any) -> Any:
        """A table such as trust per origin may name only the lines that differ from its default."""
        if not isinstance(given, dict):
            return given
        filled = dict(given)
        for name, field in cls.model_fields.items():
            usual = field.default.model_dump() if isinstance(field.default, Section) else field.default
            if usual and isinstance(usual, dict) and isinstance(given.get(name), dict):
                filled[name] = {**usual, **given[name]}
        return filled


class ByTier(Section):
    """A number for each tier of scopes."""

    narrow: Share
    """session and task"""
    middle: Share
    """agent, user and project"""
    wide: Share
    """shared and global"""

    def at(self, tier: ScopeTier) -> float:
        return float(getattr(self, tier.value))


class Defaults(Section):
    """What a candidate gets when its writer does not say."""

    origin: Origin = Origin.TOOL_OUTPUT
    """An unlabelled statement: may state, may not direct, never outranks what a person said."""
    importance: Share = 0.7
    confidence: dict[Origin, Share] = {
        Origin.SYSTEM_DEFINED: 1.0,
        Origin.USER_EXPLICIT: 0.9,
        Origin.TOOL_VERIFIED: 0.9,
        Origin.TOOL_OUTPUT: 0.7,
        Origin.USER_INPUT: 0.7,
        Origin.MODEL_INFERRED: 0.5,
        Origin.EXTERNAL: 0.3,
    }
    trust: dict[Origin, Share] = {
        Origin.SYSTEM_DEFINED: 1.0,
        Origin.USER_EXPLICIT: 0.9,
        Origin.TOOL_VERIFIED: 0.8,
        Origin.TOOL_OUTPUT: 0.5,
        Origin.USER_INPUT: 0.5,
        Origin.MODEL_INFERRED: 0.4,
        Origin.EXTERNAL: 0.0,
    }
    model_inferred_cap: Share = 0.5
    """Confidence of model_inferred never exceeds this."""
    ttl_seconds: dict[Layer, Positive | None] = {
        Layer.WORKING: 3600,
        Layer.EPISODIC: None,
        Layer.SEMANTIC: None,
        Layer.PROCEDURAL: None,
    }


class Domain(Section):
    """What the tenant or a scope is about. Empty: no restriction."""

    keywords: Words = ()
    description: Text = Field(default="", max_length=2000)
    similarity_floor: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.2
    """A candidate with no keyword and less similarity to the description than this is out of domain."""


class Admission(Section):
    """The gate. Default is no."""

    trust_floor: ByTier = ByTier(narrow=0.0, middle=0.3, wide=0.5)
    confidence_floor: ByTier = ByTier(narrow=0.3, middle=0.6, wide=0.7)
    hold_below: ByTier = ByTier(narrow=0.0, middle=0.0, wide=0.0)
    """What is at least as sure as the floor and less sure than this waits for a reviewer. 0: nothing does."""
    importance_floor: Share = 0.6
    """For the long-term layers."""
    min_value_length: Count = 3
    transient_predicates: Words = (
        "current_mood", "current_task", "current_step", "current_time", "last_message", "last_query",
        "last_seen", "mood", "next_step", "session_intent", "session_goal", "todo", "working_directory",
    )  # fmt: skip
    refuse_transient_text: bool = True
    refuse_vague_text: bool = True
    refuse_own_output: bool = True
    domain: Domain = Domain()


class Sanitisation(Section):
    secrets: Literal["redact", "reject"] = "redact"
    pii: Literal["allow", "redact", "quarantine"] = "redact"
    instructions: Literal["quarantine", "reject", "allow"] = "quarantine"
    instruction_trust_floor: Share = 0.8
    """From this trust on, an imperative is a preference and passes."""
    hold_untrusted_kinds: tuple[Kind, ...] = (Kind.PROCEDURE,)
    """Kinds that are held below the trust floor whatever they say."""
    second_opinion: bool = False
    """Ask the configured endpoint about untrusted text that the rules let pass; without an answer it is held."""
    second_opinion_timeout_seconds: Annotated[float, Field(gt=0, le=60)] = 3.0
    second_opinion_calls_per_hour: Positive = 1000


class Reconciliation(Section):
    exact_duplicates: Literal["merge", "keep"] = "merge"
    near_duplicates: Literal["merge", "review", "keep"] = "merge"
    """`merge` still sends the middle band to review."""
    echoes: Literal["ignore", "keep"] = "ignore"
    single_valued: Literal["supersede", "keep"] = "supersede"
    conflict_margin: Share = 0.15
    """A new value weaker than the old by more than this, in confidence × trust, does not replace it."""
    cap: Positive | None = 500
    """Live entries of one scope before the weakest are archived."""


class TextLimits(Section):
    content_characters: Annotated[int, Field(ge=1, le=1_000_000)] = 8000
    metadata_bytes: Annotated[int, Field(ge=1, le=16_777_216)] = 65_536
    metadata_depth: Annotated[int, Field(ge=1, le=64)] = 8
    metadata_keys: Annotated[int, Field(ge=1, le=100_000)] = 1000


class WorkingMemory(Section):
    """The scratch pad of a task.  How long a value lives is `defaults.ttl_seconds.working`."""

    max_keys_per_task: Positive = 200
    max_bytes_per_task: Positive = 1_048_576
    abandoned_after_seconds: Positive = 86_400
    """A task that nobody wrote to for this long is ended."""


class RateLimits(Section):
    writes_per_minute_key: Positive = 30_000
    reads_per_minute_key: Positive = 60_000
    requests_per_minute_tenant: Positive = 200_000
    junk_burst_count: Positive = 20
    """Refused writes of one agent within the window that raise an alert."""
    junk_burst_seconds: Positive = 60
    junk_burst_pauses_key: bool = False
