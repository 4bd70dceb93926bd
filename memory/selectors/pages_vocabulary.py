"""What the pages of the vocabulary show: aliases, rules of predicates, and how much stands under them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q

from memory.models import Memory, PredicateSetting, SubjectAlias, VocabularyHead
from memory.models.memory import LIVE_STATUSES

MOST = 200


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands under a predicate: readable memories, and keys with more than one readable value."""

    memories: int
    several: int


def version() -> int:
    """The version of the vocabulary; 0 before the first change."""
    return VocabularyHead.objects.values_list("version", flat=True).first() or 0


def aliases(query: str) -> tuple[list[SubjectAlias], int]:
    """The aliases that hold the text in either name, the first of them, and how many there are."""
    rows = SubjectAlias.objects.order_by("alias")
    if query:
        rows = rows.filter(Q(alias__icontains=query) | Q(subject__icontains=query))
    return list(rows[:MOST]), rows.count()


def alias(alias_id: UUID) -> SubjectAlias | None:
    """One alias."""
    row: SubjectAlias | None = SubjectAlias.objects.filter(id=alias_id).first()
    return row


def settings() -> list[PredicateSetting]:
    """The tenant's own rules."""
    return list(PredicateSetting.objects.order_by("name"))


def setting(name: str) -> PredicateSetting | None:
    """The tenant's own rule of a predicate."""
    row: PredicateSetting | None = PredicateSetting.objects.filter(name=name).first()
    return row


def setting_of(setting_id: UUID) -> PredicateSetting | None:
    """The tenant's own rule of this id."""
    row: PredicateSetting | None = PredicateSetting.objects.filter(id=setting_id).first()
    return row


def under_subjects(names: Collection[str]) -> Counter[str]:
    """Readable memories by subject."""
    rows = Memory.objects.filter(subject__in=list(names), status__in=LIVE_STATUSES).values("subject")
    return Counter(dict(rows.annotate(rows=Count("*")).values_list("subject", "rows")))


def under_predicates(names: Collection[str]) -> Counter[str]:
    """Readable memories by predicate."""
    rows = Memory.objects.filter(predicate__in=list(names), status__in=LIVE_STATUSES).values("predicate")
    return Counter(dict(rows.annotate(rows=Count("*")).values_list("predicate", "rows")))


def standing(name: str) -> Standing:
    """What stands under a predicate."""
    rows = Memory.objects.filter(predicate=name, status__in=LIVE_STATUSES)
    keys = rows.values("scope", "subject").annotate(rows=Count("*")).filter(rows__gt=1)
    return Standing(rows.count(), keys.count())
