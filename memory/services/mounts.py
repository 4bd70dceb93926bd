"""Applying a mount manifest: the whole file or nothing, once however often, with its hash and commit in the audit.

    read → hold the tenant's mounts → find or write each entry's memory → take away what it no longer says → audit

A file replaces the entries of the mount of its name and no others.  With any problem everything is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from memgov import clock
from memory.domain.mount import MountFile, Problem, parse_mount
from memory.domain.scopes import matches, parse_pattern, parse_scope
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.deadlocks import unless_deadlocked
from memory.services.errors import Invalid
from memory.services.mount_plan import Plan
from memory.services.mount_types import MountRefused, MountResult
from memory.store import audit, mounts
from tenants.context import tenant_context
from tenants.principals import Principal

_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")


@dataclass(frozen=True, slots=True)
class MountCall:
    """What is said beside the file.  `within`: patterns that the caller allows, whatever the file says."""

    commit: str = ""
    by: str = ""
    within: Sequence[str] = ()
    dry_run: bool = False


@denials_audited
def mount_apply(actor: Principal, document: bytes, call: MountCall | None = None) -> MountResult:
    """Apply the file, or with `dry_run` find out what applying it would do.

    Raises `MountRefused` with every problem of the file, and `Invalid` for a commit or pattern that is none.
    """
    require_role(actor, ADMINS, "apply a mount manifest")
    call = _checked(call or MountCall())
    file = parse_mount(document)
    result, problems = _tried(actor, file, call)
    if problems:
        if not call.dry_run:
            _refusal_recorded(actor, file, call, problems)
        raise MountRefused(problems)
    return result


def _checked(call: MountCall) -> MountCall:
    if call.commit and not _COMMIT.fullmatch(call.commit):
        raise Invalid("a commit is 7 to 64 hexadecimal digits; nothing was changed", field="commit")
    try:
        within = tuple(parse_pattern(pattern) for pattern in call.within)
    except ValueError as error:
        raise Invalid(f"{error}; nothing was changed", field="within") from None
    return MountCall(call.commit.lower(), call.by.strip()[:200], within, call.dry_run)


def _tried(actor: Principal, file: MountFile, call: MountCall) -> tuple[MountResult, list[Problem]]:
    """Entries are locked in the file's order, so that a writer with another order may have to be waited out."""
    return unless_deadlocked(lambda: _attempt(actor, file, call))


def _attempt(actor: Principal, file: MountFile, call: MountCall) -> tuple[MountResult, list[Problem]]:
    now = clock.now()

    def covers(scope: str) -> bool:
        allowed = not call.within or any(matches(pattern, parse_scope(scope)) for pattern in call.within)
        return allowed and file.covers(scope)

    with tenant_context(actor.tenant_id):
        mounts.hold()
        plan = Plan(actor, file, now, covers)
        plan.resolve()
        result = plan.conclude(commit=call.commit, by=call.by or actor.name, dry_run=call.dry_run)
        problems = sorted({*file.problems, *plan.problems})
        if problems or call.dry_run:
            transaction.set_rollback(True)
    return result, problems


def _refusal_recorded(
    actor: Principal, file: MountFile, call: MountCall, problems: Sequence[Problem]
) -> None:
    """The audit event of a file that was refused: which one and for what, without its text."""
    codes = sorted({problem.code for problem in problems})
    after = {
        "name": file.name, "sha256": file.sha256, "commit": call.commit, "by": call.by, "problems": len(problems),
        "codes": codes,
    }  # fmt: skip
    event = audit.Event(
        "mount.refused", "mount_file", file.name or file.sha256, reason=", ".join(codes), after=after
    )
    with tenant_context(actor.tenant_id):
        audit.append(actor, [event], clock.now())
