"""A policy with its overrides, as rows that SQL can join each memory to: one per scope kind, one per named scope.

Only the shape.  Which numbers a statement takes from the policy is its own business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memory.domain.policy import Policy
from memory.domain.scopes import Scope, ScopeKind, parse_scope

# The row of rules that a memory `m` falls under: its own scope's if there is one, else its kind's.
KEY_OF = "CASE WHEN m.scope = ANY(%(named)s::text[]) THEN m.scope ELSE split_part(m.scope, ':', 1) END"


def policies_by_key(policy: Policy) -> dict[str, Policy]:
    """The policy that applies per key of `KEY_OF`: the seven kinds, then every scope that is named."""
    found = {str(kind): policy.for_scope(Scope(kind, "*")) for kind in ScopeKind}
    for pattern in policy.scopes:
        if pattern != "*" and not pattern.endswith(":*"):
            found[pattern] = policy.for_scope(parse_scope(pattern))
    return found


# The database fails on a number that is too small or too large, where a product of tiny numbers is meant to be
# nothing.  Nobody can tell these bounds from what lies beyond them.
_TINY, _HUGE = 1e-6, 1e6


def columns(policy: Policy, numbers: Mapping[str, Callable[[Policy], float]]) -> dict[str, Any]:
    """Parameters for `unnest`: `keys`, `named`, and one array per number, in the order of the keys."""
    by_key = policies_by_key(policy)
    return {
        "keys": list(by_key),
        "named": [key for key in by_key if ":" in key],
        **{name: [_bounded(read(one)) for one in by_key.values()] for name, read in numbers.items()},
    }


def _bounded(number: float) -> float:
    return 0.0 if number == 0 else min(max(float(number), _TINY), _HUGE)
