"""The junk cases, done by every system; nothing here is timed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from bench.callers import CallerFailed, CallerProcess, Crowds
from bench.junk import CASES, RACE, RACERS, RACES, Aftermath, as_json
from bench.stage import Stage

_QUEUED = "memgov", "paraphrases"


def run(stage: Stage, crowds: Crowds, tell: Callable[[str], None]) -> dict[str, Any]:
    """By case and system, what became of it; a system that fails has `error` instead."""
    found: dict[str, Any] = {case.name: {} for case in CASES} | {"race": {}}
    for system, crowd in crowds.items():
        for number, case in enumerate(CASES):
            tell(f"junk: {case.name} {system}")
            try:
                answer = crowd[0].ask(do="junk", system=system, case=number)
            except CallerFailed as error:
                found[case.name][system] = {"holds": False, "error": str(error)}
                continue
            groups = groups_of(stage, case.user) if (system, case.name) == _QUEUED else None
            aftermath = Aftermath(answer["live"], answer["shown"], groups)
            found[case.name][system] = as_json(aftermath, case.name, answer["said"])
        tell(f"junk: race {system}")
        found["race"][system] = _race(system, crowd)
    return found


def steps(crowds: Crowds) -> int:
    """How often `tell` will be called."""
    return len(crowds) * (len(CASES) + 1)


def _race(system: str, crowd: Sequence[CallerProcess]) -> dict[str, Any]:
    """Everybody writes the same fact at once."""
    at = time.time() + 0.3
    each = RACERS * RACES // len(crowd)
    said = Counter[str]()
    try:
        for caller in crowd:
            caller.send(do="race", system=system, count=each, at=at)
        for caller in crowd:
            said.update(caller.receive()["said"])
        live = crowd[0].ask(do="live", system=system, user=RACE.user)["live"]
    except CallerFailed as error:
        return {"holds": False, "error": str(error)}
    return as_json(Aftermath(live, ()), "race", dict(said))


def groups_of(stage: Stage, user: str) -> int:
    """Connected groups of the user's live rows in memgov's merge queue, a row on its own being one."""
    from memory.models import Contradiction, Memory
    from tenants.context import tenant_context

    assert stage.principal
    scope = f"user:{user}"
    with tenant_context(stage.principal.tenant_id):
        rows = set(
            Memory.objects.filter(scope=scope, status="live", predicate="").values_list("id", flat=True)
        )
        queued = Contradiction.objects.filter(scope=scope, kind="merge", status="open")
        pairs = list(queued.values_list("memory_a", "memory_b"))
    return connected(rows, pairs)


def connected(rows: set[UUID], pairs: Sequence[tuple[UUID, UUID]]) -> int:
    """How many groups the rows fall into when each pair joins two of them."""
    group = {row: row for row in rows}

    def root(row: UUID) -> UUID:
        while group[row] != row:
            row = group[row]
        return row

    for one, other in pairs:
        if one in group and other in group:
            group[root(one)] = root(other)
    return len({root(row) for row in rows})
