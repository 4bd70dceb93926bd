"""The stored entries under a draft: what would go, what would not have come in, and what would change its band."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from uuid import UUID

from memory.domain.decay import guarded
from memory.domain.ids import show_id
from memory.domain.policy import Policy
from memory.domain.preview import gate
from memory.domain.preview.tally import Sample, Standing, Tally
from memory.domain.sanitisation import SanitiseRules, sanitise
from memory.domain.types import Candidate, Kind
from memory.models import Memory
from memory.selectors import preview_rows as found
from memory.selectors import removal
from memory.selectors.preview_removals import Removal, removals_changed
from memory.services.embedding import vector_of
from memory.services.preview.looking import (
    Tell,
    Trial,
    kinds_found,
    looking,
    standing_of,
)
from memory.services.rows import candidate_of
from memory.services.sweeps.alike import plan
from memory.store.vectors import Vector

PARTS: Final = ("evicted", "archived", "spared", "refused", "held", "redacted", "rebanded", "merged")
MOST_SEARCHED: Final = 20_000
"""Texts of one preview that are searched for directives, which is by far the costliest of all checks."""
MOST_COMPARED: Final = 20_000
"""Entries of one preview that are compared with each other by their wording."""
MOST_OF_A_SCOPE: Final = 5_000
_MOST_SCOPES_NAMED: Final = 5


def removals(trial: Trial, tallies: Mapping[str, Tally]) -> None:
    """What decay and compaction would take or leave, set-based, and the scopes where a sweep would stop."""
    if not _removal_differs(trial.present.policy, trial.draft.policy):
        return
    stopped: dict[str, Removal] = {}
    with looking(trial.tenant_id):
        for batch in removals_changed(trial.present.policy, trial.draft.policy, trial.now):
            restored = found.restored_among([one.id for one in batch])
            for one in batch:
                _count_removal(one, one.id in restored, tallies)
                if one.scope not in stopped and guarded(one.fading, one.live, trial.at(one.scope).draft):
                    stopped[one.scope] = one
    if stopped:
        worst = sorted(stopped.values(), key=lambda one: (-one.fading / one.live, one.scope))
        named = ", ".join(f"{one.scope} ({one.fading} of {one.live})" for one in worst[:_MOST_SCOPES_NAMED])
        more = f" and {len(worst) - _MOST_SCOPES_NAMED} more" if len(worst) > _MOST_SCOPES_NAMED else ""
        trial.notes.append(f"the guard would stop decay and ask a person in {named}{more}")


def _removal_differs(present: Policy, draft: Policy) -> bool:
    def numbers(policy: Policy) -> object:
        scopes = {
            pattern: (one.get("decay"), one.get("reconciliation")) for pattern, one in policy.scopes.items()
        }
        return policy.decay, policy.reconciliation.cap, scopes

    return numbers(present) != numbers(draft)


def _count_removal(one: Removal, restored: bool, tallies: Mapping[str, Tally]) -> None:
    name = one.will if one.will != "kept" else "spared"
    standing = Standing(one.pinned, restored, one.uses, one.reproductions, round(one.strength, 6))
    why = f"would not be {one.was}" if name == "spared" else ""
    tallies[name].add(one.scope, Sample("memory", one.id, why, standing))


class Entries:
    """One pass over the readable entries, slice by slice, each in a transaction of its own."""

    def __init__(self, trial: Trial, tallies: Mapping[str, Tally]) -> None:
        self._trial, self._tallies = trial, tallies
        self._searched = self._unsearched = 0
        self._domains = self._described()

    def needed(self) -> bool:
        """Whether the draft asks anything of single entries that the policy in force does not ask."""
        return self._differ("admission", "sanitisation", "freshness")

    def _differ(self, *parts: str) -> bool:
        was, will = self._trial.present.policy, self._trial.draft.policy
        if any(getattr(was, part) != getattr(will, part) for part in parts):
            return True
        return any(_overrides(was, part) != _overrides(will, part) for part in parts)

    def look(self, tell: Tell) -> None:
        """Judge all of them."""
        after: UUID | None = None
        texts = self._differ("admission", "sanitisation")
        while True:
            with looking(self._trial.tenant_id):
                rows = found.readable_slice(after, self._trial.now, texts=texts)
                self._slice(rows)
            if not rows:
                break
            after = rows[-1].id
            tell(len(rows))
        if self._unsearched:
            self._trial.notes.append(
                f"{self._unsearched:,} entries below the raised trust floor were not searched for directives;"
                f" {self._searched:,} were"
            )

    def _slice(self, rows: Sequence[Memory]) -> None:
        near = self._nearness([row.id for row in rows])
        changed = [(row, change) for row in rows for change in self._changes(row, near)]
        restored = found.restored_among({row.id for row, _ in changed})
        for row, change in changed:
            standing = standing_of(row, self._trial.now, row.id in restored)
            self._tallies[change.name].add(change.label, Sample("memory", row.id, change.why, standing))

    def _changes(self, row: Memory, near: Mapping[str, Mapping[UUID, float]]) -> Iterator[gate.Change]:
        pair = self._trial.at(row.scope)
        if pair.alike:
            return
        rule = self._trial.rule(row.predicate)
        if pair.stricter is not None or not (pair.sanitised_alike and pair.held_alike):
            candidate = candidate_of(row)
            nearness = {text: values[row.id] for text, values in near.items() if row.id in values}
            change = gate.refused(candidate, pair, now=self._trial.now, rule=rule, nearness=nearness)
            change = change or self._resanitised(row, candidate, pair) or gate.held_back(candidate, pair)
            if change is not None:
                yield change
        bands = gate.rebanded(Kind(row.kind), rule, row.learned_at, self._trial.now, pair)
        if bands is not None:
            yield gate.Change("rebanded", f"{bands[0]} → {bands[1]}")

    def _resanitised(self, row: Memory, c: Candidate, pair: gate.Pair) -> gate.Change | None:
        if pair.sanitised_alike:
            return None
        was, will = pair.present.sanitisation, pair.draft.sanitisation
        kinds = kinds_found(row.findings)
        if gate.unseen(row.trust, was, will):
            kinds |= self._searched_for_directives(row, will.instruction_trust_floor)
        return gate.resanitised(kinds, c, was, will)

    def _searched_for_directives(self, row: Memory, floor: float) -> frozenset[str]:
        if self._searched >= MOST_SEARCHED:
            self._unsearched += 1
            return frozenset()
        self._searched += 1
        texts = {
            "content": row.content,
            "subject": row.subject,
            "predicate": row.predicate,
            "value": row.value,
        }
        rules = SanitiseRules(instruction_trust=floor)
        given = {name: text for name, text in texts.items() if text}
        result = sanitise(given, {}, trust=row.trust, kind=row.kind, layer=row.layer, rules=rules)
        return frozenset(one.kind for one in result.findings) & {"instruction", "disguise"}

    def _described(self) -> dict[str, Vector]:
        """The vectors of the domain descriptions that the draft or the policy in force judges by."""
        texts = {_description(policy) for policy in (self._trial.present.policy, self._trial.draft.policy)}
        for policy in (self._trial.present.policy, self._trial.draft.policy):
            for override in policy.scopes.values():
                texts.add(override.get("admission", {}).get("domain", {}).get("description", ""))
        vectors = {text: vector_of(text) for text in sorted(texts) if text}
        return {text: vector for text, vector in vectors.items() if vector is not None}

    def _nearness(self, ids: Sequence[UUID]) -> dict[str, dict[UUID, float]]:
        return {
            text: found.nearness(ids, vector.values, vector.model_id)
            for text, vector in self._domains.items()
        }


def _description(policy: Policy) -> str:
    return policy.admission.domain.description


def _overrides(policy: Policy, part: str) -> dict[str, object]:
    return {pattern: one[part] for pattern, one in policy.scopes.items() if part in one}


def said_alike(trial: Trial, tallies: Mapping[str, Tally]) -> None:
    """Entries that deduplication would merge under the draft and leaves apart under the policy in force, judged as
    the sweep judges them, scope by scope."""
    with looking(trial.tenant_id):
        scopes = removal.live_by_scope(1, trial.now)
    compared = skipped = 0
    for one in sorted(scopes, key=lambda one: (one.live, one.scope)):
        was, will = (
            policy.reconciliation for policy in (trial.at(one.scope).present, trial.at(one.scope).draft)
        )
        if was.near_duplicates == will.near_duplicates or will.near_duplicates != "merge":
            continue
        if one.live > MOST_OF_A_SCOPE or compared + one.live > MOST_COMPARED:
            skipped += one.live
            continue
        compared += one.live
        _merged_in(trial, one.scope, tallies["merged"])
    if skipped:
        trial.notes.append(
            f"{skipped:,} entries of large scopes were not compared by wording; {compared:,} were"
        )


def _merged_in(trial: Trial, scope: str, tally: Tally) -> None:
    pair = trial.at(scope)
    with looking(trial.tenant_id):
        before = set()
        if pair.present.reconciliation.near_duplicates != "keep":
            before = {lost.id for lost, _ in plan(scope, pair.present, trial.present, trial.now).merges}
        merges = plan(scope, pair.draft, trial.draft, trial.now).merges
        new = [(lost, kept) for lost, kept in merges if lost.id not in before]
        restored = found.restored_among({lost.id for lost, _ in new})
        for lost, kept in new:
            standing = standing_of(lost, trial.now, lost.id in restored)
            tally.add(
                "nearly the same words",
                Sample("memory", lost.id, f"into {show_id('mem', kept.id)}", standing),
            )


def same_texts(trial: Trial, tallies: Mapping[str, Tally]) -> None:
    """Entries that say exactly the same and stand beside each other because the policy in force keeps them apart."""
    was, will = trial.present.policy.reconciliation, trial.draft.policy.reconciliation
    if was.exact_duplicates == will.exact_duplicates or will.exact_duplicates != "merge":
        return
    if (
        trial.present.policy.reconciliation.near_duplicates
        != trial.draft.policy.reconciliation.near_duplicates
    ):
        return  # they are among those that are worded alike
    with looking(trial.tenant_id):
        for first, many in found.same_text_groups(trial.now):
            tallies["merged"].add("the same words", Sample("memory", first, f"{many} entries say the same"))
