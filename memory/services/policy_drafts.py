"""Drafts of policies: begun from the policy in force, a version or a preset, saved, activated or discarded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.policy import Policy, diff_words, preset, sparse
from memory.models import PolicyDraft, PolicyVersion
from memory.selectors.policies import active_policy, policy_numbered
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.errors import Conflict, Invalid, NotFound
from memory.services.policies import PolicyMoved, policy_activate, policy_parse
from memory.store import audit, policies
from tenants.context import tenant_context
from tenants.principals import Principal

MOST_DRAFTS = 100


@denials_audited
def draft_start(
    actor: Principal, name: str, *, from_preset: str = "", from_version: int | None = None
) -> PolicyDraft:
    """Begin a draft: from a preset, from a version, or else from the policy in force.

    Raises `Invalid`, `NotFound`, and `Conflict` when there are `MOST_DRAFTS` already.
    """
    require_role(actor, ADMINS, "prepare a policy")
    name = " ".join(name.split())
    if not name or len(name) > 100 or "\x00" in name:
        raise Invalid("give the draft a name of at most 100 characters", field="name")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        active = active_policy()
        document = sparse(_origin(actor, active.policy, from_preset, from_version))
        if PolicyDraft.objects.count() >= MOST_DRAFTS:
            raise Conflict(f"there are {MOST_DRAFTS} drafts already; discard one first", code="too_many")
        draft = policies.insert_draft(name, document, active.number, actor.name, now)
        changes = diff_words(active.policy, Policy.model_validate(document))
        _audit(actor, "policy.draft_created", draft, {"name": name, "changes": changes})
    return draft


def _origin(actor: Principal, active: Policy, from_preset: str, from_version: int | None) -> Policy:
    if from_preset:
        try:
            return preset(from_preset)
        except ValueError as error:
            raise Invalid(str(error), field="preset") from None
    if from_version is None:
        return active
    if not PolicyVersion.objects.filter(number=from_version).exists():
        raise NotFound(f"there is no policy version {from_version}")
    return policy_numbered(actor.tenant_id, from_version)


@denials_audited
def draft_save(actor: Principal, draft_id: UUID, document: Mapping[str, Any], *, version: int) -> PolicyDraft:
    """Save a document as the draft's next version; one that changes nothing makes none.

    Raises `PolicyInvalid`, and `PolicyMoved` when the draft is not at `version` any more.
    """
    require_role(actor, ADMINS, "change a draft")
    policy = policy_parse(document)
    with tenant_context(actor.tenant_id):
        draft = _locked(draft_id, version)
        changes = diff_words(Policy.model_validate(draft.document), policy)
        if changes or draft.document != document:
            policies.save_draft(draft, document, actor.name, clock.now())
        if changes:
            _audit(actor, "policy.draft_saved", draft, {"version": draft.version, "changes": changes})
    return draft


@denials_audited
def draft_discard(actor: Principal, draft_id: UUID, *, version: int) -> PolicyDraft:
    """Throw a draft away.  Raises `PolicyMoved` when somebody saved it meanwhile."""
    require_role(actor, ADMINS, "discard a draft")
    with tenant_context(actor.tenant_id):
        draft = _locked(draft_id, version)
        policies.delete_draft(draft.id)
        changes = diff_words(active_policy().policy, Policy.model_validate(draft.document))
        _audit(actor, "policy.draft_discarded", draft, {"name": draft.name, "changes": changes})
    return draft


@denials_audited
def draft_activate(
    actor: Principal, draft_id: UUID, reason: str, *, version: int, expected: int
) -> PolicyVersion:
    """Put the draft in force; it is a version then, and no draft any more.

    `version` is the draft's, `expected` that of the policy that it was compared with; `PolicyMoved` names the one
    that is another by now.
    """
    require_role(actor, ADMINS, "change the policy")
    with tenant_context(actor.tenant_id):
        # The policy before the draft, as in `policy_activate`: two activations never wait for each other in a ring.
        policies.lock()
        draft = _locked(draft_id, version)
        made = policy_activate(actor, draft.document, reason, expected=expected)
        policies.delete_draft(draft.id)
    return made


def _locked(draft_id: UUID, version: int) -> PolicyDraft:
    draft = policies.lock_draft(draft_id)
    if draft is None:
        raise NotFound("there is no such draft; it may have been activated or discarded")
    if draft.version != version:
        raise _moved(draft, version)
    return draft


def _moved(draft: PolicyDraft, version: int) -> PolicyMoved:
    """What was done to the draft since that version."""
    seen = next((one["document"] for one in draft.history if one["version"] == version), None)
    changes = (
        diff_words(Policy.model_validate(seen), Policy.model_validate(draft.document))
        if seen is not None
        else []
    )
    said = f"the draft is at version {draft.version} by now, not {version}; nothing was saved"
    return PolicyMoved(said, by=draft.updated_by, changes=changes)


def _audit(actor: Principal, action: str, draft: PolicyDraft, after: Mapping[str, Any]) -> None:
    event = audit.Event(action, "policy_draft", show_id("pdr", draft.id), after=after)
    audit.append(actor, [event], clock.now())
