"""What clients send: bodies and parameters by name and type.  What they may mean is for the services."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from rest_framework import serializers

from memory.api.answers.memories import MemoryAnswer
from memory.api.strict import (
    Flag,
    Identifier,
    Instant,
    ParameterSerializer,
    ScopeText,
    Share,
    StrictSerializer,
    Text,
    TimeToLive,
    Value,
    Whole,
    several,
)
from memory.domain.injection import BLOCK_FORMATS
from memory.domain.scopes import ScopeKind, parse_scope
from memory.domain.types import Band, Kind, Layer, Origin, Status

MAX_BATCH: Final = 500
MAX_PAGE: Final = 200
MAX_QUERY: Final = 20_000
MAX_DAYS: Final = 36_500

_OPTIONAL: Final[dict[str, Any]] = {"required": False, "allow_null": True}
_WHOLE: Final[dict[str, Any]] = {**_OPTIONAL, "whole": True}


class RunKey(Text):
    """The key of a session or task; checked as a scope of that kind."""

    def __init__(self, kind: ScopeKind, **options: Any) -> None:
        super().__init__(**options)
        self.kind = kind

    def to_internal_value(self, data: Any) -> str:
        try:
            return parse_scope(f"{self.kind}:{super().to_internal_value(data)}").key
        except ValueError as error:
            raise serializers.ValidationError(str(error), "invalid_scope") from None


def _choice(words: Any, **options: Any) -> serializers.ChoiceField:
    return serializers.ChoiceField(choices=[str(word) for word in words], **options)


class AppliesTo(StrictSerializer):
    """Path globs and tags that narrow where a memory applies."""

    paths = several(Text(whole=True), required=False)
    tags = several(Text(whole=True), required=False)


class WriteBody(StrictSerializer):
    """A candidate: `content`, or `subject` with `predicate` and `value`.  Who writes comes from the key."""

    content = Text(**_WHOLE, allow_blank=True, help_text="The sentence to remember.")
    subject = Text(**_WHOLE, allow_blank=True, help_text="What it is about, as in `user:42`.")
    predicate = Text(**_WHOLE, allow_blank=True, help_text="Which property, as in `plan`.")
    value = Value(**_WHOLE, allow_blank=True)
    scope = ScopeText(
        **_WHOLE, help_text="Without it the narrowest that fits: task, session, or the agent's own."
    )
    layer = _choice(Layer, **_OPTIONAL)
    kind = _choice(Kind, **_OPTIONAL)
    origin = Text(
        **_WHOLE, max_length=100, help_text=f"One of {', '.join(Origin)}; an unknown one is not trusted."
    )
    confidence = Share(**_OPTIONAL)
    importance = Share(**_OPTIONAL)
    session = Text(**_WHOLE)
    task = Text(**_WHOLE)
    tool = Text(**_WHOLE, allow_blank=True)
    input_hash = Text(**_WHOLE, allow_blank=True)
    derived_from = several(Identifier("mem"), **_OPTIONAL)
    applies_to = AppliesTo(**_OPTIONAL)
    ttl = TimeToLive(**_OPTIONAL)
    expires_at = Instant(**_OPTIONAL)
    valid_from = Instant(**_OPTIONAL)
    valid_to = Instant(**_OPTIONAL)
    review_by = Instant(**_OPTIONAL)
    metadata = serializers.DictField(**_OPTIONAL, help_text="JSON of yours, at most 64 KiB.")


class BatchBody(serializers.Serializer[Any]):
    """A batch, for the API's description: `Batch` reads it item by item, so that one cannot harm the others."""

    items = serializers.ListField(child=WriteBody(), max_length=MAX_BATCH)


class EditBody(StrictSerializer):
    """The fields to change; what is not named stays.  `null` clears a time."""

    keeps_null = frozenset({"ttl", "expires_at", "valid_from", "valid_to", "review_by"})

    content = Text(whole=True, required=False)
    value = Value(whole=True, required=False)
    kind = _choice(Kind, required=False)
    layer = _choice(Layer, required=False)
    confidence = Share(required=False)
    importance = Share(required=False)
    applies_to = AppliesTo(required=False)
    ttl = TimeToLive(**_OPTIONAL)
    expires_at = Instant(**_OPTIONAL)
    valid_from = Instant(**_OPTIONAL)
    valid_to = Instant(**_OPTIONAL)
    review_by = Instant(**_OPTIONAL)
    metadata = serializers.DictField(required=False)


class VerifyBody(StrictSerializer):
    """Why the memory is known to be true still."""

    reason = Text(**_OPTIONAL, allow_blank=True, max_length=500)
    version = Whole(**_OPTIONAL, min_value=1, max_value=2**31 - 1)


class DeleteParameters(ParameterSerializer):
    reason = Text(max_length=500, help_text="Why it goes; it stays in the audit.")
    cascade = Flag(required=False, help_text="Also delete what was derived from it.")


