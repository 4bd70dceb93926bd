"""A candidate through sanitisation: the same candidate with clean texts, and what is to happen to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from memory.domain.policy import Policy
from memory.domain.sanitisation import SanitiseRules, sanitise
from memory.domain.types import Candidate, Finding, Kind

# Every text of a candidate that is stored or shown.
_TEXT_FIELDS = ("content", "subject", "predicate", "value", "session", "task", "tool", "input_hash")


@dataclass(frozen=True, slots=True)
class Clean:
    """A candidate that may be stored as it is, if `verdict` lets it."""

    candidate: Candidate
    verdict: Literal["pass", "quarantine", "reject"]
    reason: str | None
    rule: str | None
    findings: Sequence[Finding]

    @property
    def told(self) -> Sequence[Finding]:
        """What the writer is told: the findings, and what was taken out of the texts before anything looked at them."""
        return (*self.findings, *self.candidate.removed)

    @property
    def held_secret(self) -> bool:
        """Whether a secret was found: then the text is kept out of the log of decisions."""
        return any(finding.kind == "secret" for finding in self.findings)


def purify(candidate: Candidate, policy: Policy) -> Clean:
    """Redact secrets and personal data, and hold or refuse what directs, as the policy says."""
    rules = policy.sanitisation
    given = {name: getattr(candidate, name) for name in _TEXT_FIELDS}
    given |= {f"tags[{at}]": tag for at, tag in enumerate(candidate.tags)}
    given |= {f"paths[{at}]": path for at, path in enumerate(candidate.paths)}
    result = sanitise(
        {name: text for name, text in given.items() if text},
        candidate.metadata,
        trust=candidate.trust,
        kind=candidate.kind,
        layer=candidate.layer,
        rules=SanitiseRules(
            secrets=rules.secrets,
            personal=rules.pii,
            instructions=rules.instructions,
            instruction_trust=rules.instruction_trust_floor,
            hold_procedures=Kind.PROCEDURE in rules.hold_untrusted_kinds,
            hold_kinds=frozenset(map(str, rules.hold_untrusted_kinds)) - {Kind.PROCEDURE},
        ),
    )
    if not result.findings:
        return Clean(candidate, result.verdict, result.reason, None, ())
    fields = result.fields
    texts: dict[str, Any] = {name: fields[name] for name in _TEXT_FIELDS if name in fields}
    cleaned = replace(
        candidate,
        **texts,
        tags=tuple(fields[f"tags[{at}]"] for at in range(len(candidate.tags))),
        paths=tuple(fields[f"paths[{at}]"] for at in range(len(candidate.paths))),
        metadata=result.metadata,
    )
    rule = result.findings[0].rule if result.verdict != "pass" else None
    return Clean(cleaned, result.verdict, result.reason, rule, result.findings)
