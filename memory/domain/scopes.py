"""Scopes and grants: the grammar of `project:alpha`, how wide a scope is, and what a rule allows.

Pure set logic. Who owns a session or holds a grant is looked up elsewhere and passed in.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ScopeKind(StrEnum):
    SESSION = "session"
    TASK = "task"
    AGENT = "agent"
    USER = "user"
    PROJECT = "project"
    SHARED = "shared"
    GLOBAL = "global"


class Verb(StrEnum):
    """`propose` on a scope: may ask that an entry living there be promoted to a wider one."""

    READ = "read"
    WRITE = "write"
    PROPOSE = "propose"


class ScopeTier(StrEnum):
    """Scopes of one tier share their floors: session and task; agent, user, project; shared, global."""

    NARROW = "narrow"
    MIDDLE = "middle"
    WIDE = "wide"


WIDTH: Final[dict[ScopeKind, int]] = {kind: width for width, kind in enumerate(ScopeKind)}
TIER: Final[dict[ScopeKind, ScopeTier]] = {
    ScopeKind.SESSION: ScopeTier.NARROW,
    ScopeKind.TASK: ScopeTier.NARROW,
    ScopeKind.AGENT: ScopeTier.MIDDLE,
    ScopeKind.USER: ScopeTier.MIDDLE,
    ScopeKind.PROJECT: ScopeTier.MIDDLE,
    ScopeKind.SHARED: ScopeTier.WIDE,
    ScopeKind.GLOBAL: ScopeTier.WIDE,
}
KEYLESS: Final = frozenset({ScopeKind.SHARED, ScopeKind.GLOBAL})
OWNED_KINDS: Final = frozenset({ScopeKind.SESSION, ScopeKind.TASK})
MAX_KEY_LENGTH: Final = 128
ORCHESTRATOR: Final = "orchestrator"

_KEY = re.compile(r"\w[\w.:@/+~=-]*", re.UNICODE)
_KINDS_TEXT = "session:KEY, task:KEY, agent:KEY, user:KEY, project:KEY, shared, global"


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a memory is visible. `key` is empty exactly for the kinds that have none."""

    kind: ScopeKind
    key: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.key}" if self.key else str(self.kind)

    @property
    def width(self) -> int:
        return WIDTH[self.kind]

    @property
    def tier(self) -> ScopeTier:
        return TIER[self.kind]


def parse_scope(text: str) -> Scope:
    """Read `kind:key`, `shared` or `global`; ValueError says what was expected."""
    head, colon, key = unicodedata.normalize("NFC", text).partition(":")
    try:
        kind = ScopeKind(head)
    except ValueError:
        raise ValueError(f"unknown scope {text[:80]!r}; a scope is one of {_KINDS_TEXT}") from None
    if kind in KEYLESS:
        if colon:
            raise ValueError(f"scope {kind} has no key; write just {str(kind)!r}")
        return Scope(kind)
    if not key:
        raise ValueError(f"scope {kind} needs a key, as in '{kind}:KEY'")
    if len(key) > MAX_KEY_LENGTH:
        raise ValueError(
            f"the key of a scope has at most {MAX_KEY_LENGTH} characters, this one has {len(key)}"
        )
    if not _KEY.fullmatch(key):
        raise ValueError(
            "the key of a scope starts with a letter, a digit or '_' "
            "and continues with those or any of . : @ / + ~ = -"
        )
    return Scope(kind, key)


@dataclass(frozen=True, slots=True)
class GrantRule:
    """What a holder may do on the scopes that the pattern matches."""

    pattern: str
    verbs: frozenset[Verb]


@dataclass(frozen=True, slots=True)
class ScopePatterns:
    """Patterns in the shape a query needs: exact scope texts, whole kinds, or everything."""

    exact: frozenset[str]
    kinds: frozenset[ScopeKind]
    everything: bool

    def covers(self, scope: Scope) -> bool:
        return self.everything or scope.kind in self.kinds or str(scope) in self.exact


Owned = Collection[Scope] | Callable[[Scope], bool]

_LETTERS = {"r": Verb.READ, "w": Verb.WRITE, "p": Verb.PROPOSE}