class PageParameters(ParameterSerializer):
    cursor = Text(required=False, max_length=500, help_text="From `next` or `previous` of a page.")
    page_size = Whole(required=False, min_value=1, max_value=MAX_PAGE, help_text="50 when not given.")


class MemoryListParameters(PageParameters):
    scope = several(ScopeText(), required=False)
    status = several(_choice(Status), required=False, help_text="live and contested when not given.")
    kind = several(_choice(Kind), required=False)
    layer = several(_choice(Layer), required=False)
    origin = several(_choice(Origin), required=False)
    subject = Text(required=False, max_length=300)
    predicate = Text(required=False, max_length=300)
    agent = Text(required=False, max_length=200, help_text="An agent's id (`agt_…`) or name.")
    session = Text(required=False, max_length=300)
    task = Text(required=False, max_length=300)
    tool = Text(required=False, max_length=300)
    band = _choice(Band, required=False)
    pinned = Flag(required=False)
    q = Text(required=False, max_length=300, help_text="Words that stand in the content.")
    updated_after = Instant(required=False)
    recorded_after = Instant(required=False)
    recorded_before = Instant(required=False)
    fields = several(  # type: ignore[assignment]
        _choice(MemoryAnswer().fields), required=False, help_text="Only these members of each memory."
    )


class RetrieveBody(StrictSerializer):
    """A decision point: what the agent is about to do, and where."""

    query = Text(max_length=MAX_QUERY, allow_blank=True)
    session = RunKey(ScopeKind.SESSION, **_OPTIONAL)
    task = RunKey(ScopeKind.TASK, **_OPTIONAL)
    keys = several(
        Text(), **_OPTIONAL, help_text="Keys of the task's working memory; their values come first."
    )
    scopes = several(ScopeText(), **_OPTIONAL)
    layers = several(_choice(Layer), **_OPTIONAL)
    kinds = several(_choice(Kind), **_OPTIONAL)
    paths = several(Text(), **_OPTIONAL)
    tags = several(Text(), **_OPTIONAL)
    limit = Whole(**_OPTIONAL, min_value=1, max_value=1000)
    max_tokens = Whole(**_OPTIONAL, min_value=1, max_value=1_000_000)
    min_trust = Share(**_OPTIONAL)
    high_stakes = Flag(required=False)
    window_days = serializers.FloatField(**_OPTIONAL, min_value=0.001, max_value=MAX_DAYS)
    format = _choice(
        BLOCK_FORMATS,
        **_OPTIONAL,
        help_text="How `block` is written: xml (when not given), markdown or json.",
    )
    explain = Flag(
        required=False, help_text="Say for each entry why it was found and why this key may see it."
    )


class DigestParameters(ParameterSerializer):
    scope = ScopeText()
    max_tokens = Whole(required=False, min_value=1, max_value=1_000_000)
    session = RunKey(ScopeKind.SESSION, required=False)


class ManifestParameters(ParameterSerializer):
    block_format = _choice(
        BLOCK_FORMATS, required=False, help_text="How `block` is written; as it was returned when not given."
    )


class UsageBody(StrictSerializer):
    """What became of the entries of the manifest; an empty list of `used` says that none was used."""

    used = serializers.ListField(child=Identifier("mem", "wrk"), max_length=1000)
    ignored = serializers.ListField(child=Identifier("mem", "wrk"), max_length=1000, required=False)
    harmful = serializers.ListField(
        child=Identifier("mem", "wrk"),
        max_length=1000,
        required=False,
        help_text="These did harm; a person is told.",
    )


class PromotionBody(StrictSerializer):
    """A request to make a memory visible in a wider scope."""

    memory = Identifier("mem")
    version = Whole(**_OPTIONAL, min_value=1, max_value=2**31 - 1, help_text="The version you decided on.")
    to_scope = ScopeText()
    reason = Text(max_length=500, help_text="The evidence, for the person who decides.")


class AnswerBody(StrictSerializer):
    """The proposer's answer to what a reviewer asked."""

    text = Text(max_length=1000, help_text="For the people who decide.")


class PromotionListParameters(PageParameters):
    STATUSES: ClassVar = ("pending", "approved", "rejected", "quarantined", "withdrawn", "stale")

    status = several(_choice(STATUSES), required=False)
    to_scope = ScopeText(required=False)
    memory = Identifier("mem", required=False)
    mine = Flag(required=False, help_text="Only requests of this agent.")


class HealthParameters(ParameterSerializer):
    scope = ScopeText(required=False, help_text="The whole tenant when not given.")
    days = Whole(
        required=False, min_value=1, max_value=366, help_text="Length of the series; 30 when not given."
    )


class AuditParameters(PageParameters):
    action = several(Text(max_length=60), required=False)
    actor = Text(required=False, max_length=200, help_text="An actor's id or name.")
    target = Text(required=False, max_length=100, help_text="An id such as `mem_…`.")
    scope = ScopeText(required=False)
    since = Instant(required=False)
    until = Instant(required=False)


class EmptyBody(StrictSerializer):
    """Nothing."""
