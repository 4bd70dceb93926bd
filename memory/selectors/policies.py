"""The policy in force."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Subquery

from memory.domain.policy import Policy
from memory.models import MountHead, PolicyVersion, VocabularyHead
from memory.selectors.vocabulary import NO_WORDS, Words, words_at
from tenants.context import current_tenant_id, tenant_context


@dataclass(frozen=True, slots=True)
class ActivePolicy:
    """The active version's number and document, and the tenant's vocabulary.

    Number 0 is the product's default, before any version.
    """

    number: int
    policy: Policy
    words: Words = NO_WORDS
    mounted: int = 0
    """Entries that mounts of the tenant declare: a reader looks for them only where there are any."""


_parsed: dict[tuple[UUID, int], Policy] = {}
_KEPT = 256


def active_policy() -> ActivePolicy:
    """The current tenant's active policy.  One query; parsed documents are kept (a version never changes)."""
    tenant = current_tenant_id()
    vocabulary = VocabularyHead.objects.values("version")[:1]
    mounts = MountHead.objects.values("entries")[:1]
    rows = PolicyVersion.objects.filter(active=True).annotate(
        words=Subquery(vocabulary), mounted=Subquery(mounts)
    )
    row = rows.values_list("number", "document", "words", "mounted").first()
    if row is None:
        return ActivePolicy(0, Policy())
    number, document, version, mounted = row
    policy = _parsed.get((tenant, number))
    if policy is None:
        policy = Policy.model_validate(document)
        if len(_parsed) >= _KEPT:
            _parsed.clear()
        _parsed[tenant, number] = policy
    return ActivePolicy(number, policy, words_at(version or 0), mounted or 0)


def policy_numbered(tenant_id: UUID, number: int) -> Policy:
    """The document of a version that is known to exist.  A query only when this process has not seen it yet."""
    policy = _parsed.get((tenant_id, number))
    if policy is not None or number == 0:
        return policy or Policy()
    with tenant_context(tenant_id):
        document = PolicyVersion.objects.filter(number=number).values_list("document", flat=True).get()
    return Policy.model_validate(document)
