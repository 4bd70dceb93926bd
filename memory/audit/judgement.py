"""One row by itself: would the gate take it, and what does it hold that should not be there?

A pure function of the row's texts, so that it can run in a process of its own. Comparing rows with each other
is done in `known`, telling their age in `ages`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from memory.audit.model import Category, Finding
from memory.audit.private_life import private_life
from memory.audit.visible import masked, visible
from memory.audit.words import WHY
from memory.domain.admission import admit
from memory.domain.normalise import BadText, TooLong, content_of, normalise_text
from memory.domain.policy import Policy
from memory.domain.policy_write_rules import Admission, ByTier
from memory.domain.registry import DEFAULT_REGISTRY
from memory.domain.sanitisation import SanitiseRules, sanitise
from memory.domain.scopes import Scope, ScopeKind
from memory.domain.types import Candidate

LOOKED_AT: Final = 65_536
"""Characters of one row that are searched for secrets, personal data and instructions."""

_NOTHING: Final = ByTier(narrow=0.0, middle=0.0, wide=0.0)
_POLICY: Final = Policy(
    admission=Admission(trust_floor=_NOTHING, confidence_floor=_NOTHING, importance_floor=0.0)
)
_RULES: Final = SanitiseRules(
    secrets="redact", personal="redact", instructions="quarantine", hold_procedures=False
)
_SCOPE: Final = Scope(ScopeKind.SESSION, "audit")
_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)  # the gate needs a time only for rows that expire
_CATEGORY: Final = {
    "own_output": Category.OWN_OUTPUT,
    "transient": Category.TRANSIENT,
    "too_vague": Category.TOO_VAGUE,
}
_KINDS: Final = {"secret": Category.SECRET, "personal": Category.PERSONAL}
_SAID: Final = {
    Category.SECRET: "holds what looks like a secret",
    Category.PERSONAL: "holds personal data",
    Category.INSTRUCTION: "directs its reader",
}


@dataclass(frozen=True, slots=True)
class Texts:
    """What of a row is judged."""

    text: str
    subject: str | None = None
    predicate: str | None = None
    value: str | None = None
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """`shown` is the text without secrets and personal data of a form, safe to show; `problem` makes the row
    one that cannot be read."""

    shown: str
    findings: tuple[Finding, ...] = ()
    problem: str | None = None


def look(texts: Texts) -> Looked:
    """Judge one row. Never raises for any text."""
    findings: list[Finding] = []
    try:
        text = normalise_text(texts.text)
    except BadText as error:
        return Looked(visible(texts.text), problem=error.problem)
    except TooLong as error:
        text = texts.text.replace("\x00", "")[:LOOKED_AT]
        findings.append(
            Finding(Category.TOO_LONG, "length.content", f"{error.actual:,} characters, {error.limit:,} fit")
        )
    else:
        findings.extend(_gate(texts, text))
    shown, held = _held(text, texts.extra or {})
    findings.extend(held)
    if not any(finding.category is Category.PERSONAL for finding in held) and (rule := private_life(text)):
        findings.append(Finding(Category.PERSONAL, rule, _private(rule)))
    return Looked(shown, tuple(findings))


def _private(rule: str) -> str:
    return f"tells of a person: {rule.partition('.')[2].replace('_', ' ')}"


def _gate(texts: Texts, text: str) -> Iterator[Finding]:
    """The first reason for which the gate would refuse the row at any trust."""
    if not text:
        yield Finding(Category.TOO_VAGUE, "vague.empty", "holds no text")
        return
    refusal = admit(_candidate(texts, text), _POLICY, now=_ANY_TIME)
    category = _CATEGORY.get(refusal.reason or "")
    if category is not None:
        rule = refusal.rule or category.value
        yield Finding(category, rule, WHY.get(rule, refusal.explanation))


def _candidate(texts: Texts, text: str) -> Candidate:
    """As the row would be written: a triple with its own sentence, or free text."""
    try:
        predicate = DEFAULT_REGISTRY.canonical(texts.predicate) if texts.predicate else None
        value = normalise_text(texts.value) if texts.value and predicate else None
    except (BadText, TooLong):
        predicate = value = None
    if not (texts.subject and predicate and value):
        return Candidate(content=text, scope=_SCOPE)
    same = text == f"{texts.subject} {(texts.predicate or '').replace('_', ' ')}: {value}"
    content = content_of(texts.subject, predicate, value) if same else text
    return Candidate(content=content, scope=_SCOPE, subject=texts.subject, predicate=predicate, value=value)


def _held(text: str, extra: Mapping[str, Any]) -> tuple[str, list[Finding]]:
    """The text as it may be shown, and a finding for every kind of thing in it that should not be there."""
    result = sanitise({"content": text}, extra, trust=0.0, kind="fact", layer="semantic", rules=_RULES)
    found: dict[tuple[Category, str], Finding] = {}
    for one in result.findings:
        category = _KINDS.get(one.kind, Category.INSTRUCTION)
        where = "" if one.field == "content" else f" in {masked(one.field, 60)}"
        why = f"{_SAID[category]}{where} ({one.rule.replace('_', ' ')})"
        found.setdefault((category, one.rule), Finding(category, f"{category.value}.{one.rule}", why))
    return visible(result.fields["content"]), list(found.values())
