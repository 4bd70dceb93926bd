"""What a candidate is beside what is already known: new, the same, an echo, a better value, a contradiction.

Pure judgement. Locks, rows and links are the work of services and store; likeness of wording is judged by the
`near` function that is passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from memory.domain.claims import rival_claims, same_claims
from memory.domain.decisions import Action, Decision
from memory.domain.lifecycle import READABLE
from memory.domain.policy import Policy
from memory.domain.registry import PredicateRule
from memory.domain.types import Candidate, Known, OutcomeKind, Status
from memory.domain.validity import begins_later, ends, holding_at, is_over

__all__ = ["EQUAL_STRENGTH", "Action", "Decision", "Likeness", "Near", "reconcile"]

Likeness = Literal["same", "review", "different"]
Near = Callable[[str, str], Likeness]

EQUAL_STRENGTH: Final = 0.02
"""Strengths this close count as equal: the numbers are estimates, not measurements."""
_ROUNDING: Final = 1e-9


def reconcile(
    c: Candidate,
    known: Sequence[Known],
    rule: PredicateRule | None,
    policy: Policy,
    *,
    value_hash: bytes,
    near: Near | None = None,
    now: datetime,
    shown_to_session: Collection[UUID] = (),
) -> Decision:
    """Decide for one candidate against the readable rows of its scope.

    `known` holds the rows of the same subject and predicate, and for free text those worth comparing; rows in
    other statuses are ignored. `value_hash` is that of `c.said` under the rule's normaliser.
    `shown_to_session` are the ids that manifests of this session contained.  What is compared is what holds when the
    candidate begins, now or later.
    """
    rules = policy.reconciliation
    everything = [row for row in known if row.status in READABLE and _comparable(c, row)]
    waits = begins_later(c.valid_from, now)
    peers, over = holding_at(everything, waits or now)
    if waits:  # it takes nobody's place yet, but of what has the same beginning and is over at once
        over = [row for row in over if row.begins_at == waits]
    if is_over(c.valid_to, now):
        return _ended(c, peers, over, rule, policy, value_hash)
    same = [row for row in peers if row.value_hash == value_hash]
    likeness = _judge(c, peers, near, exact=same) if rules.near_duplicates != "keep" else {}
    alike = [row for row in peers if likeness.get(row.id) == "same"]
    if rules.echoes == "ignore":
        echoed = tuple(row.id for row in (*same, *alike) if row.id in shown_to_session)
        if echoed:
            return Decision(OutcomeKind.ECHO, Action.NOTHING, echoed[:1], "echo", None)
    if same and rules.exact_duplicates == "merge":
        return _duplicate(c, same, waits)
    if alike and rules.near_duplicates == "merge":
        return _in_place(c, _near_duplicate(c, alike, waits), over, rule, value_hash)
    rivals = _rivals(c, peers, rule, value_hash) if rules.single_valued == "supersede" else []
    if waits and rivals and all(row.begins_at != waits for row in rivals):
        return _in_place(c, _waiting(c, rivals, policy), over, rule, value_hash)
    if rivals:
        volatile = rule is not None and rule.volatile
        found = _rival_value(c, rivals, volatile=volatile, policy=policy, now=now)
        return _in_place(c, found, over, rule, value_hash)
    linked = tuple(row.id for row in peers if likeness.get(row.id) in ("same", "review"))
    reason = "similar_to_known" if linked else "not_yet" if waits else None
    found = Decision(OutcomeKind.STORED, Action.INSERT, reason=reason, linked=linked)
    return _in_place(c, found, over, rule, value_hash)


def _ended(
    c: Candidate,
    peers: Sequence[Known],
    over: Sequence[Known],
    rule: PredicateRule | None,
    policy: Policy,
    value_hash: bytes,
) -> Decision:
    """What is no longer true confirms and replaces nothing.  But it ends the same value where that was not learned
    again since, and the candidate is not weaker by more than the margin."""
    same = [row for row in peers if row.value_hash == value_hash]
    if any(row.value_hash == value_hash for row in over):
        known = _strongest([row for row in over if row.value_hash == value_hash])
        return Decision(OutcomeKind.DUPLICATE, Action.TOUCH, (known.id,), "duplicate", None)
    if same:
        best = _strongest(same)
        margin = 0.0 if any(row.pinned for row in same) else policy.reconciliation.conflict_margin
        if c.strength - best.strength >= -margin - _ROUNDING and all(ends(c, row) for row in same):
            return Decision(OutcomeKind.SUPERSEDED, Action.SUPERSEDE, _ids(same), "ended")
    rivals = _rivals(c, [*peers, *over], rule, value_hash)
    known_better = same or (rivals if policy.reconciliation.single_valued == "supersede" else [])
    if known_better:
        best = _strongest(known_better)
        return Decision(
            OutcomeKind.STORED, Action.INSERT_HISTORY, (best.id,), "older_than_known", Status.SUPERSEDED
        )
    return Decision(OutcomeKind.STORED, Action.INSERT, reason="ended")


def _waiting(c: Candidate, rivals: Sequence[Known], policy: Policy) -> Decision:
    """Another value that begins later stands beside those of until then, unless it is too weak to replace them."""
    margin = 0.0 if any(row.pinned for row in rivals) else policy.reconciliation.conflict_margin
    if c.strength - _strongest(rivals).strength < -margin - _ROUNDING:
        return Decision(OutcomeKind.HELD, Action.HOLD, _ids(rivals), "conflict", Status.CANDIDATE)
    return Decision(OutcomeKind.STORED, Action.INSERT, reason="not_yet")


_TAKES_PLACE: Final = frozenset({Action.INSERT, Action.MERGE_INTO_NEW, Action.SUPERSEDE, Action.CONTEST})


def _in_place(
    c: Candidate,
    found: Decision,
    over: Sequence[Known],
    rule: PredicateRule | None,
    value_hash: bytes,
) -> Decision:
    """The decision with what is over and gives its place to the candidate."""
    if not over or found.action not in _TAKES_PLACE:
        return found
    rivals = {row.id for row in _rivals(c, over, rule, value_hash)}
    gone = [row for row in over if row.value_hash == value_hash or row.id in rivals]
    return replace(found, over=tuple(row.id for row in gone if row.id not in found.targets))


def _comparable(c: Candidate, row: Known) -> bool:
    """Triples are compared within their key, free text with free text: no other fact is ever retired."""
    if not c.keyed:
        return row.predicate is None
    return row.predicate == c.predicate and (row.subject is None or row.subject == c.subject)


def _rivals(
    c: Candidate, peers: Sequence[Known], rule: PredicateRule | None, value_hash: bytes
) -> list[Known]:
    """Rows that give another value where only one can be: of the same key, or of the same plain claim."""
    if c.keyed:
        single = rule is not None and rule.single_valued
        return [row for row in peers if single and row.value_hash != value_hash]
    return [row for row in peers if rival_claims(c.content, row.content) and row.subject == c.subject]


def _judge(
    c: Candidate, peers: Sequence[Known], near: Near | None, exact: Sequence[Known]
) -> dict[UUID, Likeness]:
    if near is None or exact:
        return {}
    return {row.id: "same" if _same_claim(c, row) else near(c.said, row.said) for row in peers}


def _same_claim(c: Candidate, row: Known) -> bool:
    """`Moved to Bern` and `Lives in Bern` share no word that counts, and say the same."""
    return not c.keyed and row.subject == c.subject and same_claims(c.content, row.content)


def _strongest(rows: Sequence[Known]) -> Known:
    return max(rows, key=lambda row: (row.strength, row.learned_at, row.id.int))


def _seen_again(c: Candidate, row: Known, waits: datetime | None) -> tuple[bool, bool]:
    """(refreshes, reproduces): only an equally trusted origin confirms, only another session reproduces, and what is
    said of later is no word about now."""
    if waits and row.begins_at is None:
        return False, False
    other_session = c.session is not None and row.session is not None and c.session != row.session
    return c.trust >= row.trust - _ROUNDING, other_session


def _duplicate(c: Candidate, same: Sequence[Known], waits: datetime | None) -> Decision:
    row = _strongest(same)
    refreshes, reproduces = _seen_again(c, row, waits)
    return Decision(OutcomeKind.DUPLICATE, Action.TOUCH, (row.id,), "duplicate", None, refreshes, reproduces)


def _near_duplicate(c: Candidate, alike: Sequence[Known], waits: datetime | None) -> Decision:
    """Keep the stronger wording. A pinned row stays the one that is kept, and so does one that holds before."""
    row = _strongest(alike)
    refreshes, reproduces = _seen_again(c, row, waits)
    first = waits is not None and row.begins_at != waits
    stronger = c.strength > row.strength + _ROUNDING
    if stronger and not first and not row.pinned and row.status is Status.LIVE:
        return Decision(
            OutcomeKind.NEAR_DUPLICATE,
            Action.MERGE_INTO_NEW,
            (row.id,),
            "near_duplicate",
            Status.LIVE,
            refreshes,
            reproduces,
        )
    return Decision(
        OutcomeKind.NEAR_DUPLICATE,
        Action.MERGE_INTO_KNOWN,
        (row.id,),
        "near_duplicate",
        Status.MERGED,
        refreshes,
        reproduces,
    )


def _rival_value(
    c: Candidate, rivals: Sequence[Known], *, volatile: bool, policy: Policy, now: datetime
) -> Decision:
    """Another value for a key that has one. What has ended stands against nothing, and is replaced like what is
    weaker; of the others, in this order:

    1. a value that began before the known one becomes history and replaces nothing;
    2. weaker than the known one by more than the margin, or than a pinned one by anything: conflict;
    3. values already contested: a source replaces its own, and only a clearly stronger value settles it;
    4. equally strong, from another source, with nothing that orders the two in time: contested;
    5. otherwise the newer statement supersedes. So a source that corrects itself, a value with a later
       `valid_from`, and news about a volatile fact all replace the old value.
    """
    standing = [row for row in rivals if not row.has_ended(now)]
    best = _strongest(standing or rivals)
    targets = _ids(rivals)
    if _is_history(c, standing or rivals):
        return Decision(
            OutcomeKind.STORED, Action.INSERT_HISTORY, (best.id,), "older_than_known", Status.SUPERSEDED
        )
    if not standing:
        return Decision(OutcomeKind.SUPERSEDED, Action.SUPERSEDE, targets, "newer_value")
    lead = c.strength - best.strength
    margin = 0.0 if any(row.pinned for row in standing) else policy.reconciliation.conflict_margin
    if lead < -margin - _ROUNDING:
        return Decision(OutcomeKind.HELD, Action.HOLD, _ids(standing), "conflict", Status.CANDIDATE)
    if any(row.status is Status.CONTESTED for row in standing):
        return _among_contested(c, standing, lead, margin)
    if abs(lead) <= EQUAL_STRENGTH and _other_source(c, best) and not _ordered(c, best, volatile):
        return Decision(OutcomeKind.HELD, Action.CONTEST, _ids(standing), "contested", Status.CONTESTED)
    return Decision(OutcomeKind.SUPERSEDED, Action.SUPERSEDE, targets, "newer_value")


def _ids(rows: Sequence[Known]) -> tuple[UUID, ...]:
    return tuple(row.id for row in rows)


def _is_history(c: Candidate, rivals: Sequence[Known]) -> bool:
    began = c.valid_from
    return began is not None and any(row.valid_from is not None and began < row.valid_from for row in rivals)


def _among_contested(c: Candidate, rivals: Sequence[Known], lead: float, margin: float) -> Decision:
    if lead > margin + _ROUNDING:
        targets = tuple(row.id for row in rivals)
        return Decision(OutcomeKind.SUPERSEDED, Action.SUPERSEDE, targets, "newer_value")
    own = tuple(row.id for row in rivals if not _other_source(c, row))
    if own and len(own) < len(rivals):
        return Decision(OutcomeKind.SUPERSEDED, Action.SUPERSEDE, own, "contested", Status.CONTESTED)
    targets = tuple(row.id for row in rivals)
    return Decision(OutcomeKind.HELD, Action.CONTEST, targets, "contested", Status.CONTESTED)


def _other_source(c: Candidate, row: Known) -> bool:
    """Sources differ by agent, or by tool where both name one. An unnamed source is nobody else."""
    if c.agent is not None and row.agent is not None and c.agent != row.agent:
        return True
    return c.tool is not None and row.tool is not None and c.tool != row.tool


def _ordered(c: Candidate, row: Known, volatile: bool) -> bool:
    """Whether time explains the difference: a later start of validity, or a fact that is meant to change."""
    if c.valid_from is not None and row.valid_from is not None and c.valid_from > row.valid_from:
        return True
    return volatile
