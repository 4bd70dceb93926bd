"""The policy in force."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from memory.domain.policy import Policy
from memory.models import PolicyVersion
from memory.selectors.vocabulary import NO_WORDS, Words, words_at
from tenants.context import current_tenant_id, read_one, tenant_context


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
_DEFAULT = Policy()
_ACTIVE = """
SELECT p.number, (SELECT v.version FROM memory_vocabularyhead v WHERE v.tenant_id = p.tenant_id),
       (SELECT m.entries FROM memory_mounthead m WHERE m.tenant_id = p.tenant_id)
  FROM memory_policyversion p WHERE p.tenant_id = %s AND p.active
"""


def active_policy() -> ActivePolicy:
    """The current tenant's active policy."""
    return policy_in_force(current_tenant_id())


def policy_in_force(tenant_id: UUID) -> ActivePolicy:
    """A tenant's active policy, in one round trip, also outside its context.

    Documents and words are kept by their version, which never changes.
    """
    row = read_one(tenant_id, _ACTIVE, [tenant_id])
    if row is None:
        return ActivePolicy(0, _DEFAULT)
    number, words, mounted = row
    policy = policy_numbered(tenant_id, number)
    return ActivePolicy(number, policy, words_at(tenant_id, words or 0), mounted or 0)


def policy_numbered(tenant_id: UUID, number: int) -> Policy:
    """The document of a version that is known to exist.  A query only when this process has not seen it yet."""
    if number == 0:
        return _DEFAULT
    policy = _parsed.get((tenant_id, number))
    if policy is None:
        with tenant_context(tenant_id):
            document = PolicyVersion.objects.filter(number=number).values_list("document", flat=True).get()
        policy = Policy.model_validate(document)
        if len(_parsed) >= _KEPT:
            _parsed.clear()
        _parsed[tenant_id, number] = policy
    return policy
