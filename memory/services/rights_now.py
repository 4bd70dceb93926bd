"""Whoever asked for a job, with the rights of this moment: asked before each batch that is done in their name.

What they may do is what they may do now.  Who was given a lesser role, who left, or whose key was closed while the
work waited or ran has no more of it done; what was done until then stays.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from uuid import UUID

from memgov import clock
from memory.services.access import REVIEWERS
from memory.services.bulk_work import Work
from memory.services.errors import Denied
from tenants.authentication import KeyRefused, principal_of_key
from tenants.context import tenant_context
from tenants.models import Membership
from tenants.principals import Principal


def role_now(member: Principal) -> str | None:
    """The role that a member has by now; None for one who left.  Opens the tenant context."""
    with tenant_context(member.tenant_id):
        rows = Membership.objects.filter(user_id=UUID(member.id.removeprefix("usr_")))
        role: str | None = rows.values_list("role", flat=True).first()
    return role


def member_now(asked: Principal, roles: Set[str]) -> Principal | None:
    """The member with the role of this moment; None when that is none of `roles`, or when they left."""
    role = role_now(asked)
    return replace(asked, role=role) if role is not None and role in roles else None


def asker(work: Work) -> Principal:
    """Whoever asked for work of reviewers or of an agent's key.  Raises `Denied`; outside of a transaction."""
    asked = work.actor
    if work.job.key_id is not None:
        return _agent(work, asked)
    if asked.kind != "member":
        return asked
    reviewer = member_now(asked, REVIEWERS)
    if reviewer is None:
        raise lost(
            asked, f"{asked.name}, who asked for it, is no reviewer any more; what was done until then stays"
        )
    return reviewer


def _agent(work: Work, asked: Principal) -> Principal:
    assert work.job.key_id is not None
    try:
        return principal_of_key(work.tenant_id, work.job.key_id, clock.now())
    except KeyRefused as refused:
        raise lost(asked, refused.detail) from None


def lost(asked: Principal, why: str) -> Denied:
    """The denial of work that whoever asked for it may not have done any more."""
    return Denied(
        why, code="role_denied", verb="have it carried out", target=asked.id, target_kind=asked.kind
    )
