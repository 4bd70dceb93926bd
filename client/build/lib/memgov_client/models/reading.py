"""What reads for a prompt answer, and their manifests."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memgov_client.models.answers import AnswerModel
from memgov_client.models.memories import Party


class Entry(AnswerModel):
    """A memory (or, in the channel `working`, a value of the task) as a read returned it."""

    id: str
    version: int
    scope: str
    layer: str = ""
    kind: str
    content: str
    status: str = "live"
    band: str
    score: float
    channel: str
    recorded_at: datetime | None = None
    learned_at: datetime | None = None
    source: str = ""
    origin: str = ""
    trust: float
    confidence: float = 0.0
    key: str | None = None
    explanation: dict[str, Any] | None = None


class Retrieval(AnswerModel):
    """The entries, what was left out and why, and ``block``: the text for a prompt, which says that it is data."""

    manifest: str
    entries: list[Entry]
    excluded: dict[str, int] = {}
    block: str = ""
    tokens: int = 0
    search: str = ""
    policy_version: int = 0


class DigestLine(AnswerModel):
    id: str
    version: int
    content: str
    learned_at: datetime | None = None


class Bands(AnswerModel):
    fresh: list[DigestLine] = []
    aging: list[DigestLine] = []


class Digest(AnswerModel):
    """The bounded view of a scope.  ``etag`` goes back with the next call, to be told whether it changed."""

    manifest: str
    text: str
    bands: Bands = Bands()
    left_out: dict[str, int] = {}
    tokens: int = 0
    policy_version: int = 0
    etag: str = ""


class Injected(AnswerModel):
    id: str
    version: int
    rank: int
    scope: str
    band: str
    channel: str
    score: float
    scores: dict[str, float] = {}
    source: str = ""
    trust: float = 0.0
    recorded_at: datetime | None = None
    learned_at: datetime | None = None
    content: str | None = None
    erased: bool = False
    verdict: str | None = None
    used_at: datetime | None = None


class Manifest(AnswerModel):
    """What was given at one read.  ``as_returned`` says that ``block`` is that text, byte for byte."""

    id: str
    kind: str
    at: datetime
    agent: Party = Party()
    agent_role: str = ""
    session: str | None = None
    task: str | None = None
    query: str | None = None
    request: dict[str, Any] = {}
    entries: list[Injected] = []
    excluded: dict[str, int] = {}
    excluded_ids: dict[str, list[str]] = {}
    block: str = ""
    block_format: str = ""
    block_digest: str = ""
    as_returned: bool = False
    tokens: int = 0
    policy_version: int = 0
    query_hash: str | None = None
    usage_reported_at: datetime | None = None


class Usage(AnswerModel):
    """Counts of a usage report; ``newly_used`` is 0 when the same was reported before."""

    injected: int
    used: int
    ignored: int = 0
    harmful: int = 0
    newly_used: int = 0
