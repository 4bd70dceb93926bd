"""The policy document of a tenant: every number and switch of the rules, with overrides per scope.

The document is data. Storing, versioning and activating it happens in services; what a number does is in
the module of its rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from memory.domain import policy_diff, policy_presets
from memory.domain.policy_keep_rules import (
    Decay,
    Digest,
    Freshness,
    Manifests,
    Promotion,
    Retention,
    Retrieval,
    Sweeps,
)
from memory.domain.policy_write_rules import (
    Admission,
    Defaults,
    RateLimits,
    Reconciliation,
    Sanitisation,
    Section,
    TextLimits,
    WorkingMemory,
)
from memory.domain.scopes import Scope, matches, parse_pattern, specificity

PRESETS = tuple(policy_presets.BY_NAME)

# What holds for a tenant as a whole and cannot differ from scope to scope.
TENANT_WIDE = frozenset({"scopes", "schema_version", "rate_limits", "text", "working", "manifests", "sweeps"})


class Policy(Section):
    """One version of a tenant's rules. `Policy()` is the default of the product."""

    model_config = ConfigDict(title="memgov policy")

    schema_version: Literal[1] = 1
    defaults: Defaults = Defaults()
    admission: Admission = Admission()
    sanitisation: Sanitisation = Sanitisation()
    reconciliation: Reconciliation = Reconciliation()
    decay: Decay = Decay()
    freshness: Freshness = Freshness()
    promotion: Promotion = Promotion()
    retrieval: Retrieval = Retrieval()
    digest: Digest = Digest()
    manifests: Manifests = Manifests()
    retention: Retention = Retention()
    sweeps: Sweeps = Sweeps()
    text: TextLimits = TextLimits()
    working: WorkingMemory = WorkingMemory()
    rate_limits: RateLimits = RateLimits()
    scopes: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Overrides by pattern (`*`, `project:*`, `project:alpha`): only what differs, in the same shape."""

    @model_validator(mode="after")
    def _overrides_are_valid(self) -> Self:
        for pattern, overrides in self.scopes.items():
            if parse_pattern(pattern) != pattern:
                raise ValueError(f"write the scope pattern {pattern!r} as {parse_pattern(pattern)!r}")
            fixed = sorted(TENANT_WIDE & overrides.keys())
            if fixed:
                raise ValueError(f"scope {pattern}: {', '.join(fixed)} cannot be set per scope")
            self._merged([overrides])
        return self

    def _merged(self, layers: list[dict[str, Any]]) -> Policy:
        document = self.model_dump(mode="json", exclude={"scopes"})
        for layer in layers:
            document = overlay(document, layer)
        return Policy.model_validate(document)

    def for_scope(self, scope: Scope) -> Policy:
        """The policy as it applies to one scope: overrides merged in, the most specific pattern last."""
        patterns = tuple(sorted((p for p in self.scopes if matches(p, scope)), key=specificity))
        if not patterns:
            return self
        owner, kept = self.merged_before
        if owner != id(self):
            return self._merged([self.scopes[pattern] for pattern in patterns])
        if patterns not in kept:
            kept[patterns] = self._merged([self.scopes[pattern] for pattern in patterns])
        return kept[patterns]

    @cached_property
    def merged_before(self) -> tuple[int, dict[tuple[str, ...], Policy]]:
        """What this version is where it is overridden, by the patterns that do: every write asks several times.

        With the object's own number, because a changed copy of it begins with all that it had kept.
        """
        return id(self), {}

    def for_pattern(self, pattern: str) -> Policy:
        """The policy as it applies to whatever the pattern covers: overrides of the same and of wider patterns."""
        wider = {"*", f"{pattern.partition(':')[0]}:*", pattern} if pattern != "*" else {"*"}
        patterns = sorted(wider & self.scopes.keys(), key=specificity)
        return self._merged([self.scopes[one] for one in patterns])


def overlay(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` laid on `under`: mappings are merged, everything else is replaced."""
    merged = dict(under)
    for name, value in over.items():
        below = merged.get(name)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[name] = overlay(below, value) if both else value  # type: ignore[arg-type]
    return merged


def policy_schema() -> dict[str, Any]:
    """The JSON Schema of the document, for editors and for validation outside the product."""
    return Policy.model_json_schema()


def diff_words(old: Policy, new: Policy) -> list[str]:
    """What changed between two versions, one line each: `decay floor 0.15 → 0.25`."""
    before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
    return [policy_diff.in_words(*change) for change in policy_diff.changes(before, after)]


def sparse(policy: Policy) -> dict[str, Any]:
    """The document with only what differs from the product's default: short enough to be read."""
    mine, usual = policy.model_dump(mode="json"), Policy().model_dump(mode="json")
    differing = _differing(usual, {name: value for name, value in mine.items() if name != "scopes"})
    return {**differing, "scopes": mine["scopes"]} if mine["scopes"] else differing


def _differing(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in over.items():
        below = under.get(name)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            inner = _differing(below, value)
            if inner:
                found[name] = inner
        elif value != below or name not in under:
            found[name] = value
    return found


def preset(name: str) -> Policy:
    """A policy to start from, by its name in `PRESETS`.  ValueError for another name.

    Under no preset are secrets stored.
    """
    if name not in PRESETS:
        raise ValueError(f"unknown preset {name!r}; there are {', '.join(PRESETS)}")
    return Policy.model_validate(policy_presets.BY_NAME[name].document)
