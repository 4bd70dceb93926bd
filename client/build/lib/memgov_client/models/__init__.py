"""What the API answers, typed."""

from __future__ import annotations

from memgov_client.models.answers import AnswerModel, Page
from memgov_client.models.blast import Reach
from memgov_client.models.coming_back import Derived, RestoreLook
from memgov_client.models.deleting import Deletion
from memgov_client.models.memories import (
    AppliesTo,
    Finding,
    Item,
    Memory,
    Outcome,
    Party,
    Pin,
    Revision,
)
from memgov_client.models.reading import (
    Bands,
    Digest,
    DigestLine,
    Entry,
    Injected,
    Manifest,
    Retrieval,
    Usage,
)
from memgov_client.models.watching import (
    Actor,
    Event,
    Grant,
    Health,
    Job,
    Key,
    Metric,
    Point,
    Promotion,
    PromotionDecision,
    Target,
    Tenant,
    WhoAmI,
)
from memgov_client.models.working import (
    Rollback,
    SessionEnd,
    Step,
    TaskEnd,
    TaskState,
    WorkingValue,
)

__all__ = [
    "Actor", "AnswerModel", "AppliesTo", "Bands", "Deletion", "Derived", "Digest", "DigestLine", "Entry", "Event",
    "Finding", "Grant",
    "Health", "Injected", "Item", "Job", "Key", "Manifest", "Memory", "Metric", "Outcome", "Page", "Party", "Pin",
    "Point", "Promotion", "PromotionDecision", "Reach", "RestoreLook", "Retrieval",
    "Revision", "Rollback", "SessionEnd", "Step",
    "Target", "TaskEnd", "TaskState", "Tenant", "Usage", "WhoAmI", "WorkingValue",
]  # fmt: skip
