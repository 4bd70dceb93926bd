"""Policies of a tenant: checked, compared in words, activated as a new version, rolled back, audited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.mount.yaml_lines import read_yaml
from memory.domain.policy import Policy, diff_words
from memory.domain.policy_faults import Fault, faults
from memory.models import PolicyVersion
from memory.selectors.policies import active_policy, policy_numbered
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.errors import Conflict, Invalid, NotFound
from memory.store import audit, policies
from tenants.context import tenant_context
from tenants.principals import Principal

MOST_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class Placed:
    """A fault with its line in the text; 0 where there is no text."""

    line: int
    place: str
    message: str


class PolicyInvalid(Invalid):
    """The document is no policy: `faults` says what, each at its place."""

    code = "policy_invalid"

    def __init__(self, found: Sequence[Placed]) -> None:
        first = found[0]
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        line = f"line {first.line}: " if first.line else ""
        where = f"policy {first.place}: " if first.place else "policy: "
        super().__init__(f"{where}{line}{first.message}{more}", field=first.place or "document")
        self.faults = list(found)


class PolicyMoved(Conflict):
    """Somebody was faster.  `changes` is what changed since the caller looked, `by` who did it, `reason` why."""

    code = "policy_moved"

    def __init__(self, detail: str, *, by: str, changes: Sequence[str], reason: str = "") -> None:
        super().__init__(detail)
        self.by, self.changes, self.reason = by, list(changes), reason


def policy_parse(document: Mapping[str, Any]) -> Policy:
    """The document as a policy; what it does not name has the product's default.  Raises `PolicyInvalid`."""
    found = faults(document)
    if found:
        raise PolicyInvalid([Placed(0, one.place, one.message) for one in found])
    return Policy.model_validate(dict(document))


def policy_read(text: str) -> dict[str, Any]:
    """The document that a text in YAML or JSON holds.  Raises `PolicyInvalid`, with the line of each fault."""
    if len(text) > MOST_CHARACTERS:
        said = f"the text has {len(text):,} characters, at most {MOST_CHARACTERS:,} are allowed"
        raise PolicyInvalid([Placed(1, "", said)])
    if not _says_something(text):
        return {}
    read = read_yaml(text.encode("utf-8", "surrogatepass"))
    if read.problems:
        raise PolicyInvalid([Placed(one.line, "", one.message) for one in sorted(read.problems)])
    if not isinstance(read.value, Mapping):
        raise PolicyInvalid(
            [Placed(1, "", "holds no policy: expected names with values, such as decay: {floor: 0.25}")]
        )

    def placed(fault: Fault) -> Placed:
        return Placed(read.line_of(fault.path), fault.place, fault.message)

    found = faults(read.value)
    if found:
        raise PolicyInvalid(sorted(map(placed, found), key=lambda one: one.line))
    return dict(read.value)


def _says_something(text: str) -> bool:
    """Comments alone are the product's default."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())


def policy_diff(actor: Principal, document: Policy | Mapping[str, Any]) -> list[str]:
    """What activating the document would change, one line each."""
    with tenant_context(actor.tenant_id):
        return diff_words(active_policy().policy, parsed(document))


@denials_audited
def policy_activate(
    actor: Principal, document: Policy | Mapping[str, Any], reason: str, *, expected: int | None = None
) -> PolicyVersion:
    """Make the document the tenant's policy from now on, as a new version.

    A document that changes nothing makes no version: the active one is returned.  `expected` is the number of the
    version that the caller saw in force; `PolicyMoved` when it is another one by now.
    """
    require_role(actor, ADMINS, "change the policy")
    if not reason.strip():
        said = "say why the policy changes: it stands beside every later outcome"
        raise Invalid(said, code="reason_needed", field="reason")
    policy = parsed(document)
    now = clock.now()
    with tenant_context(actor.tenant_id):
        policies.lock()
        before = active_policy()
        active: PolicyVersion | None = PolicyVersion.objects.filter(active=True).first()
        if expected is not None and expected != before.number:
            raise _moved(actor, expected, active)
        changes = diff_words(before.policy, policy)
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


def _moved(actor: Principal, expected: int, active: PolicyVersion | None) -> PolicyMoved:
    """What stands in the way of an activation that was decided beside another version."""
    number = active.number if active else 0
    known = expected == 0 or PolicyVersion.objects.filter(number=expected).exists()
    seen = policy_numbered(actor.tenant_id, expected) if known else None
    changes = diff_words(seen, policy_numbered(actor.tenant_id, number)) if seen else []
    said = f"version {number} is in force by now, not {expected}; nothing was changed"
    who, why = (active.created_by, active.reason) if active else ("", "")
    return PolicyMoved(said, by=who, changes=changes, reason=why)


def policy_roll_back(
    actor: Principal, number: int, reason: str, *, expected: int | None = None
) -> PolicyVersion:
    """Activate what an earlier version said, as a new version.  Raises `NotFound`, `PolicyMoved`."""
    with tenant_context(actor.tenant_id):
        earlier = PolicyVersion.objects.filter(number=number).first()
    if earlier is None:
        raise NotFound(f"there is no policy version {number}")
    return policy_activate(actor, earlier.document, reason, expected=expected)


def parsed(document: Policy | Mapping[str, Any]) -> Policy:
    """A policy as it is, a document parsed."""
    return document if isinstance(document, Policy) else policy_parse(document)
