"""The tables of memory, one file per noun.  Rules live in `memory.domain`, writing in `memory.store`."""

from memory.models.alert import Alert, AlertChannel, AlertDelivery, AlertRule
from memory.models.audit import AuditCheckpoint, AuditEvent, AuditHead
from memory.models.decision import WriteDecision
from memory.models.health import HealthSample, HealthSnapshot, SampleItem
from memory.models.job import IdempotencyKey, Job, SweepRun
from memory.models.manifest import Manifest, ManifestEntry
from memory.models.memory import Memory, MemoryIndex, Revision, ScopeRecord
from memory.models.mount import Mount, MountEntry, MountHead
from memory.models.policy import PolicyDraft, PolicyVersion
from memory.models.review import Contradiction, PromotionDecision, PromotionNote, PromotionRequest
from memory.models.vocabulary import PredicateSetting, SubjectAlias, VocabularyHead
from memory.models.work import WorkingValue, WorkRun

__all__ = [
    "Alert",
    "AlertChannel",
    "AlertDelivery",
    "AlertRule",
    "AuditCheckpoint",
    "AuditEvent",
    "AuditHead",
    "Contradiction",
    "HealthSample",
    "HealthSnapshot",
    "IdempotencyKey",
    "Job",
    "Manifest",
    "ManifestEntry",
    "Memory",
    "MemoryIndex",
    "Mount",
    "MountEntry",
    "MountHead",
    "PolicyDraft",
    "PolicyVersion",
    "PredicateSetting",
    "PromotionDecision",
    "PromotionNote",
    "PromotionRequest",
    "Revision",
    "SampleItem",
    "ScopeRecord",
    "SubjectAlias",
    "SweepRun",
    "VocabularyHead",
    "WorkRun",
    "WorkingValue",
    "WriteDecision",
]
