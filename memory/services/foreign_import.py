"""Bringing a foreign store in: each row offered as a candidate through the one write path, for a person to admit.

What the rows say of tenants, trust or origin counts for nothing: the tenant is the caller's, the origin is
`external`. A row that came before is not brought in again, so an import that was interrupted is simply repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from django.db.models import QuerySet

from memgov import clock
from memory.domain import zero_characters
from memory.domain.normalise import BadText, TooLong, canonical_text, normalise_metadata
from memory.domain.sanitisation import scan_secrets
from memory.domain.sanitisation.redaction import redact
from memory.domain.scopes import Scope, ScopeKind, parse_scope
from memory.domain.types import Origin, OutcomeKind, Status
from memory.importers import ForeignRecord, Note, Part, Unreadable
from memory.importers.numbers import Numbers, hashed
from memory.models import Memory
from memory.services.access import REVIEWERS, denials_audited, require_role
from memory.services.errors import Invalid
from memory.services.memory_offers import MOST_TOGETHER, Refusal, memory_offers
from memory.services.write_offer import CONFLICT_SKIPPED
from memory.services.write_types import Offer, Outcome, WriteRequest
from tenants.context import tenant_context
from tenants.principals import Principal

REASON: Final = "imported"
DEFAULT_SCOPE: Final = Scope(ScopeKind.PROJECT, "imported")
"""Where rows wait that say of nobody whom they are about."""
OnConflict = Literal["ask", "skip", "replace"]
MOST_TOLD: Final = 200
KEY: Final = "import:"
"""Begins `input_hash` of every row that was imported."""
TOOL: Final = "import"
REPLACED_BY: Final = "replaced by an import that a person vouches for"
"""Why a live value gave way."""
TAKEN_BACK: Final = "the import was taken back"
"""Why a row is deleted that may come in again."""
_HELD_AS: Final = {"imported": "held", "contains_instruction": "quarantined", "contains_pii": "quarantined"}


@dataclass(slots=True)
class Imported:
    """What became of the rows: `counts` by held, quarantined, replaced, duplicate, near_duplicate, rejected, skipped,
    known, ended, invalid, unreadable; `reasons` of the rejected; `told` names the first rows that did not come in.
    `cleared` of the rows had zero characters, which were taken out of what became of them."""

    dry_run: bool
    most_told: int = MOST_TOLD
    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    told: list[tuple[str, str, str]] = field(default_factory=list)
    cleared: int = 0

    @property
    def added(self) -> int:
        """New rows: candidates, quarantined ones, and those that took a live value's place."""
        return self.counts["held"] + self.counts["quarantined"] + self.counts["replaced"]

    def tell(self, pointer: str, what: str, why: str) -> None:
        self.counts[what] += 1
        if len(self.told) < self.most_told:
            self.told.append((pointer, what, why))


def _nothing() -> None:
    """Nobody asked to be told."""


def foreign_import(
    principal: Principal,
    parts: Iterable[Part],
    *,
    scope: str | None = None,
    dry_run: bool = False,
    on_conflict: OnConflict = "ask",
    most_told: int = MOST_TOLD,
    kept: Callable[[], None] = _nothing,
) -> Imported:
    """Offer every row of the parts. With `dry_run` everything is judged and nothing stored.

    `scope` is one scope for all rows; without it a row goes to the user or agent that it names, else to
    `project:imported`. A row that gives another value than a live memory waits beside it for a person, or with
    `on_conflict="skip"` is left out. With `"replace"` it takes that one's place at once, unless that one is pinned or
    newer by the row's own dates: the principal is a person who may settle contradictions and vouches for the file.
    `kept` is told whenever new rows were stored. Raises `Invalid` for a scope that is none, `Denied` for whom
    `"replace"` is not.
    """
    if on_conflict == "replace":
        _vouching(principal)
    run = _Run(principal, target_of(scope), Imported(dry_run, most_told), on_conflict, kept)
    try:
        for part, item in _items(parts):
            run.take(part, item)
    finally:  # also where the reading ends early: what was read before counts
        run.finish()
    return run.result


