"""What the domain declares and pages show: names of metrics, settings of the policy, presets, codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final

from memory.audit.model import Category
from memory.domain.health import DETAILS, METRICS
from memory.domain.policy import Policy
from memory.domain.policy_fields import settings
from memory.domain.policy_presets import ALL
from memory.domain.scopes import ScopeKind, Verb
from memory.domain.types import Kind, Layer, Origin, OutcomeKind, Status
from memory.domain.values import Normaliser
from memory.importers import FORMATS
from memory.pages.wording import CODE, POLICY

ENUMS: Final[tuple[type[StrEnum], ...]] = (
    Category,
    Kind,
    Layer,
    Normaliser,
    Origin,
    OutcomeKind,
    ScopeKind,
    Status,
    Verb,
)
# Reasons of decisions (docs/write-pipeline.md), rules of findings, and fields of what changed.
REASONS: Final = """
untrusted_source own_output transient low_confidence low_importance too_vague out_of_domain already_expired
contains_secret contains_pii contains_instruction second_opinion_unavailable duplicate near_duplicate echo newer_value
older_than_known conflict contested similar_to_known expiry rejected declared retrieved imperative content value
user_confirmation reproductions uses explicit let_go keep_a keep_b keep_both high medium low critical warning
sweep_late
""".split()  # fmt: skip
FIELDS: Final = """
name role description networks status kind scope scopes subject predicate value content confidence importance
trust origin valid_from valid_to expires_at review_by pinned_at reason outcome version number memories memory
from to risk prefix pattern verbs slug time_zone ages aliases volatile normaliser single_valued half_life_days
renamed least job changes week entries commit sha256 trust_ceiling email address tags paths layer session task
tool until metric watch breach tell about severity of score add by merged_into pin_reason pinned_by pinned_until
resolution status_reason superseded_by used
""".split()  # fmt: skip


def _codes() -> Iterator[str]:
    for enum in ENUMS:
        yield from (one.value for one in enum)
    yield from REASONS
    yield from FIELDS
    yield from Policy.model_fields
    for setting in settings():
        yield from setting.choices


def _policy() -> Iterator[str]:
    for setting in settings():
        if len(setting.path) > 1:
            yield " ".join(setting.path[1:]).replace("_", " ")
        if setting.about:
            yield setting.about
    for preset in ALL:
        yield from (preset.title, preset.about)


def _metrics() -> Iterator[str]:
    for metric in METRICS.values():
        yield from (metric.label, metric.formula)
    yield from DETAILS.values()


def declared() -> Iterator[tuple[str, str, str]]:
    """(file, context, text), each once."""
    parts: tuple[tuple[str, str, Iterable[str]], ...] = (
        ("memory/domain/types.py", CODE, (code.replace("_", " ") for code in _codes())),
        ("memory/domain/policy.py", POLICY, _policy()),
        ("memory/domain/health.py", "", _metrics()),
        ("memory/importers/reading.py", "", [title for title, _reader in FORMATS.values()]),
    )
    for name, context, texts in parts:
        for text in dict.fromkeys(texts):
            yield name, context, text