def parse_pattern(text: str) -> str:
    """Check a grant or policy pattern: `*`, `kind:*`, or a scope. Returns it in canonical form."""
    if text == "*":
        return text
    head, _, key = text.partition(":")
    if key == "*":
        try:
            kind = ScopeKind(head)
        except ValueError:
            raise ValueError(f"unknown scope kind {head[:40]!r} in pattern; known: {_KINDS_TEXT}") from None
        if kind in KEYLESS:
            raise ValueError(f"scope {kind} has no key; write just {str(kind)!r}")
        return text
    return str(parse_scope(text))


def parse_grant(text: str) -> GrantRule:
    """Read the command line's `project:alpha=rw`: letters r, w, p for read, write, propose."""
    pattern, equals, letters = text.rpartition("=")
    if not equals or not letters or not set(letters) <= _LETTERS.keys():
        raise ValueError(
            "a grant is written PATTERN=VERBS with verbs out of r, w, p, as in 'project:alpha=rw'"
        )
    return GrantRule(parse_pattern(pattern), frozenset(_LETTERS[letter] for letter in letters))


def matches(pattern: str, scope: Scope) -> bool:
    """Whether `*`, `kind:*` or an exact scope text covers the scope."""
    return (
        pattern == "*"
        or pattern == str(scope)
        or (pattern == f"{scope.kind}:*" and scope.kind not in KEYLESS)
    )


def specificity(pattern: str) -> int:
    """0 for `*`, 1 for a whole kind, 2 for one scope: the more specific pattern wins."""
    return 0 if pattern == "*" else 1 if pattern.endswith(":*") else 2


def default_grants(agent_role: str) -> tuple[GrantRule, ...]:
    """What every agent has without any grant row; only an orchestrator writes shared and global."""
    wide = {Verb.READ, Verb.WRITE, Verb.PROPOSE} if agent_role == ORCHESTRATOR else {Verb.READ}
    return (
        GrantRule(f"agent:{agent_role}", frozenset(Verb)),
        GrantRule("shared", frozenset(wide)),
        GrantRule("global", frozenset(wide)),
    )


def why(
    verb: Verb, scope: Scope, *, agent_role: str, rules: Iterable[GrantRule], owned: Owned = ()
) -> str | None:
    """The rule that allows it, in words for an explanation; None when nothing does.

    `rules` are the grants held beside the defaults; `owned` are the sessions and tasks of the agent, as a
    collection or a test.
    """
    if scope.kind in OWNED_KINDS and (owned(scope) if callable(owned) else scope in owned):
        return f"own {scope.kind}"
    for rule in default_grants(agent_role):
        if verb in rule.verbs and matches(rule.pattern, scope):
            return f"default of agent role {agent_role} on {rule.pattern}"
    for rule in rules:
        if verb in rule.verbs and matches(rule.pattern, scope):
            return f"grant on {rule.pattern}"
    return None


def may(verb: Verb, scope: Scope, *, agent_role: str, rules: Iterable[GrantRule], owned: Owned = ()) -> bool:
    """Whether an agent of this role, with these grants, may do it. Default is no."""
    return why(verb, scope, agent_role=agent_role, rules=rules, owned=owned) is not None


def readable_patterns(
    agent_role: str, rules: Iterable[GrantRule], owned: Collection[Scope] = (), *, verb: Verb = Verb.READ
) -> ScopePatterns:
    """All that `may(verb, …)` allows, as data for one SQL condition."""
    exact = {str(scope) for scope in owned if scope.kind in OWNED_KINDS}
    kinds: set[ScopeKind] = set()
    everything = False
    for rule in (*default_grants(agent_role), *rules):
        if verb not in rule.verbs:
            continue
        if rule.pattern == "*":
            everything = True
        elif rule.pattern.endswith(":*"):
            kinds.add(ScopeKind(rule.pattern[:-2]))
        else:
            exact.add(rule.pattern)
    return ScopePatterns(frozenset(exact), frozenset(kinds), everything)


def narrowest(session: str | None, task: str | None, agent_role: str) -> Scope:
    """The scope of a write that names none: its task, else its session, else the agent's own."""
    if task:
        return parse_scope(f"{ScopeKind.TASK}:{task}")
    if session:
        return parse_scope(f"{ScopeKind.SESSION}:{session}")
    return parse_scope(f"{ScopeKind.AGENT}:{agent_role}")
