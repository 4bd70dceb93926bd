"""The policy in force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from memgov.postgres.prepared import Prepared
from memory.domain.policy import Policy
from memory.models import PolicyVersion
from memory.selectors.vocabulary import NO_WORDS, Words, forget_words, words_at
from tenants.context import current_tenant_id, read_one, tenant_context
from tenants.principals import Principal


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
_lives: dict[UUID, int] = {}
_KEPT = 256
_DEFAULT = Policy()
# Numbers of the active policy, the vocabulary and the mounted entries; what they stand for is kept by this process.
# Last a number of the tenant's handle, which an import draws anew: a tenant that was purged and came back under its
# old id counts its versions on from where the file was, and means others by them.
_HEADS = """
SELECT ARRAY[p.number, coalesce((SELECT v.version FROM memory_vocabularyhead v WHERE v.tenant_id = p.tenant_id), 0),
             coalesce((SELECT m.entries FROM memory_mounthead m WHERE m.tenant_id = p.tenant_id), 0),
             (SELECT hashtext(t.handle) FROM tenants_tenant t WHERE t.id = p.tenant_id)]
  FROM memory_policyversion p WHERE p.active AND p.tenant_id = """
_PRESENT = Prepared("policy_heads", f"{_HEADS} $1")
IN_FORCE = f"coalesce(({_HEADS} k.tenant_id), ARRAY[]::int[])"
"""What `authenticate_key` takes along for `policy_for`."""


def active_policy() -> ActivePolicy:
    """The current tenant's active policy."""
    return policy_in_force(current_tenant_id())


def policy_in_force(tenant_id: UUID) -> ActivePolicy:
    """A tenant's active policy, in one round trip, also outside its context.

    Documents and words are kept by their version, which never changes.
    """
    row = read_one(tenant_id, *_PRESENT([tenant_id]))
    return _of_heads(tenant_id, row[0] if row else ())


def policy_for(principal: Principal) -> ActivePolicy:
    """The policy under which a principal's call is done: the one in force when it presented its key, which came
    along with it; else the present one, in one round trip."""
    if principal.along is None:
        return policy_in_force(principal.tenant_id)
    return _of_heads(principal.tenant_id, principal.along)


def _of_heads(tenant_id: UUID, heads: Sequence[int]) -> ActivePolicy:
    if not heads:
        return ActivePolicy(0, _DEFAULT)
    number, words, mounted, life = heads
    if _lives.get(tenant_id) != life:
        _begin_life(tenant_id, life)
    return ActivePolicy(number, policy_numbered(tenant_id, number), words_at(tenant_id, words), mounted)


def _begin_life(tenant_id: UUID, life: int) -> None:
    """Forget what this process keeps of a tenant that it meets for the first time, or that came back."""
    for key in [key for key in _parsed if key[0] == tenant_id]:
        _parsed.pop(key, None)
    forget_words(tenant_id)
    if len(_lives) >= _KEPT:
        _lives.clear()
    _lives[tenant_id] = life


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