@denials_audited
def _vouching(principal: Principal) -> None:
    require_role(principal, REVIEWERS, "replace what is known")
    if principal.kind != "member":
        raise Invalid(
            "name the person who vouches for the file: nobody else replaces what is known",
            field="on_conflict",
        )


def target_of(scope: str | None) -> Scope | None:
    try:
        return parse_scope(scope) if scope else None
    except ValueError as error:
        raise Invalid(str(error), field="scope") from None


def _items(parts: Iterable[Part]) -> Iterator[tuple[Part, ForeignRecord | Unreadable]]:
    for part in parts:
        for item in part.items:
            if not isinstance(item, Note):
                yield part, item


@dataclass(frozen=True, slots=True)
class _Told:
    """A row that is only named."""

    pointer: str
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class _Asked:
    """A row that is offered; `said` is the hash of what it says."""

    pointer: str
    said: int
    request: WriteRequest
    offer: Offer


class _Run:
    """One import under way."""

    def __init__(
        self,
        principal: Principal,
        scope: Scope | None,
        result: Imported,
        on_conflict: OnConflict,
        kept: Callable[[], None],
    ) -> None:
        self.result, self._kept = result, kept
        self._skips, self._vouched = on_conflict == "skip", on_conflict == "replace"
        self._principal, self._scope = principal, scope
        self._known = known_keys(principal)
        self._seen = Numbers()
        self._waiting: list[_Told | _Asked] = []
        self._saying: set[int] = set()
        """What the waiting rows say."""

    def take(self, part: Part, item: ForeignRecord | Unreadable) -> None:
        """Look at one row. Those that are to be offered wait until there are enough to be stored together."""
        if isinstance(item, Unreadable):
            self._wait(_Told(item.pointer, "unreadable", item.problem))
            return
        why = _ended(item, clock.now())
        scope = self._scope or scope_of(item)
        key = key_of(item, scope)
        said = hashed(str(scope), canonical_text(item.text), item.predicate or "", item.value or "")
        if said in self._saying:
            self.finish()  # whether the text came in before is known then
        if why:
            self._wait(_Told(item.pointer, "ended", why))
        elif key in self._known:
            self.result.counts["known"] += 1
        elif said in self._seen:
            self.result.counts["duplicate"] += 1
        else:
            self._saying.add(said)
            request = request_of(part, item, scope, key)
            settling = REPLACED_BY if self._vouched else ""
            offer = Offer(REASON, item.last_confirmed, self._skips, settling)
            self._wait(_Asked(item.pointer, said, request, offer))

    def _wait(self, one: _Told | _Asked) -> None:
        self._waiting.append(one)
        if len(self._waiting) >= MOST_TOGETHER:
            self.finish()

    def finish(self) -> None:
        """Offer what waits, and count what became of it in the order of the file."""
        waiting, self._waiting, self._saying = self._waiting, [], set()
        if not waiting:
            return
        before = self.result.added
        offered = [(one.request, one.offer) for one in waiting if isinstance(one, _Asked)]
        outcomes = iter(memory_offers(self._principal, offered, keep=not self.result.dry_run))
        for one in waiting:
            if isinstance(one, _Told):
                self.result.tell(one.pointer, one.what, one.why)
            else:
                self._became(one, next(outcomes))
        if self.result.added > before and not self.result.dry_run:
            self._kept()

    def _became(self, one: _Asked, outcome: Outcome | Refusal) -> None:
        if not isinstance(outcome, Outcome):
            self.result.tell(one.pointer, "invalid", outcome.detail)
            return
        self._count(one.pointer, outcome)
        if any(finding.kind == zero_characters.KIND for finding in outcome.findings):
            self.result.cleared += 1
        if outcome.memory is not None:
            self._seen.setdefault(one.said, 1)

    def _count(self, pointer: str, outcome: Outcome) -> None:
        if outcome.replaced:
            self.result.counts["replaced"] += 1
        elif outcome.rule == CONFLICT_SKIPPED:
            self.result.tell(pointer, "skipped", outcome.explanation)
        elif outcome.outcome is OutcomeKind.REJECTED:
            self.result.reasons[outcome.reason or ""] += 1
            self.result.tell(pointer, "rejected", f"{outcome.reason}: {outcome.explanation}")
        elif outcome.outcome is OutcomeKind.HELD:
            what = _HELD_AS.get(outcome.reason or "", "held")
            self.result.counts[what] += 1
        else:
            self.result.counts[outcome.outcome.value] += 1


