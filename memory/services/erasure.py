"""Erasing all about a subject, which is a person's right: what would go, and beginning it.

Irreversible, hence a look first, the subject typed again, and a reason.  People who administer the tenant ask for it in
the browser, operators by a command.  An agent's key never does: the text that it reads may be somebody else's order.
Doing it is `memory.services.erasure_run`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.needles import Needles
from memory.domain.normalise import BadText, TooLong, normalise_subject
from memory.models import Job, Memory
from memory.selectors import erasure as found
from memory.selectors.erasure import Going
from memory.services.access import ADMINS, denials_audited, reason_fits, require_role
from memory.services.bulk_jobs import asked_for, noted
from memory.services.errors import Conflict, Denied, Invalid, VersionConflict
from memory.store import audit, jobs
from tenants.context import tenant_context
from tenants.principals import Principal

ERASE: Final = "subject.erase"
SAMPLE: Final = 50
"""Memories that a look names, of what goes and of what mentions the words."""
MOST_WORDS: Final = 10
SHORTEST_WORD: Final = 3
LONGEST_WORD: Final = 200


@dataclass(frozen=True, slots=True)
class ErasureWish:
    """Who is to be forgotten.  `words`: others' memories that hold one of them are looked for; `along`: which of these
    go as well, by id, or `all_along`.  `typed` is the subject again, `seal` of the look that it was decided on."""

    subject: str
    words: tuple[str, ...] = ()
    along: tuple[UUID, ...] = ()
    all_along: bool = False
    reason: str = ""
    typed: str = ""
    seal: str = ""


@dataclass(frozen=True, slots=True)
class ErasureLook:
    """What would go, at this moment.  `why` counts by reason, `tables` rows by table; `mentions` are others' memories
    that hold one of the words, the newest first."""

    names: Sequence[str]
    going: int
    why: Mapping[str, int]
    statuses: Mapping[str, int]
    tables: Mapping[str, int]
    sample: Sequence[Memory]
    mentions: Sequence[Memory]
    mentioned: int
    in_audit: int
    seal: str


@denials_audited
def erasure_look(principal: Principal, wish: ErasureWish) -> ErasureLook:
    """What an erasure would take; nothing is changed.  Raises `Invalid`, `Denied`."""
    _may(principal)
    words = _words(wish)
    with tenant_context(principal.tenant_id):
        names = _names(wish)
        going = _plan(names, _picked(wish, names, words))
        return _look(names, words, going)


def _look(names: Sequence[str], words: Sequence[str], going: Sequence[Going]) -> ErasureLook:
    ids = [one.id for one in going]
    mentions = (
        found.mentioning(words, [one.id for one in going if one.why != found.PICKED]) if words else None
    )
    return ErasureLook(
        names=names, going=len(going), why=found.tallied(going, "why"), statuses=found.tallied(going, "status"),
        tables=found.counted(ids, names), sample=found.sample(ids, SAMPLE),
        mentions=list(mentions[:SAMPLE]) if mentions is not None else (),
        mentioned=mentions.count() if mentions is not None else 0,
        in_audit=found.in_audit(names, Needles([*names, *words])), seal=_seal(names, going),
    )  # fmt: skip


@denials_audited
def subject_erase(principal: Principal, wish: ErasureWish, *, here: bool = False) -> Job:
    """Begin to erase all about a subject; the job exists, audited without a name, when this returns.

    `here`: the caller works on it itself (`erasure_run`) and no message goes to a worker.  Raises `Invalid` without the
    subject typed again or a reason or with one that names the subject, `VersionConflict` when something else would go
    than what the seal stands for, `Conflict` when another erasure is under way.  With no memory left under the name it
    still takes out what quotes it elsewhere.
    """
    _may(principal)
    now = clock.now()
    words = _words(wish)
    with tenant_context(principal.tenant_id):
        names = _names(wish)
        _meant(wish, names, words)
        if Job.objects.filter(kind=ERASE, status__in=(jobs.QUEUED, jobs.RUNNING)).exists():
            raise Conflict("another erasure is under way; wait until it has ended", code="under_way")
        picked = _picked(wish, names, words)
        going = _plan(names, picked)
        if wish.seal and wish.seal != _seal(names, going):
            raise VersionConflict(
                "something else would go by now than what you saw; nothing was erased, look again"
            )
        shown = {"subject_hash": subject_hash(names[0]), "reason": wish.reason.strip(), "tables": {},
                 "why": found.tallied(going, "why"), "words": len(words)}  # fmt: skip
        request = {
            "names": names,
            "words": words,
            "picked": [one.hex for one in picked],
            "reason": shown["reason"],
        }
        status = jobs.RUNNING if here else jobs.QUEUED
        job = asked_for(principal, ERASE, request, len(going), shown, now, status=status)
        noted(principal, job, "subject.erase_started", now, reason=shown["reason"],
              after={"subject_hash": shown["subject_hash"], "entries": len(going)})  # fmt: skip
    return job


def _plan(names: Sequence[str], picked: Sequence[UUID]) -> list[Going]:
    """What goes, also by way of what an erasure that was given up had emptied."""
    return found.plan(names, picked, found.begun_for(subject_hash(names[0])))


def _seal(names: Sequence[str], going: Sequence[Going]) -> str:
    """Of what goes because of the subject itself: what is picked beside is named one by one."""
    picked = any(one.why == found.PICKED for one in going)
    return found.seal_of(_plan(names, ()) if picked else going)


def subject_hash(name: str) -> str:
    """What stands for a subject from then on: a keyed digest, which only who holds the key can compare with a name."""
    return audit.text_digest_of(name)


def _may(principal: Principal) -> None:
    if principal.kind == "agent":
        raise Denied(
            "an agent's key may not erase a subject; an owner or admin does that in the browser, or an operator with"
            " `memgov erase`. Nothing was erased",
            code="people_only", verb="erase", target=principal.id, target_kind="agent",
        )  # fmt: skip
    require_role(principal, ADMINS, "erase a subject")


def _names(wish: ErasureWish) -> list[str]:
    try:
        names = found.names_of(wish.subject)
    except (BadText, TooLong) as error:
        raise Invalid(str(error), field="subject") from None
    if not names:
        raise Invalid("name the subject; nothing was erased", code="subject_needed", field="subject")
    return names


def _words(wish: ErasureWish) -> list[str]:
    words = list(dict.fromkeys(" ".join(word.replace("\x00", "").split()) for word in wish.words))
    words = [word for word in words if word]
    if len(words) > MOST_WORDS or any(not SHORTEST_WORD <= len(word) <= LONGEST_WORD for word in words):
        raise Invalid(
            f"give at most {MOST_WORDS} words or phrases, each of {SHORTEST_WORD} to {LONGEST_WORD} characters",
            field="words",
        )
    return words


def _picked(wish: ErasureWish, names: Sequence[str], words: Sequence[str]) -> list[UUID]:
    """Of others' memories that hold the words those that go along."""
    if not words or not (wish.along or wish.all_along):
        return []
    rows = found.mentioning(words, ()).exclude(subject__in=names)
    if not wish.all_along:
        rows = rows.filter(id__in=wish.along)
    return sorted(rows.order_by().values_list("id", flat=True))


def _meant(wish: ErasureWish, names: Sequence[str], words: Sequence[str]) -> None:
    reason = wish.reason.strip()
    if not reason:
        raise Invalid("say why it is erased", code="reason_needed", field="reason")
    reason_fits(wish.reason)
    if Needles([*names, *words]).found_in(reason):
        raise Invalid(
            "the reason stays for ever, so it must not name the subject or what is erased; write a number or a date",
            code="reason_names_subject", field="reason",
        )  # fmt: skip
    try:
        typed = normalise_subject(wish.typed)
    except (BadText, TooLong):
        typed = ""
    if typed != normalise_subject(wish.subject):
        raise Invalid(
            "that is not the subject; type it exactly. Nothing was erased", code="typed_wrong", field="typed"
        )


def erasures(most: int = 100) -> list[Job]:
    """Erasures that are under way or broke off, the newest first; of finished ones the audit tells."""
    rows: Any = Job.objects.filter(kind=ERASE).exclude(status=jobs.DONE)
    return list(rows.order_by("-created_at")[:most])


def shown_job(job: Job) -> str:
    """Its id for people."""
    return show_id("job", job.id)
