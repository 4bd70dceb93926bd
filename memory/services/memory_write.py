"""The one path on which anything is remembered.

    normalise → authorise → admit → sanitise → embed → reconcile → store with its audit event

Every writer calls `memory_write`: REST, batch, importers, pages, background jobs.  A refusal is an outcome, so
that its decision row and audit event are kept; only what cannot be understood or is not allowed raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import IntegrityError, transaction

from memgov import clock
from memory.domain.admission import Admission, admit, review_wanted
from memory.selectors.policies import ActivePolicy, policy_for
from memory.services.access import denials_audited
from memory.services.candidates import Prepared, authorise, prepare
from memory.services.embedding import vector_of
from memory.services.errors import Conflict
from memory.services.purify import Clean
from memory.services.second_look import cleaned
from memory.services.task_gate import task_open
from memory.services.write_draft import Draft
from memory.services.write_offer import hold_for_review, without_floors
from memory.services.write_store import conclude, hold, refuse
from memory.services.write_types import Offer, Outcome, WriteRequest
from memory.store.memories import AlreadyLive, Vector, VersionMoved, of_rival
from tenants.context import in_tenant_context, savepoint, tenant_context
from tenants.principals import Principal

# Each retry reads what the winner of the race committed, so one is nearly always enough; of 10,000 operations of
# eight threads on four keys one needed more than eight.
_TRIES = 24
_BUSY = "too many writers change this memory at once; nothing was stored, try again"


@denials_audited
def memory_write(principal: Principal, request: WriteRequest) -> Outcome:
    """Offer a candidate; what became of it, already committed.

    Raises `Invalid` or `TooLarge` for what cannot be understood, `Denied` without a write grant.
    """
    return _write(principal, request, keep=True)


@denials_audited
def memory_write_joined(principal: Principal, request: WriteRequest) -> Outcome:
    """The same inside the caller's transaction, for callers that keep several writes or none.

    Whatever it raises has taken back this one write only; the caller's transaction goes on.
    """

    def attempt() -> Outcome:
        with savepoint():
            return _attempt(principal, request, True, None)

    return _tried(attempt)


@denials_audited
def memory_check(principal: Principal, request: WriteRequest) -> Outcome:
    """What would become of the candidate, by doing it all and taking it back.  Stores nothing."""
    return _write(principal, request, keep=False)


@denials_audited
def memory_offer(principal: Principal, request: WriteRequest, offer: Offer, *, keep: bool = True) -> Outcome:
    """Offer a candidate that a person has to let in, such as a row of a foreign store.

    It passes every gate of a write except the floors of trust and confidence, which protect readers: it is
    stored as `candidate`, which no reader gets.  With `keep` false nothing is stored.
    """
    return _write(principal, request, keep=keep, offer=offer)


def _write(principal: Principal, request: WriteRequest, *, keep: bool, offer: Offer | None = None) -> Outcome:
    return _tried(lambda: _attempt(principal, request, keep, offer))


def _tried(attempt: Callable[[], Outcome]) -> Outcome:
    """What the attempt comes to, made again while another writer was faster."""
    for _ in range(_TRIES):
        try:
            return attempt()
        except (AlreadyLive, VersionMoved):
            continue
        except IntegrityError as fault:
            if not of_rival(fault):
                raise
    raise Conflict(_BUSY, code="busy")


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate as the gates found it; nothing is stored yet."""

    draft: Draft
    admission: Admission
    clean: Clean
    vector: Vector | None


def _attempt(principal: Principal, request: WriteRequest, keep: bool, offer: Offer | None) -> Outcome:
    now = clock.now()
    found = judged(principal, request, offer, policy_for(principal), now, keep=keep)
    with tenant_context(principal.tenant_id):
        task_open(principal, found.clean.candidate.task, now)
        outcome = stored(found, offer)
        if not keep:
            transaction.set_rollback(True)
    return outcome


def judged(
    principal: Principal,
    request: WriteRequest,
    offer: Offer | None,
    active: ActivePolicy,
    now: datetime,
    *,
    keep: bool,
) -> Judged:
    """Everything up to the vector: outside the transaction that stores, where that is the write's own.

    Raises `Invalid`, `TooLarge`, `Denied`.
    """
    prepared = prepare(principal, request, active, now)
    authorise(principal, prepared.candidate.scope)
    draft = Draft(principal, prepared, active, now, alone=not in_tenant_context())
    admission = admit(
        prepared.candidate,
        draft.policy if offer is None else without_floors(draft.policy),
        now=now,
        domain_similarity=_domain_similarity(prepared),
        rule=prepared.rule,
    )
    clean = cleaned(principal, admission.candidate, draft.policy, ask=admission.admitted and keep)
    if offer is None and clean.verdict == "pass" and review_wanted(clean.candidate, draft.policy):
        clean = replace(clean, verdict="quarantine", reason="low_confidence", rule="confidence.hold")
    wanted = admission.admitted and clean.verdict == "pass" and offer is None
    return Judged(draft, admission, clean, vector_of(clean.candidate.content) if wanted else None)


def stored(found: Judged, offer: Offer | None) -> Outcome:
    """The rest, inside a transaction: what the gates said is done, or the candidate is reconciled and stored."""
    draft, admission, clean = found.draft, found.admission, found.clean
    if not admission.admitted:
        return refuse(draft, clean, admission.reason, admission.rule, admission.explanation)
    if clean.verdict == "reject":
        return refuse(draft, clean, clean.reason, clean.rule)
    if clean.verdict == "quarantine":
        return hold(draft, clean)
    if offer is not None:
        return hold_for_review(draft, clean, offer)
    return conclude(draft, clean, found.vector)


def _domain_similarity(prepared: Prepared) -> float | None:
    """How near the text is to the scope's declared domain; None where no domain is described."""
    if not prepared.domain:
        return None
    one, other = vector_of(prepared.candidate.content), vector_of(prepared.domain)
    if one is None or other is None:
        return None
    return sum(a * b for a, b in zip(one.values, other.values, strict=True))