def scope_of(record: ForeignRecord) -> Scope:
    """Where a row waits when nobody says: with the user or agent that it names."""
    try:
        named = parse_scope(record.scope) if record.scope else DEFAULT_SCOPE
    except ValueError:
        return DEFAULT_SCOPE
    return named if named.kind in (ScopeKind.USER, ScopeKind.AGENT, ScopeKind.PROJECT) else DEFAULT_SCOPE


def _ended(record: ForeignRecord, now: datetime) -> str | None:
    """Why its own store holds the row to be over; nobody has to review that."""
    if record.retired:
        return record.retired
    if record.valid_to is not None and record.valid_to <= now:
        return f"no longer true since {record.valid_to:%Y-%m-%d}"
    return None


def key_of(record: ForeignRecord, scope: Scope) -> int:
    """What makes a row the same when its file is imported again: scope, owner, its id there, its text.

    Of the text without secrets, so that the key gives no way to test guesses of them.
    """
    text = redact(record.text, scan_secrets(record.text))
    return hashed(str(scope), record.owner, record.foreign_id or "", canonical_text(text))


def known_keys(principal: Principal) -> Numbers:
    """The keys of all rows that were ever imported into the tenant, whatever people decided on them since."""
    keys = Numbers()
    with tenant_context(principal.tenant_id):
        for text in imported_rows().values_list("input_hash", flat=True).iterator(chunk_size=10_000):
            keys.setdefault(key_in(text), 1)
    return keys


def imported_rows() -> QuerySet[Memory]:
    """Every row that an import brought in and that no undo took back.  Inside the tenant's context.

    `input_hash` is free text of whoever writes: only what no agent wrote, and what reads as a key, is ours.
    """
    rows = Memory.objects.filter(
        input_hash__regex=f"^{KEY}[0-9a-f]{{16}}$", agent_id=None, tool=TOOL, origin=Origin.EXTERNAL.value
    )
    return rows.exclude(status=Status.DELETED.value, status_reason=TAKEN_BACK)


def key_in(input_hash: str) -> int:
    """The key of such a row."""
    return int(input_hash.removeprefix(KEY), 16)


def request_of(part: Part, record: ForeignRecord, scope: Scope, key: int) -> WriteRequest:
    """The row as any writer would send it, with where it comes from in its metadata."""
    whole = bool(record.subject and record.predicate and record.value)
    return WriteRequest(
        content=record.text,
        subject=record.subject,
        predicate=record.predicate if whole else None,
        value=record.value if whole else None,
        scope=scope,
        origin=Origin.EXTERNAL.value,
        tool=TOOL,
        input_hash=f"{KEY}{key:016x}",
        expires_at=record.expires_at,
        valid_from=record.valid_from,
        valid_to=record.valid_to,
        metadata=provenance(part, record),
    )


def provenance(part: Part, record: ForeignRecord) -> dict[str, Any]:
    """Where the row comes from, as its store tells it; what is too large or no JSON is left out, and said so."""
    source: dict[str, Any] = {"file": part.name[:256], "format": part.format, "pointer": record.pointer[:256]}
    if record.foreign_id:
        source["id"] = record.foreign_id
    for name in ("created_at", "updated_at"):
        moment = getattr(record, name)
        if moment is not None:
            source[name] = moment.isoformat()
    for name, more in (("fields", record.provenance), ("extra", record.extra)):
        if more:
            source[name] = _fitting(more)
    return {"import": source}


def _fitting(more: Mapping[str, object]) -> object:
    try:
        return normalise_metadata({"import": {"fields": dict(more)}})["import"]["fields"]  # type: ignore[index]
    except (BadText, TooLong) as error:
        return f"left out: {error.args[0]}"
