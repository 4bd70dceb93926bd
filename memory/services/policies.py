"""Policies of a tenant: checked, compared in words, activated as a new version, audited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.policy import Policy, diff_words
from memory.models import PolicyVersion
from memory.selectors.policies import active_policy
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.errors import Invalid, NotFound
from memory.store import audit, policies
from tenants.context import tenant_context
from tenants.principals import Principal


def policy_parse(document: Mapping[str, Any]) -> Policy:
    """The document as a policy; what it does not name has the product's default.  Raises `Invalid`."""
    try:
        return Policy.model_validate(dict(document))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise Invalid(f"policy {place}: {first['msg']}{more}", code="policy_invalid", field=place) from None


def policy_diff(actor: Principal, document: Policy | Mapping[str, Any]) -> list[str]:
    """What activating the document would change, one line each."""
    with tenant_context(actor.tenant_id):
        return diff_words(active_policy().policy, _parsed(document))


@denials_audited
def policy_activate(actor: Principal, document: Policy | Mapping[str, Any], reason: str) -> PolicyVersion:
    """Make the document the tenant's policy from now on, as a new version.

    A document that changes nothing makes no version: the active one is returned.
    """
    require_role(actor, ADMINS, "change the policy")
    if not reason.strip():
        said = "say why the policy changes: it stands beside every later outcome"
        raise Invalid(said, code="reason_needed", field="reason")
    policy = _parsed(document)
    now = clock.now()
    with tenant_context(actor.tenant_id):
        policies.lock()
        before = active_policy()
        changes = diff_words(before.policy, policy)
        active: PolicyVersion | None = PolicyVersion.objects.filter(active=True).first()
        if active is not None and not changes:
            return active
        version = policies.activate(policy.model_dump(mode="json"), changes, reason.strip(), actor.name, now)
        event = audit.Event(
            "policy.activated", "policy", show_id("pol", version.id), reason=reason.strip(),
            policy_version=version.number, before={"version": before.number},
            after={"version": version.number, "changes": changes},
        )  # fmt: skip
        audit.append(actor, [event], now)
    return version


def policy_roll_back(actor: Principal, number: int, reason: str) -> PolicyVersion:
    """Activate what an earlier version said, as a new version.  Raises `NotFound`."""
    with tenant_context(actor.tenant_id):
        earlier = PolicyVersion.objects.filter(number=number).first()
    if earlier is None:
        raise NotFound(f"there is no policy version {number}")
    return policy_activate(actor, earlier.document, reason)


def _parsed(document: Policy | Mapping[str, Any]) -> Policy:
    return document if isinstance(document, Policy) else policy_parse(document)
